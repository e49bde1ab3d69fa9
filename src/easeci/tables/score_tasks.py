"""Outputs that wait for a score, written to a file for a judge outside."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from easeci.errors import UsageError
from easeci.tables.score_rows import DIGEST
from easeci.tables.source import ID

OWN = (ID, DIGEST, "names", "output", "reference")
"""The columns before those of the example."""


class ScoreFormat(StrEnum):
    """A format of files with outputs to be scored."""

    CSV = "csv"
    JSONL = "jsonl"


@dataclass(frozen=True)
class ScoreTask:
    """An output to be scored: of which example, the names of the scores, and the reference."""

    id: Any
    digest: str
    names: tuple[str, ...]
    output: str
    reference: str | None
    example: dict[str, Any]


def write_score_tasks(path: Path, form: ScoreFormat, tasks: Sequence[ScoreTask]) -> None:
    """Write tasks to a file; without any, a file that asks for nothing."""
    lines = _csv(tasks) if form is ScoreFormat.CSV else _jsonl(tasks)
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(lines)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None


def _jsonl(tasks: Sequence[ScoreTask]) -> Iterator[str]:
    """Plain ASCII: an output may contain anything, also control characters of terminals."""
    for task in tasks:
        row = {ID: task.id, DIGEST: task.digest, "names": list(task.names), "output": task.output}
        if task.reference is not None:
            row["reference"] = task.reference
        yield json.dumps(row | {"example": task.example}) + "\n"


class _CsvLines:
    """A file for the writer of CSV that returns each line."""

    def write(self, text: str) -> str:
        return text


def _csv(tasks: Sequence[ScoreTask]) -> Iterator[str]:
    """A column of an example with a name of our own is called example.NAME."""
    first = tasks[0].example if tasks else {}
    columns = {name: f"example.{name}" if name in OWN else name for name in first if name != ID}
    writer = csv.writer(_CsvLines())
    yield str(writer.writerow([*OWN, *columns.values()]))
    for task in tasks:
        own = [task.id, task.digest, " ".join(task.names), task.output, task.reference or ""]
        more = [_cell(task.example.get(name)) for name in columns]
        yield str(writer.writerow([*own, *more]))


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
