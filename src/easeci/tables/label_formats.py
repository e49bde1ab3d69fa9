"""Labels and examples in the formats of labelling tools.

* ``csv``, ``jsonl`` (and Parquet): id, label, and optionally state, by, at.
* ``label-studio``: we write a JSON list of tasks, and read its JSON export with the annotations of
  all annotators. An annotation with ``was_cancelled`` is a skip. Label Studio numbers tasks itself,
  so our id is in ``data`` and in ``meta``.
* ``prodigy``: JSON lines of the ``choice`` interface with one class each. ``answer`` is accept,
  ignore or reject; the class is in ``accept``, or in ``label`` for binary tasks. A task that was
  ignored or rejected is a skip: it tells at most what the class is not.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import polars as pl

from easeci.errors import DataError, UsageError
from easeci.evidence.cells import LabelState
from easeci.tables.answers import Answers, answers_frame
from easeci.tables.column import ColumnRole, as_text, checked
from easeci.tables.source import (
    BYTE_ORDER_MARK,
    json_lines,
    load_labels_table,
    read_guarded,
    require_utf8,
    series,
)
from easeci.times import time_text

CANNOT_TELL_CHOICE = "can't tell"
"""What tools offer as a choice beside the classes."""
OUR_ID = "easeci_id"
JSON_ENDINGS = (".json", ".jsonl", ".ndjson")


class LabelFormat(StrEnum):
    """A format of files for labelling."""

    CSV = "csv"
    JSONL = "jsonl"
    LABEL_STUDIO = "label-studio"
    PRODIGY = "prodigy"


def guess_format(path: Path) -> LabelFormat:
    """The format by the file's ending, and for JSON by the beginning of its content."""
    if path.suffix.lower() not in JSON_ENDINGS:
        return LabelFormat.CSV
    content = _bytes(path)
    if content.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] == b"[":
        return LabelFormat.LABEL_STUDIO
    if path.suffix.lower() == ".json":
        return LabelFormat.LABEL_STUDIO
    first = next((line for line in content.splitlines() if line.strip()), b"")
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return LabelFormat.JSONL
    return LabelFormat.PRODIGY if isinstance(row, dict) and "answer" in row else LabelFormat.JSONL


def load_answers(
    path: Path,
    form: LabelFormat | None = None,
    *,
    by: str = "",
    at: str = "",
    references: bool = False,
) -> Answers:
    """Load the answers in a file. ``by`` and ``at`` fill in where the file does not say it.

    With ``references``, labels are texts that a scorer compares outputs with, and may be long.
    """
    form = form or guess_format(path)
    if form is LabelFormat.LABEL_STUDIO:
        return _listed(path, list(_label_studio(path, _content(path))), by, at, references)
    if form is LabelFormat.PRODIGY:
        return _listed(path, list(_prodigy(path, _content(path))), by, at, references)
    return _from_table(path, by, at, references)


def _from_table(path: Path, by: str, at: str, references: bool) -> Answers:
    table = load_labels_table(path)
    column = checked(
        str(path), ColumnRole.LABELS, table["id"], table["label"], references=references
    )
    size = len(column)

    def optional(name: str, default: str) -> pl.Series:
        if name not in table.columns:
            return pl.repeat(default, size, eager=True)
        return as_text(series(table[name], str(path))).fill_null(default)

    states = optional("state", LabelState.LABEL)
    unknown = ~states.is_in([state for state in LabelState if state is not LabelState.DISPUTED])
    if unknown.any():
        raise DataError(
            f"{path}: {int(unknown.sum()):,} rows have an unknown state",
            hint=f"It is one of: {', '.join(LabelState)}; a dispute is several rows of one id.",
        )
    frame = answers_frame(
        column.ids, as_text(column.values), states, optional("by", by), optional("at", at)
    )
    frame = frame.with_columns(
        label=pl.when(pl.col("state") == LabelState.LABEL).then(pl.col("label"))
    )
    return Answers(str(path), frame, repeats="by" in table.columns)


