"""The log of one model on one task, and the checks that every format shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import polars as pl

from easeci.errors import DataError
from easeci.script.scorer import MAIN_SCORE
from easeci.tables.column import named, shortened
from easeci.tables.logs.metric_values import MetricColumn, MetricRules, metric_columns

SCORE = "score."
"""What the name of a column of scores starts with. The metric's name follows."""


class LogFormat(StrEnum):
    """The tool that wrote a log."""

    INSPECT = "Inspect"
    LM_EVAL = "lm-evaluation-harness"
    PROMPTFOO = "promptfoo"


@dataclass(frozen=True)
class LogChoice:
    """What to take of a log that holds several; None where the log has only one."""

    metric: str | None = None
    provider: str | None = None
    """promptfoo: the id or the label of a provider; with ``#2`` its second prompt."""
    filter: str | None = None
    """lm-evaluation-harness: the filter that made the output."""
    id_vars: tuple[str, ...] = ()
    """promptfoo: the vars that make up the id; all of them if none is named."""


NO_CHOICE = LogChoice()


@dataclass(frozen=True)
class EvalLog:
    """The outputs and scores of one model on one task, as another tool logged them.

    ``rows`` has the columns ``id`` (String), ``trial`` (Int64, from 1), ``output`` (String),
    ``input`` (String: a digest, null if the log has none) and a Float64 ``score.<metric>`` for
    each of ``metrics``. A score is null where the call failed, which says nothing about the model.
    """

    format: str
    name: str
    task: str | None
    model: str | None
    metric: str | None
    """The metric that was chosen as the score."""
    metrics: tuple[str, ...]
    """All metrics that are scores from 0 to 1."""
    rows: pl.DataFrame
    notes: tuple[str, ...] = ()
    """Sentences for the user: what was left out or converted, and why."""

    @property
    def summary(self) -> str:
        """What was taken, in one line: format, task, model, metric, examples and trials."""
        named_parts = (("task", self.task), ("model", self.model), ("metric", self.metric))
        parts = [f"{what} {shortened(value)}" for what, value in named_parts if value is not None]
        examples = self.rows["id"].n_unique()
        trials = self.rows["trial"].n_unique()
        parts.append(_count(examples, "example"))
        parts.append(_count(trials, "trial"))
        return f"{self.format} log: {', '.join(parts)}"


@dataclass(frozen=True)
class LogRows:
    """The rows of a log before the checks; all lists have the same length."""

    ids: list[str]
    trials: list[int]
    outputs: list[str]
    inputs: list[str | None]
    scores: list[dict[str, Any] | None]
    """The values of the metrics as they were logged; None where the call failed."""


@dataclass(frozen=True)
class LogSource:
    """Where a log came from, and what it says about itself."""

    format: LogFormat
    path: Path
    task: str | None
    model: str | None
    rules: MetricRules
    """How the tool writes the value of a metric."""
    unscored_hint: str
    """What to do about a log without any score."""


def checked_log(
    source: LogSource, rows: LogRows, choice: LogChoice, notes: Sequence[str], *, scored: bool
) -> EvalLog:
    """The log with its rows checked and its metric chosen. DataError if something is wrong."""
    name = str(source.path)
    if not rows.ids:
        raise DataError(f"{name} has no samples", hint="Expected the samples of an evaluation.")
    frame = _frame(rows)
    _require_ids(name, frame)
    columns = metric_columns(rows.scores, source.rules)
    metric = _chosen(name, source, columns, choice.metric, scored=scored)
    usable = [column for column in columns if column.values is not None]
    frame = frame.with_columns(
        pl.Series(SCORE + column.name, column.values, pl.Float64) for column in usable
    )
    return EvalLog(
        str(source.format),
        name,
        source.task,
        source.model,
        metric,
        tuple(column.name for column in usable),
        frame,
        (*notes, *_metric_notes(columns, metric)),
    )


def _frame(rows: LogRows) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "id": pl.Series(rows.ids, dtype=pl.String),
            "trial": pl.Series(rows.trials, dtype=pl.Int64),
            "output": pl.Series(rows.outputs, dtype=pl.String),
            "input": pl.Series(rows.inputs, dtype=pl.String),
        }
    )


