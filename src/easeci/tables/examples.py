"""A file of examples: ids, any other columns, and the label column apart.

The files for programs are made here: the file as given, or rewritten in its own format without its
label column; and the same rows as JSONL, so that a program need not read other formats.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from easeci.errors import DataError
from easeci.tables.column import Column, ColumnRole, by_number, checked, checked_ids, repeated_ids
from easeci.tables.source import (
    BYTE_ORDER_MARK,
    ID,
    UNREADABLE,
    csv_problem,
    json_ids,
    json_lines,
    read_guarded,
    require_utf8,
    series,
)

MOST_COLUMNS = 10_000
# Made once: making an encoder takes longer than writing a row.
_WRITER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_SPELLER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True)
class Examples:
    """Examples in the order of their file, without labels."""

    name: str
    suffix: str
    """The file's ending as given, such as ``.csv``."""
    ids: pl.Series
    columns: pl.DataFrame
    """Every column but the id, as text: nested values as JSON, bytes as base64."""
    content: bytes
    """The file for programs: byte for byte as given, unless a label column was removed."""
    jsonl: bytes
    """The same rows as JSON lines; bytes as base64, dates and times as text, NaN as null."""

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class _Table:
    """What a reader makes of a file, with the label column apart."""

    ids: pl.Series
    labels: pl.Series | None
    columns: pl.DataFrame
    content: bytes
    jsonl: bytes


def load_examples(
    path: Path, label_column: str | None = None, *, references: bool = False
) -> tuple[Examples, Column | None]:
    """Load the examples of a CSV, JSONL or Parquet file, and the labels of its label column.

    With ``references``, the labels are texts that a scorer compares outputs with.
    """
    name = str(path)
    content = read_guarded(path, "examples", path.read_bytes)
    table = _READERS[path.suffix.lower()](name, content, label_column)
    if len(table.ids) == 0:
        raise DataError(f"{name} has no rows", hint="Expected one row for each example.")
    ids = checked_ids(name, table.ids)
    repeated = repeated_ids(ids)
    if repeated is not None:
        raise DataError(
            # By number: a column of repeated ids may contain the labels.
            f"{name}: ids that occur more than once: {by_number(repeated)}",
            hint="Every id must have exactly one row.",
        )
    labels = None
    if table.labels is not None:
        labels = checked(name, ColumnRole.LABELS, ids, table.labels, references=references)
    examples = Examples(name, path.suffix.lower(), ids, table.columns, table.content, table.jsonl)
    return examples, labels


def _require_columns(name: str, found: Sequence[str], label_column: str | None) -> None:
    if ID not in found:
        # Columns are not quoted: in a file without a header, they are data.
        hint = f"It has {len(found)} columns. Does its first row name them, one of them id?"
        raise DataError(f"{name} has no column '{ID}'", hint=hint)
    twice = [column for column in found if f"{column}_duplicated_0" in found]
    if twice:
        raise DataError(f"{name} has two columns '{twice[0][:40]}'")
    if label_column == ID:
        raise DataError("the column of ids cannot be the label column")
    if label_column is not None and label_column not in found:
        shown = ", ".join(column[:40] for column in list(found)[:8])
        raise DataError(f"{name} has no column '{label_column}'", hint=f"Columns found: {shown}.")


def _read_csv(name: str, content: bytes, label_column: str | None) -> _Table:
    require_utf8(name, content)
    try:
        frame = pl.read_csv(io.BytesIO(content), infer_schema=False)
    except UNREADABLE as error:
        raise csv_problem(name, error) from None
    _require_columns(name, frame.columns, label_column)
    labels = None
    if label_column is not None:
        labels = frame[label_column]
        frame = frame.drop(label_column)
        content = frame.write_csv().encode()
    return _Table(frame[ID], labels, frame.drop(ID), content, frame.write_ndjson().encode())


def _read_parquet(name: str, content: bytes, label_column: str | None) -> _Table:
    try:
        frame = pl.read_parquet(io.BytesIO(content))
    except UNREADABLE:
        raise DataError(f"{name} cannot be read as Parquet") from None
    _require_columns(name, frame.columns, label_column)
    labels = None
    try:
        if label_column is not None:
            labels = frame[label_column]
            frame = frame.drop(label_column)
            buffer = io.BytesIO()
            frame.write_parquet(buffer)
            content = buffer.getvalue()
        plain = frame.select(
            _writable(pl.col(c), kind).alias(c) for c, kind in frame.schema.items()
        )
        jsonl = plain.write_ndjson().encode()
        columns = plain.select(_text(c, kind) for c, kind in plain.schema.items() if c != ID)
    except UNREADABLE:
        raise DataError(
            f"{name} has columns that cannot be written as JSON",
            hint="Use numbers, text, dates, bytes, and lists or structs of them.",
        ) from None
    return _Table(frame[ID], labels, columns, content, jsonl)


