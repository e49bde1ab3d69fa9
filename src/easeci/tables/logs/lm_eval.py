"""Logs of lm-evaluation-harness: ``samples_TASK_DATE.jsonl``, if it is told to log samples.

Each line is one document under one filter: an answer is filtered (for example by a pattern) before
it is scored, and several filters repeat every document. The metrics are values of the document as a
whole, even if the model was asked several times, so every document has one trial.

The output is ``filtered_resps``: the text if there is one; for a choice among answers the answer
that the model finds most likely; otherwise the whole as JSON.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from easeci.errors import DataError
from easeci.tables.column import shortened
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

FIELDS = frozenset(
    {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
    | {"doc_hash", "prompt_hash", "target_hash"}
)
"""All fields of a line that are no metrics. Files older than ``metrics`` have nothing else."""
LARGEST_RESULTS = 64 << 20
_NAME = re.compile(r"\Asamples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl\Z", re.DOTALL)


class _Results(msgspec.Struct):
    """The file with the results of the same run."""

    model_name: str | None = None
    higher_is_better: dict[str, dict[str, bool | None]] = msgspec.field(default_factory=dict)
    """By task and metric."""


Line = dict[str, msgspec.Raw]
_LINE = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LINES = msgspec.json.Decoder(list[dict[str, msgspec.Raw]])
_ANY = msgspec.json.Decoder(Any)
_RESULTS = msgspec.json.Decoder(_Results)


@dataclass(frozen=True)
class _Document:
    """One line of a log."""

    where: str
    line: Line

    def value(self, field: str) -> Any:
        """The value of a field; None if it is missing."""
        raw = self.line.get(field)
        return None if raw is None else decode(bytes(raw), _ANY, self.where)

    @property
    def filter(self) -> str | None:
        """The filter that made the output; None in files that do not name it."""
        found = self.value("filter")
        return None if found is None else text(found)

    def metrics(self) -> dict[str, Any]:
        """The values of the metrics of this document."""
        listed = self.value("metrics")
        names = listed if isinstance(listed, list) else [k for k in self.line if k not in FIELDS]
        return {str(name): self.value(str(name)) for name in names if str(name) in self.line}


def load_lm_eval(path: Path, choice: LogChoice, *, scored: bool) -> EvalLog:
    """The outputs and scores of a log of samples."""
    documents = list(_documents(path))
    taken, filter_name = _filtered(path, documents, choice.filter)
    found = _NAME.match(path.name)
    task = None if found is None else found["task"]
    results = _Results() if found is None else _results(path, found["date"])
    rules = MetricRules(lower_is_better=_lower_is_better(results, task))
    source = LogSource(
        LogFormat.LM_EVAL,
        path,
        task,
        results.model_name,
        rules,
        "Run the task with a metric that is computed for each document.",
    )
    notes = [] if len(taken) == len(documents) else [_filter_note(documents, filter_name)]
    return checked_log(source, _rows(path, taken), choice, notes, scored=scored)


def _documents(path: Path) -> Iterator[_Document]:
    content = path.read_bytes()
    if content.lstrip()[:1] == b"[":  # the first versions wrote one list into a .jsonl file
        yield from (_Document(str(path), line) for line in decode(content, _LINES, str(path)))
        return
    for number, text_line in enumerate(content.split(b"\n"), start=1):
        if text_line.strip():
            where = f"{path}, line {number}"
            yield _Document(where, decode(text_line, _LINE, where))


def _filtered(
    path: Path, documents: Sequence[_Document], wanted: str | None
) -> tuple[list[_Document], str | None]:
    """The documents of one filter, and its name."""
    filters = [document.filter for document in documents]
    known = list(dict.fromkeys(name for name in filters if name is not None))
    if wanted is None and len(known) <= 1:
        return list(documents), known[0] if known else None
    shown = ", ".join(shortened(name) for name in known[:20])
    if wanted is None:
        raise DataError(
            f"{path} has several filters, which repeat each document: {shown}",
            hint=f"Choose one, for example --filter {known[0]}.",
        )
    if wanted not in known:
        hint = f"It has {shown}." if known else "The file is older than filters' names."
        raise DataError(f"{path} has no filter '{shortened(wanted)}'", hint=hint)
    taken = [d for d, name in zip(documents, filters, strict=True) if name == wanted]
    return taken, wanted


def _filter_note(documents: Sequence[_Document], taken: str | None) -> str:
    others = {document.filter for document in documents} - {taken}
    left = ", ".join(sorted(shortened(str(name)) for name in others)[:20])
    return f"Only the filter '{shortened(str(taken))}' was taken; left out: {left}."


def _results(path: Path, date: str) -> _Results:
    """What the results of the same run say; nothing if the file is not there or damaged."""
    beside = path.with_name(f"results_{date}.json")
    try:
        if not beside.is_file() or beside.stat().st_size > LARGEST_RESULTS:
            return _Results()
        return decode(beside.read_bytes(), _RESULTS, str(beside))
    except (OSError, DataError):
        return _Results()


def _lower_is_better(results: _Results, task: str | None) -> frozenset[str]:
    known = results.higher_is_better.get(task or "", {})
    return frozenset(metric for metric, higher in known.items() if higher is False)


def _rows(path: Path, documents: Sequence[_Document]) -> LogRows:
    rows = LogRows([], [], [], [], [])
    for document in documents:
        identity = document.value("doc_id")
        if identity is None:
            raise DataError(f"{document.where}: there is no doc_id")
        rows.ids.append(text(identity))
        rows.trials.append(1)
        rows.outputs.append(_output(document))
        rows.inputs.append(_input_digest(document))
        rows.scores.append(document.metrics())
    _require_one_line_each(path, rows.ids, documents)
    return rows


def _require_one_line_each(path: Path, ids: Sequence[str], documents: Sequence[_Document]) -> None:
    """Explain repeated documents in old files, which do not name the filter of a line."""
    repeated = len(ids) != len(set(ids))
    if repeated and all(document.filter is None for document in documents):
        raise DataError(
            f"{path} repeats documents and does not name their filters",
            hint="A task with several filters writes each document several times. Run it again "
            "with a version of lm-evaluation-harness from 0.4.7 on, which names the filter.",
        )


def _input_digest(document: _Document) -> str | None:
    """Of the document, not of the prompt: templates of models change the prompt.

    It is the harness's own hash; older files lack it, and then it is computed in the same way.
    """
    known = document.value("doc_hash")
    if known is None and document.line.get("doc") is not None:
        written = json.dumps(document.value("doc"), indent=2, ensure_ascii=False)
        known = hashlib.sha256(written.encode("utf-8", "replace")).hexdigest()
    return None if known is None else digest(known)


def _output(document: _Document) -> str:
    responses = document.value("filtered_resps")
    if not isinstance(responses, list):
        return "" if responses is None else text(responses)
    if len(responses) > 1 and all(_is_likelihood(response) for response in responses):
        return _likeliest(document, [float(response[0]) for response in responses])
    return text(responses[0]) if len(responses) == 1 else canonical(responses)


def _is_likelihood(response: Any) -> bool:
    """Whether it is the logarithm of a probability, and whether greedy decoding gives it."""
    if not isinstance(response, list) or len(response) != 2:
        return False
    return _is_number(response[0]) and str(response[1]) in ("True", "False")


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _likeliest(document: _Document, likelihoods: Sequence[float]) -> str:
    """The answer with the greatest likelihood; its position if the answers are not logged."""
    best = max(range(len(likelihoods)), key=likelihoods.__getitem__)
    arguments = document.value("arguments")
    if isinstance(arguments, dict):
        asked = arguments.get(f"gen_args_{best}")
        answer = asked.get("arg_1") if isinstance(asked, dict) else None
    else:
        asked = arguments[best] if isinstance(arguments, list) and best < len(arguments) else None
        answer = asked[1] if isinstance(asked, list) and len(asked) > 1 else None
    return str(best) if answer is None else text(answer).strip()