Row = tuple[Any, str | None, LabelState, str, str]
"""id, label, state, by, at; the last two are empty where the source does not say."""


def _listed(path: Path, rows: list[Row], by: str, at: str, references: bool) -> Answers:
    whole = all(type(row[0]) is int for row in rows)
    ids = pl.Series("id", [row[0] if whole else str(row[0]) for row in rows])
    labels = pl.Series("label", [row[1] for row in rows], dtype=pl.String)
    column = checked(str(path), ColumnRole.LABELS, ids, labels, references=references)
    states, who, when = (
        pl.Series(texts, dtype=pl.String)
        for texts in (
            [str(row[2]) for row in rows],
            [row[3] or by for row in rows],
            [row[4] or at for row in rows],
        )
    )
    frame = answers_frame(column.ids, column.values, states, who, when)
    return Answers(str(path), frame)


def _bytes(path: Path) -> bytes:
    return read_guarded(path, "labels", path.read_bytes, JSON_ENDINGS, may_be_empty=True)


def _content(path: Path) -> bytes:
    content = _bytes(path)
    content = content.removeprefix(BYTE_ORDER_MARK)
    require_utf8(str(path), content)
    return content


def _label_studio(path: Path, content: bytes) -> Iterator[Row]:
    try:
        tasks = json.loads(content)
    except (ValueError, RecursionError):
        raise DataError(f"{path} is not JSON", hint="Export from Label Studio as JSON.") from None
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise DataError(f"{path} is not a list of tasks", hint="Export as JSON, not as JSON-MIN.")
    for number, task in enumerate(tasks, start=1):
        name = _task_id(task)
        if name is None:
            raise DataError(
                f"{path}, task {number}: it does not say which example it is",
                hint=f"Tasks made by `easeci labels export` have {OUR_ID} in their data.",
            )
        annotations = task.get("annotations", task.get("completions"))
        for annotation in annotations if isinstance(annotations, list) else []:
            if isinstance(annotation, dict):
                label, state = _chosen(path, number, annotation)
                at = annotation.get("updated_at") or annotation.get("created_at")
                yield name, label, state, _who(annotation.get("completed_by")), str(at or "")


def _task_id(task: dict[str, Any]) -> Any:
    for place in ("data", "meta"):
        inside = task.get(place)
        if isinstance(inside, dict) and isinstance(inside.get(OUR_ID), str | int):
            return inside[OUR_ID]
    return None


def _chosen(path: Path, number: int, annotation: dict[str, Any]) -> tuple[str | None, LabelState]:
    if annotation.get("was_cancelled"):
        return None, LabelState.SKIPPED
    result = annotation.get("result")
    found: list[str] = []
    for region in result if isinstance(result, list) else []:
        value = region.get("value") if isinstance(region, dict) else None
        choices = value.get("choices") if isinstance(value, dict) else None
        found += [str(choice) for choice in choices] if isinstance(choices, list) else []
    if len(found) > 1:
        raise DataError(
            f"{path}, task {number}: more than one class was chosen",
            hint='An example has one label. Use <Choices choice="single"> and one such tag.',
        )
    return _named(found[0]) if found else (None, LabelState.SKIPPED)


def _named(choice: str) -> tuple[str | None, LabelState]:
    if choice == CANNOT_TELL_CHOICE:
        return None, LabelState.CANNOT_TELL
    return choice, LabelState.LABEL


def _who(completed_by: Any) -> str:
    """The labeller: the mail address if it is there, because people know it, or a number."""
    if isinstance(completed_by, dict):
        completed_by = completed_by.get("email") or completed_by.get("id")
    return "" if completed_by is None else str(completed_by)