def _writable(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """A value that JSON can hold, at any depth: images are often structs with bytes."""
    if isinstance(dtype, pl.Binary):
        return value.bin.encode("base64")
    if isinstance(dtype, pl.Duration):
        return value.cast(pl.Int64)
    if isinstance(dtype, pl.Struct):
        fields = [
            _writable(value.struct.field(field.name), _type(field.dtype)).alias(field.name)
            for field in dtype.fields
        ]
        return pl.when(value.is_not_null()).then(pl.struct(fields)) if fields else value
    if isinstance(dtype, pl.Array):
        value, dtype = value.arr.to_list(), pl.List(dtype.inner)
    if isinstance(dtype, pl.List):
        inner = _type(dtype.inner)
        return value.list.eval(_writable(pl.element(), inner)) if _needs_care(inner) else value
    return value


def _type(dtype: Any) -> pl.DataType:
    return dtype if isinstance(dtype, pl.DataType) else dtype()


def _needs_care(dtype: pl.DataType) -> bool:
    return dtype.is_nested() or isinstance(dtype, pl.Binary | pl.Duration)


def _text(column: str, dtype: pl.DataType) -> pl.Expr:
    if dtype.is_nested():
        # Inside a struct, lists and structs are encoded in the same way.
        whole = pl.struct(pl.col(column).alias("v")).struct.json_encode()
        return whole.str.slice(5, whole.str.len_chars() - 6).alias(column)
    return pl.col(column).cast(pl.String)


def _read_jsonl(name: str, content: bytes, label_column: str | None) -> _Table:
    require_utf8(name, content)
    rows = _Rows(label_column)
    try:
        for _, row in json_lines(name, content.removeprefix(BYTE_ORDER_MARK)):
            rows.append(row)
        frame = rows.frame()
        rewritten = "".join(rows.lines).encode()
    except (ValueError, RecursionError):
        raise DataError(
            f"{name} has a value that cannot be written as JSON again",
            hint=f"It is in one of the first {len(rows.ids) + 1:,} rows.",
        ) from None
    if len(rows.columns) > MOST_COLUMNS:
        raise DataError(f"{name} has more than {MOST_COLUMNS:,} different keys")
    _require_columns(name, [*rows.columns, *rows.apart], label_column)
    ids = json_ids(name, rows.ids)
    if label_column is None:
        return _Table(ids, None, frame, content, content)
    labels = series(rows.labels, f"{name}, column '{label_column}',")
    return _Table(ids, labels, frame, rewritten, rewritten)


class _Rows:
    """Rows of a JSONL file as columns. A million JSON objects would not fit into memory."""

    def __init__(self, label_column: str | None) -> None:
        self.label_column = label_column
        self.ids: list[Any] = []
        self.labels: list[Any] = []
        self.columns: dict[str, list[str | None]] = {}
        self.lines: list[str] = []
        self.apart: set[str] = set()
        """Which of the two, id and label column, any row has."""

    def append(self, row: dict[str, Any]) -> None:
        """Add one JSON object."""
        self.apart.update({ID, self.label_column or ID} & row.keys())
        if self.label_column is not None and self.label_column != ID:
            self.labels.append(row.pop(self.label_column, None))
            self.lines.append(_WRITER.encode(row) + "\n")
        for key, value in row.items():
            if key != ID:
                self._column(key).append(_json_text(value))
        self.ids.append(row.get(ID))

    def _column(self, key: str) -> list[str | None]:
        column = self.columns.get(key)
        if column is None:
            # Beyond the limit, columns are dropped: the file will be refused.
            column = self.columns.setdefault(key, []) if len(self.columns) <= MOST_COLUMNS else []
        column.extend([None] * (len(self.ids) - len(column)))
        return column

    def frame(self) -> pl.DataFrame:
        """All columns but the id and the label column."""
        for key in self.columns:
            self._column(key)
        return pl.DataFrame({c: pl.Series(v, dtype=pl.String) for c, v in self.columns.items()})


def _json_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if type(value) is int or type(value) is float:
        return repr(value)
    return _SPELLER.encode(value)


_READERS: dict[str, Callable[[str, bytes, str | None], _Table]] = {
    ".csv": _read_csv,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".parquet": _read_parquet,
}
