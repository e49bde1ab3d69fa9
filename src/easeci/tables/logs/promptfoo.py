"""Logs of promptfoo: ``promptfoo eval --output results.json`` or ``results.jsonl``.

A file holds the results of several columns, each a provider with a prompt. One of them is the
model. A test has no id of its own (``testIdx`` changes if a test is added): its vars are its id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from easeci.errors import DataError
from easeci.tables.column import named, shortened
from easeci.tables.logs.eval_log import (
    EvalLog,
    LogChoice,
    LogFormat,
    LogRows,
    LogSource,
    checked_log,
)
from easeci.tables.logs.json_text import canonical, decode, digest, text
from easeci.tables.logs.metric_values import MetricRules

SCORE = "score"
FAILED_CALL = 2
"""``failureReason`` of a failed call or grading. 1 means that the output failed an assertion."""
_MOST_SHOWN = 12


class _Nothing(msgspec.Struct):
    """An object of which only the presence matters."""


class _Provider(msgspec.Struct):
    id: str | None = None
    label: str | None = None


class _Prompt(msgspec.Struct):
    raw: str | None = None
    label: str | None = None


class _Response(msgspec.Struct):
    output: Any = None
    error: Any = None


class _Result(msgspec.Struct, rename="camel"):
    provider: _Provider | str | None = None
    prompt: _Prompt | None = None
    prompt_idx: int | None = None
    test_idx: int | None = None
    vars: dict[str, Any] | None = None
    response: _Response | None = None
    error: Any = None
    failure_reason: int | None = None
    grading_result: _Nothing | None = None
    score: Any = None
    named_scores: dict[str, Any] | None = None


class _Summary(msgspec.Struct):
    version: int | None = None
    results: list[_Result] | None = None


class _Options(msgspec.Struct):
    repeat: int | None = None


class _Config(msgspec.Struct, rename="camel"):
    evaluate_options: _Options | None = None


class _File(msgspec.Struct, rename="camel"):
    results: _Summary
    runtime_options: _Options | None = None
    config: _Config | None = None


_FILE = msgspec.json.Decoder(_File)
_LINE = msgspec.json.Decoder(_Result)


@dataclass(frozen=True)
class _Column:
    """The results of one provider with one prompt."""

    provider: str
    label: str | None
    prompt: str
    results: list[_Result]

    @property
    def name(self) -> str:
        """What the provider is called: its label, or else its id."""
        return self.label or self.provider

    def of(self, provider: str) -> bool:
        """Whether its provider has this id or label."""
        return provider != "" and provider in (self.provider, self.label)


def load_promptfoo(path: Path, choice: LogChoice, *, scored: bool) -> EvalLog:
    """The outputs and scores of one provider and prompt."""
    results, repeats = _results(path)
    columns = _columns(results)
    column = _chosen_column(path, columns, choice.provider)
    notes = _column_notes(columns, column)
    failed = sum(_failed(result) for result in column.results)
    if failed:
        notes.append(
            f"Calls that failed: {failed:,}. That says nothing about the model, so they stay "
            "unsettled."
        )
    source = LogSource(
        LogFormat.PROMPTFOO,
        path,
        None,  # its description is free text and often differs from run to run
        column.name,
        MetricRules(),
        "Give the tests assertions.",
    )
    rows = _rows(path, column.results, choice.id_vars, repeats)
    return checked_log(source, rows, choice, notes, scored=scored)


def _results(path: Path) -> tuple[list[_Result], int]:
    """The results, and how often each test was repeated (a file of lines does not say so)."""
    content = path.read_bytes()
    if path.suffix.lower() != ".json":
        lines = enumerate(content.split(b"\n"), start=1)
        return [decode(x, _LINE, f"{path}, line {n}") for n, x in lines if x.strip()], 1
    file = decode(content, _FILE, str(path))
    if file.results.results is None:
        raise DataError(
            f"{path} has no list of results",
            hint="Write it again: promptfoo export eval EVAL_ID --output results.json",
        )
    options = file.runtime_options or (file.config and file.config.evaluate_options)
    return file.results.results, (options and options.repeat) or 1


def _columns(results: Sequence[_Result]) -> list[_Column]:
    """The results by column, in the order of promptfoo's table."""
    columns: dict[tuple[Any, ...], _Column] = {}
    for result in results:
        provider = result.provider
        if not isinstance(provider, _Provider):
            provider = _Provider(id=provider)
        prompt = result.prompt or _Prompt()
        label = prompt.label or prompt.raw or ""
        # Files without promptIdx are old; there the prompt's label tells columns apart.
        place = label if result.prompt_idx is None else result.prompt_idx
        key = (provider.id, provider.label, place)
        if key not in columns:
            columns[key] = _Column(provider.id or "", provider.label, label, [])
        columns[key].results.append(result)
    return sorted(columns.values(), key=lambda column: column.results[0].prompt_idx or 0)