def _prodigy(path: Path, content: bytes) -> Iterator[Row]:
    for number, task in json_lines(str(path), content):
        name = task.get(OUR_ID)
        if not isinstance(name, str | int):
            raise DataError(
                f"{path}, line {number}: it names no example",
                hint=f"Tasks made by `easeci labels export` have a key {OUR_ID}.",
            )
        who = task.get("_annotator_id") or task.get("_session_id") or ""
        stamp = task.get("_timestamp")
        at = _time(stamp) if isinstance(stamp, int | float) else ""
        if task.get("answer") != "accept":
            yield name, None, LabelState.SKIPPED, str(who), at
            continue
        chosen = task.get("accept", [task["label"]] if "label" in task else [])
        if not isinstance(chosen, list) or len(chosen) > 1:
            raise DataError(
                f"{path}, line {number}: more than one class was chosen",
                hint='An example has one label: "choice_style": "single" in the configuration.',
            )
        label, state = _named(str(chosen[0])) if chosen else (None, LabelState.SKIPPED)
        yield name, label, state, str(who), at


def _time(stamp: float) -> str:
    try:
        return time_text(datetime.fromtimestamp(stamp, UTC))
    except (ValueError, OverflowError, OSError):
        return ""


# -- examples out


def write_tasks(
    path: Path, form: LabelFormat, rows: Sequence[dict[str, Any]], classes: Sequence[str]
) -> None:
    """Write examples to be labelled; without any, a file that holds no labels."""
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            for text in _WRITERS[form](rows, classes):
                file.write(text)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None


class _Lines:
    """A file for the writer of CSV that returns each line."""

    def write(self, text: str) -> str:
        return text


def _csv(rows: Sequence[dict[str, Any]], classes: Sequence[str]) -> Iterator[str]:  # noqa: ARG001
    """A table with an empty column for labels, and nested values as JSON."""
    first = rows[0] if rows else {}
    columns = ["id", "label", *(name for name in first if name not in ("id", "label"))]
    writer = csv.writer(_Lines())
    yield writer.writerow(columns)
    for row in rows:
        yield writer.writerow(["" if name == "label" else _cell(row.get(name)) for name in columns])


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _jsonl(rows: Sequence[dict[str, Any]], classes: Sequence[str]) -> Iterator[str]:  # noqa: ARG001
    for row in rows:
        shown = {name: value for name, value in row.items() if name != "label"}
        yield _line({"id": row["id"], "label": None} | shown)


def _studio_tasks(rows: Sequence[dict[str, Any]], classes: Sequence[str]) -> Iterator[str]:  # noqa: ARG001
    tasks = [
        {"data": {**_shown(row), OUR_ID: row["id"]}, "meta": {OUR_ID: row["id"]}} for row in rows
    ]
    yield json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"


def _prodigy_tasks(rows: Sequence[dict[str, Any]], classes: Sequence[str]) -> Iterator[str]:
    options = [{"id": name, "text": name} for name in (*classes, CANNOT_TELL_CHOICE)]
    for row in rows:
        shown = _shown(row)
        text = shown.get("text")
        if not isinstance(text, str):
            text = "\n".join(f"{name}: {_cell(value)}" for name, value in shown.items())
        yield _line({"text": text, OUR_ID: row["id"], "options": options})


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("id", "label")}


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


_WRITERS: dict[LabelFormat, Callable[[Sequence[dict[str, Any]], Sequence[str]], Iterator[str]]] = {
    LabelFormat.CSV: _csv,
    LabelFormat.JSONL: _jsonl,
    LabelFormat.LABEL_STUDIO: _studio_tasks,
    LabelFormat.PRODIGY: _prodigy_tasks,
}


def studio_config(columns: Sequence[str], classes: Sequence[str]) -> str:
    """A labelling configuration for tasks with these columns."""
    lines = ["<View>"]
    for number, name in enumerate(columns):
        lines.append(f"  <Text name={quoteattr(f'c{number}')} value={quoteattr('$' + name)}/>")
    lines.append('  <Choices name="label" toName="c0" choice="single" required="true">')
    lines += [f"    <Choice value={quoteattr(c)}/>" for c in (*classes, CANNOT_TELL_CHOICE)]
    return "\n".join([*lines, "  </Choices>", "</View>"])
