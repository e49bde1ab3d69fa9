"""Some columns of a file of examples, without reading the others: what slices are made by.

A file may have long texts and a million rows, and a slice needs one short column of it. Values are
whole numbers, decimal numbers or texts. An empty text and NaN are no value.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from easeci.errors import DataError
from easeci.tables.column import Column, ColumnRole, checked_ids, plain, shortened, type_name
from easeci.tables.source import (
    BYTE_ORDER_MARK,
    ID,
    UNREADABLE,
    Source,
    csv_problem,
    is_pandas_frame,
    json_lines,
    polars_frame,
    read_guarded,
    require_utf8,
)

LOOKED_AT = 1_000
"""So many lines of a JSONL file are searched for its keys, if one of them was not found."""
IN_MEMORY = "the examples"


@dataclass(frozen=True)
class ColumnsFound:
    """The names of all columns of a file, and those of the wanted ones that it has."""

    name: str
    names: tuple[str, ...]
    columns: pl.DataFrame
    """Int64, Float64 or String; null where there is no value."""

    def keys(self) -> Column:
        """The ids, for joins. DataError if there are none, or if one is missing."""
        if ID not in self.names:
            hint = (
                f"It has {len(self.names)} columns. Does its first row name them, one of them id?"
            )
            raise DataError(f"{self.name} has no column '{ID}'", hint=hint)
        ids = checked_ids(self.name, self.columns[ID])
        return Column(self.name, ColumnRole.NEW, ids, ids)


def load_example_columns(source: Source, wanted: Sequence[str]) -> ColumnsFound:
    """The wanted columns of examples: a file, or a DataFrame of polars or pandas."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        ending = path.suffix.lower()
        return read_guarded(
            path, "examples", lambda: read_example_columns(str(path), path, ending, wanted)
        )
    if isinstance(source, pl.DataFrame):
        frame = source
    elif is_pandas_frame(source):
        frame = polars_frame(source, IN_MEMORY, wanted)
    else:
        raise DataError(
            f"{IN_MEMORY} must be a file or a DataFrame",
            hint=f"It needs a column '{ID}' and the columns that the condition names.",
        )
    chosen = dict.fromkeys(column for column in wanted if column in frame.columns)
    return _found(IN_MEMORY, frame.columns, frame.select(*chosen))


def read_example_columns(
    name: str, source: Path | bytes, ending: str, wanted: Sequence[str]
) -> ColumnsFound:
    """The wanted columns of a CSV, JSONL or Parquet file, or of its content."""
    return _READERS[ending](name, source, tuple(dict.fromkeys(wanted)))


def _found(name: str, names: Sequence[str], frame: pl.DataFrame) -> ColumnsFound:
    plainly = frame.select(_comparable(name, values) for values in frame)
    return ColumnsFound(name, tuple(names), plainly)


def _comparable(name: str, values: pl.Series) -> pl.Series:
    """Values as Int64, Float64 or String, without empty texts and NaN."""
    if values.dtype == pl.Float32:
        values = values.cast(pl.String).cast(pl.Float64)  # 0.1 stays 0.1
    elif values.dtype.is_decimal() or values.dtype.is_temporal():
        values = values.cast(pl.String)
    values = plain(values)
    if values.dtype == pl.Float64:
        return values.fill_nan(None)
    if values.dtype == pl.String:
        empty = values.str.len_bytes().min() == 0
        return values.set(values == "", None) if empty else values
    if values.dtype != pl.Int64:
        kind = type_name(values.dtype)
        raise DataError(
            f"{name}: column '{shortened(values.name)}' holds {kind}, not numbers or text"
        )
    return values


def _read_csv(name: str, source: Path | bytes, wanted: Sequence[str]) -> ColumnsFound:
    with _opened(source) as file:
        require_utf8(name, file.read(2))
    try:
        names = pl.read_csv(source, infer_schema=False, n_rows=0).columns
        for column in wanted:
            if f"{column}_duplicated_0" in names:
                raise DataError(f"{name} has two columns '{shortened(column)}'")
        chosen = [column for column in wanted if column in names]
        frame = pl.DataFrame()
        if chosen:
            frame = pl.read_csv(source, infer_schema=False, columns=chosen)
    except UNREADABLE as error:
        raise csv_problem(name, error) from None
    return _found(name, names, frame)


def _opened(source: Path | bytes) -> io.BufferedIOBase:
    return io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")


def _read_parquet(name: str, source: Path | bytes, wanted: Sequence[str]) -> ColumnsFound:
    file = io.BytesIO(source) if isinstance(source, bytes) else source
    try:
        names = list(pl.read_parquet_schema(file))
        chosen = [column for column in wanted if column in names]
        frame = pl.read_parquet(file, columns=chosen)
    except UNREADABLE:
        raise DataError(f"{name} cannot be read as Parquet") from None
    return _found(name, names, frame)


def _read_jsonl(name: str, source: Path | bytes, wanted: Sequence[str]) -> ColumnsFound:
    content = source if isinstance(source, bytes) else source.read_bytes()
    content = content.removeprefix(BYTE_ORDER_MARK)
    require_utf8(name, content)
    schema = dict.fromkeys(wanted, pl.String)
    try:
        frame = pl.read_ndjson(content, schema=schema)
    except UNREADABLE:
        # Either a line is wrong, or it is right and polars does not know its like.
        rows = (row for _, row in json_lines(name, content))
        texts = [[_json_text(row.get(column)) for column in wanted] for row in rows]
        frame = pl.DataFrame(texts, schema=schema, orient="row")
    blank = [column for column in wanted if frame[column].null_count() == len(frame)]
    names = dict.fromkeys(wanted)
    if blank:
        keys = _keys(name, content)
        names = dict.fromkeys(c for c in (*keys, *wanted) if c in keys or c not in blank)
    return _found(name, list(names), frame.select(c for c in wanted if c in names))


def _keys(name: str, content: bytes) -> dict[str, None]:
    """The keys of the first lines."""
    keys: dict[str, None] = {}
    for number, (_, row) in enumerate(json_lines(name, content)):
        keys.update(dict.fromkeys(row))
        if number >= LOOKED_AT:
            break
    return keys


def _json_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return repr(value)


_READERS: dict[str, Callable[[str, Path | bytes, Sequence[str]], ColumnsFound]] = {
    ".csv": _read_csv,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".parquet": _read_parquet,
}