def _chosen_column(path: Path, columns: Sequence[_Column], wanted: str | None) -> _Column:
    if not columns:
        raise DataError(f"{path} has no results")
    if wanted is None:
        if len(columns) == 1:
            return columns[0]
        raise DataError(
            f"{path} has the results of several providers or prompts: {_listed(columns)}",
            hint=f"Choose one, for example --provider '{_choices(columns)[0]}'.",
        )
    found = [column for column in columns if column.of(wanted)]
    if not found:
        found = _numbered(columns, wanted)
    if not found:
        raise DataError(
            f"{path} has no provider '{shortened(wanted)}'", hint=f"It has {_listed(columns)}."
        )
    if len(found) > 1:
        raise DataError(
            f"{path}: the provider '{shortened(wanted)}' has several prompts: {_listed(found)}",
            hint=f"Choose one, for example --provider '{_choices(found)[0]}'.",
        )
    return found[0]


def _numbered(columns: Sequence[_Column], wanted: str) -> list[_Column]:
    """The column that PROVIDER#PROMPT names; the prompts of a provider count from 1."""
    provider, _, number = wanted.rpartition("#")
    of_provider = [column for column in columns if column.of(provider)]
    numbers = [str(place) for place in range(1, len(of_provider) + 1)]
    return [of_provider[numbers.index(number)]] if number in numbers else []


def _choices(columns: Sequence[_Column]) -> list[str]:
    """What chooses each column: the provider, and the number of the prompt if it has several."""
    total = Counter(column.name for column in columns)
    seen: Counter[str] = Counter()
    choices = []
    for column in columns:
        seen[column.name] += 1
        number = f"#{seen[column.name]}" if total[column.name] > 1 else ""
        choices.append(column.name + number)
    return choices


def _listed(columns: Sequence[_Column]) -> str:
    shown = [
        f"{choice} ({shortened(column.prompt)})"
        for choice, column in zip(_choices(columns), columns, strict=True)
    ]
    more = len(shown) - _MOST_SHOWN
    return ", ".join(shown[:_MOST_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _column_notes(columns: Sequence[_Column], taken: _Column) -> list[str]:
    if len(columns) == 1:
        return []
    place = next(index for index, column in enumerate(columns) if column is taken)
    return [f"Only {_choices(columns)[place]} was taken, of {len(columns):,} columns."]


def _rows(path: Path, results: Sequence[_Result], id_vars: Sequence[str], repeats: int) -> LogRows:
    ordered = sorted(results, key=lambda result: result.test_idx or 0)
    ids = [_identity(path, result, id_vars) for result in ordered]
    return LogRows(
        ids,
        _trials(path, ids, id_vars, repeats),
        [_output(result) for result in ordered],
        [_input_digest(result) for result in ordered],
        [None if _failed(result) else _scores(result) for result in ordered],
    )


def _own_vars(result: _Result) -> dict[str, Any]:
    """The vars of the test, without those that promptfoo adds while it runs."""
    known = result.vars or {}
    return {k: v for k, v in known.items() if k != "_conversation" and not k.startswith("__")}


def _identity(path: Path, result: _Result, id_vars: Sequence[str]) -> str:
    """The value of the only var, or the vars and their values as JSON."""
    known = _own_vars(result)
    missing = [name for name in id_vars if name not in known]
    if missing:
        has = ", ".join(shortened(name) for name in list(known)[:_MOST_SHOWN]) or "none"
        raise DataError(
            f"{path}: a test has no var '{shortened(missing[0])}' for its id", hint=f"It has {has}."
        )
    chosen: Mapping[str, Any] = {k: known[k] for k in id_vars} if id_vars else known
    if not chosen:
        raise DataError(
            f"{path}: a test has no vars, so it has no id",
            hint="Give each test a var with its id, for example vars: {id: 17}.",
        )
    return text(next(iter(chosen.values()))) if len(chosen) == 1 else canonical(chosen)


def _trials(path: Path, ids: Sequence[str], id_vars: Sequence[str], repeats: int) -> list[int]:
    """The first result of an id is trial 1. Without repeats, an id occurs once."""
    seen: Counter[str] = Counter()
    trials = []
    for identity in ids:
        seen[identity] += 1
        trials.append(seen[identity])
    often = [identity for identity, times in seen.items() if times > repeats]
    if often:
        import polars as pl

        what = f"the vars {', '.join(id_vars)}" if id_vars else "their vars"
        raise DataError(
            f"{path}: several tests have the same values of {what}, which are the id: "
            f"{len(often):,}, such as {named(pl.Series(often))}",
            hint="Give each test a var with an id of its own, or declare other vars as the id.",
        )
    return trials


def _output(result: _Result) -> str:
    output = None if result.response is None else result.response.output
    return "" if output is None else text(output)


def _input_digest(result: _Result) -> str:
    """The vars alone: another prompt is a change of what is tested, not of its input."""
    return digest({"vars": _own_vars(result)})


def _failed(result: _Result) -> bool:
    """Whether the call failed. An assertion that failed also leaves an error, and is graded."""
    if result.failure_reason is not None:
        return result.failure_reason == FAILED_CALL
    if result.response is None or result.response.error:
        return True
    return bool(result.error) and result.grading_result is None


def _scores(result: _Result) -> dict[str, Any]:
    scores = {SCORE: result.score}
    for name, value in (result.named_scores or {}).items():
        scores[name if name != SCORE else f"namedScores.{name}"] = value
    return scores