def _require_ids(name: str, frame: pl.DataFrame) -> None:
    """Refuse empty ids, trials below 1, and two rows of the same id and trial."""
    empty = int((frame["id"].str.len_bytes() == 0).sum())
    if empty:
        raise DataError(f"{name}: {_count(empty, 'sample')} without an id")
    low = frame.filter(pl.col("trial") < 1)["id"]
    if len(low):
        raise DataError(f"{name}: trials must count from 1, but not so at id {named(low)}")
    keys = pl.struct("id", "trial")
    if frame.select(keys.hash().n_unique()).item() == len(frame):
        return
    repeated = frame.filter(keys.is_duplicated() & keys.is_first_distinct())["id"]
    if len(repeated):
        raise DataError(
            f"{name}: ids that occur more than once in the same trial: {named(repeated)}",
            hint="Every example must occur once in each trial.",
        )


def _chosen(
    name: str,
    source: LogSource,
    columns: Sequence[MetricColumn],
    wanted: str | None,
    *,
    scored: bool,
) -> str | None:
    """The metric that is the score. None if outputs alone are wanted and no metric was named."""
    usable = [column.name for column in columns if column.values is not None]
    if wanted is not None:
        _require_usable(name, columns, usable, wanted)
        return wanted
    if not scored:
        return None
    if len(usable) == 1:
        return usable[0]
    if MAIN_SCORE in usable:  # the tool's own total stands beside parts of it
        return MAIN_SCORE
    if usable:
        raise DataError(
            f"{name} has several metrics: {_listed(usable)}",
            hint=f"Choose one, for example --metric {usable[0]}.",
        )
    if columns:
        reasons = "; ".join(f"'{shortened(c.name)}' {c.problem}" for c in columns[:8])
        raise DataError(
            f"{name} has no metric that is a score: {reasons}",
            hint="A score is a number from 0 to 1 for every sample.",
        )
    raise DataError(f"{name} has no scores", hint=source.unscored_hint)


def _require_usable(
    name: str, columns: Sequence[MetricColumn], usable: Sequence[str], wanted: str
) -> None:
    found = next((column for column in columns if column.name == wanted), None)
    if found is not None and found.values is not None:
        return
    hint = f"Its scores are {_listed(usable)}." if usable else "It has no metric that is a score."
    if found is None:
        raise DataError(f"{name} has no metric '{shortened(wanted)}'", hint=hint)
    raise DataError(
        f"{name}: the metric '{shortened(wanted)}' is not a score: it {found.problem}",
        hint=f"A score is a number from 0 to 1 for every sample. {hint}",
    )


def _metric_notes(columns: Sequence[MetricColumn], metric: str | None) -> list[str]:
    notes = []
    for column in columns:
        shown = shortened(column.name)
        if column.values is None:
            notes.append(f"The metric '{shown}' was left out: it {column.problem}.")
        elif column.unscored and metric in (None, column.name):
            notes.append(
                f"{_count(column.unscored, 'sample')} without a value of '{shown}' (NaN or "
                "missing) scored 0, because the output could not be scored."
            )
    return notes


def require_same_task(new: EvalLog, old: EvalLog) -> None:
    """Refuse two logs of different tasks.

    Different tasks share ids such as 1 to N, so the names of the tasks and the inputs of common
    ids must be the same. A task or an input that one of the logs lacks is not compared.
    """
    if new.format != old.format:
        raise DataError(
            f"{new.name} is a log of {new.format}, and {old.name} is a log of {old.format}",
            hint="Tasks of different tools cannot be compared: run both models with one tool.",
        )
    if new.task is not None and old.task is not None and new.task != old.task:
        raise DataError(
            f"the logs are of different tasks: {new.name} of '{shortened(new.task)}', "
            f"{old.name} of '{shortened(old.task)}'",
            hint="Give logs of the new and the old model on the same task.",
        )
    differing = _differing_inputs(new.rows, old.rows)
    if len(differing):
        raise DataError(
            f"{new.name} and {old.name} have different inputs for the same ids: "
            f"{len(differing):,}, at id {named(differing)}",
            hint="Equal ids of different tasks are different examples. Evaluate both models on "
            "the same task and version of the data.",
        )


def _differing_inputs(new: pl.DataFrame, old: pl.DataFrame) -> pl.Series:
    """The ids whose inputs differ. Where one is null, they do not."""

    def inputs(rows: pl.DataFrame) -> pl.DataFrame:
        return rows.select("id", "input").unique(maintain_order=True)

    joined = inputs(new).join(inputs(old), on="id", suffix="_old", maintain_order="left")
    return joined.filter(pl.col("input") != pl.col("input_old"))["id"].unique(maintain_order=True)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(shortened(name) for name in names[:20])
    return shown if len(names) <= 20 else f"{shown} and {len(names) - 20:,} more"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
