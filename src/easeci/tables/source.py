"""Load a column from a CSV, JSONL or Parquet file, or from values in memory."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from easeci.errors import DataError
from easeci.tables.column import Column, ColumnRole, checked
from easeci.tables.ranks import RANK_COLUMNS, no_ranks, with_ranks

ID = "id"
T = TypeVar("T")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""What polars raises on damaged files. Its panic does not inherit from Exception."""
Source = str | os.PathLike[str] | Any
"""A path; a polars or pandas DataFrame with an ``id`` column; a mapping of ids to values; a pandas
Series with ids as its index; or a sequence of values (list, numpy array) with positions as ids."""


def load_column(
    source: Source, role: ColumnRole, *, ranked: bool = False, references: bool = False
) -> Column:
    """Load a column and check it; with ``ranked``, also the ranks beside a model's predictions.

    DataError if ranks are wanted and missing. Otherwise they are ignored like other columns. With
    ``references``, labels are texts that a scorer compares outputs with, and may be long.
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        frame = _read(path, role, ranked=ranked)
        return _from_table(frame, str(path), role, ranked=ranked, references=references)
    return _from_memory(source, role, ranked=ranked, references=references)


def _from_table(
    frame: pl.DataFrame, name: str, role: ColumnRole, *, ranked: bool, references: bool
) -> Column:
    column = checked(name, role, *_two_columns(frame, name, role), references=references)
    if not ranked:
        return column
    for score in RANK_COLUMNS:
        require_single(frame, name, score)
    return with_ranks(column, [frame[c] for c in RANK_COLUMNS if c in frame.columns])


def _two_columns(frame: pl.DataFrame, name: str, role: ColumnRole) -> tuple[pl.Series, pl.Series]:
    for column in (ID, role.column):
        if column not in frame.columns:
            raise _no_column(name, column, frame.columns, role)
        require_single(frame, name, column)
    return frame[ID], frame[role.column]


def require_single(frame: pl.DataFrame, name: str, column: str) -> None:
    """Refuse a CSV file that has two columns of this name."""
    if f"{column}_duplicated_0" in frame.columns:
        raise DataError(f"{name} has two columns '{column}'")


def _no_column(name: str, column: str, found: list[str], role: ColumnRole) -> DataError:
    lacks = f"{name} has no column '{column}'"
    if len(found) == 1 and (";" in found[0] or "\t" in found[0]):
        return DataError(lacks, hint="A CSV file separates its columns by commas.")
    if role is ColumnRole.LABELS:
        # If the header is missing, the first row has a label: quote nothing.
        hint = f"It has {len(found)} columns. Is its first row id,{role.column}?"
        return DataError(lacks, hint=hint)
    shown = ", ".join(column[:40] for column in found[:8])
    return DataError(f"{lacks}; it has {shown}", hint=f"Its first row must be id,{role.column}.")


def _from_memory(source: Any, role: ColumnRole, *, ranked: bool, references: bool) -> Column:
    name = "the labels" if role is ColumnRole.LABELS else f"the {role} predictions"
    if isinstance(source, pl.DataFrame):
        return _from_table(source, name, role, ranked=ranked, references=references)
    if is_pandas_frame(source):
        wanted = (ID, role.column, *role.more_columns, *(RANK_COLUMNS if ranked else ()))
        frame = polars_frame(source, name, wanted)
        return _from_table(frame, name, role, ranked=ranked, references=references)
    if ranked:
        problem = no_ranks(name)
        raise DataError(problem.message, hint="Give a DataFrame or a file: a list has no columns.")
    if isinstance(source, Mapping):
        ids, values = (series(list(part), name) for part in (source.keys(), source.values()))
        return checked(name, role, ids, values, references=references)
    values = series(source, name)
    if hasattr(source, "index") and hasattr(source, "isna"):
        ids = series(list(source.index), name)
        return checked(name, role, ids, values, references=references)
    places = pl.int_range(len(values), eager=True)
    return checked(name, role, places, values, positional=True, references=references)


def is_pandas_frame(source: Any) -> bool:
    """Whether it is a pandas DataFrame; pandas itself need not be installed."""
    return hasattr(source, "columns") and hasattr(source, "to_dict")


def polars_frame(source: Any, name: str, wanted: Collection[str]) -> pl.DataFrame:
    """The wanted columns of a pandas DataFrame, and the others by name alone."""
    nothing = pl.repeat(None, len(source), eager=True)
    return pl.DataFrame(
        {str(c): series(source[c], name) if str(c) in wanted else nothing for c in source.columns}
    )


def series(values: Any, name: str) -> pl.Series:
    """Values of one type as a polars Series."""
    if isinstance(values, pl.Series):
        return values
    if hasattr(values, "isna"):  # pandas: NaN, NA and None all mean a missing value
        values = [None if gone else v for v, gone in zip(values, values.isna(), strict=True)]
    array = np.asarray(values) if not isinstance(values, list | tuple) else None
    if array is not None and array.ndim != 1:
        raise DataError(f"{name}: expected one value for each example, not {array.ndim} dimensions")
    plain = array if array is not None and array.dtype.kind in "iufb" else list(values)
    try:
        return pl.Series(plain, strict=True)
    except (TypeError, OverflowError, UnicodeError, pl.exceptions.PolarsError):
        raise DataError(
            f"{name} has values of mixed types", hint="Use numbers or text, not both."
        ) from None


def _read(path: Path, role: ColumnRole, *, ranked: bool = False) -> pl.DataFrame:
    ending = path.suffix.lower()
    # A JSONL file without labels has no lines. A CSV file needs at least its header.
    may_be_empty = role is ColumnRole.LABELS and ending in (".jsonl", ".ndjson")
    return read_guarded(
        path, role.plural, lambda: _READERS[ending](path, role, ranked), may_be_empty=may_be_empty
    )


def load_labels_table(path: Path) -> pl.DataFrame:
    """Load a file of labels with all its columns."""
    frame = _read(path, ColumnRole.LABELS)
    _two_columns(frame, str(path), ColumnRole.LABELS)
    return frame


def read_guarded(
    path: Path,
    what: str,
    read: Callable[[], T],
    endings: Collection[str] | None = None,
    *,
    may_be_empty: bool = False,
) -> T:
    """Check that a table's file can be read, and ``read`` it. DataError if it cannot."""
    endings = _READERS if endings is None else endings
    try:
        if path.is_dir():
            raise DataError(f"{path} is a folder, not a file of {what}")
        if not path.exists():
            raise DataError(f"there is no file {path}")
        if path.suffix.lower() not in endings:
            raise DataError(
                f"{path}: unknown kind of file",
                hint=f"Known endings: {', '.join(endings)}.",
            )
        if path.stat().st_size == 0 and not may_be_empty:
            raise DataError(f"{path} is empty")
        return read()
    except PermissionError:
        raise DataError(f"{path} may not be read: permission denied") from None
    except OSError as error:
        raise DataError(
            f"{path} cannot be read: {error.strerror or 'input/output error'}"
        ) from None


def _read_csv(path: Path, role: ColumnRole, ranked: bool) -> pl.DataFrame:  # noqa: ARG001
    with path.open("rb") as file:
        require_utf8(str(path), file.read(2))
    try:
        # All as text: what 007 or 3.0 means is decided when columns are compared.
        return pl.read_csv(path, infer_schema=False)
    except UNREADABLE as error:
        raise csv_problem(str(path), error) from None


def csv_problem(name: str, error: BaseException) -> DataError:
    """Our own message, because that of polars may quote labels."""
    if "utf-8" in str(error):
        return DataError(f"{name} is not UTF-8 text", hint="Save it as UTF-8.")
    return DataError(
        f"{name} cannot be read as CSV", hint="Every row needs as many cells as the header."
    )


def _read_parquet(path: Path, role: ColumnRole, ranked: bool) -> pl.DataFrame:
    try:
        known = pl.read_parquet_schema(path)
        wanted = (ID, role.column, *role.more_columns, *(RANK_COLUMNS if ranked else ()))
        if not {ID, role.column} <= known.keys():
            return pl.read_parquet(path, n_rows=0)
        return pl.read_parquet(path, columns=[c for c in wanted if c in known])
    except UNREADABLE:
        raise DataError(f"{path} cannot be read as Parquet") from None


def _read_jsonl(path: Path, role: ColumnRole, ranked: bool) -> pl.DataFrame:  # noqa: ARG001
    content = path.read_bytes().removeprefix(BYTE_ORDER_MARK)
    require_utf8(str(path), content)
    if not content.strip():
        if role is ColumnRole.LABELS:
            return pl.DataFrame(schema={ID: pl.String, role.column: pl.String})
        raise DataError(f"{path} is empty")
    try:
        frame = pl.read_ndjson(content, infer_schema_length=None)
    except UNREADABLE:
        raise _jsonl_problem(path, content, role) from None
    texts = ID in frame.columns and frame[ID].dtype == pl.String
    if texts and re.search(rb'"id"\s*:\s*-?[0-9]', content):
        _require_one_type(path, content)
    return frame


def json_lines(name: str, content: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSONL file with the numbers of their lines, without blank lines."""
    return json_objects(name, content.splitlines(), _DECODER)


def json_objects(
    name: str, lines: Iterable[bytes], decoder: json.JSONDecoder
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects in the lines of a JSONL file with their numbers, without blank lines."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = decoder.decode(line.decode("utf-8"))
        except (ValueError, RecursionError):
            raise DataError(
                f"{name}, line {number}, is not JSON", hint="Every line is one JSON object."
            ) from None
        if not isinstance(row, dict):
            raise DataError(
                f"{name}, line {number}, is not a JSON object",
                hint='Write lines such as {"id": 1, "prediction": "cat"}.',
            )
        yield number, row


def json_ids(name: str, ids: list[Any]) -> pl.Series:
    """Ids of JSON objects, all whole numbers or all text; None where one is missing."""
    kinds = {type(value) for value in ids} - {type(None)}
    if len(kinds) > 1:
        raise DataError(
            f"{name}: ids of mixed types",
            hint="Use numbers or text, not both: an id must be written one way.",
        )
    if kinds <= {int, str}:
        if any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in ids):
            ids = [None if value is None else str(value) for value in ids]
        try:
            return pl.Series(ids)
        except UnicodeError:
            raise DataError(f"{name}: an id is not valid Unicode text") from None
    raise DataError(f"{name}: ids must be whole numbers or text")


def _no_constant(constant: str) -> None:
    raise ValueError(constant)


_DECODER = json.JSONDecoder(parse_constant=_no_constant)  # one for all: making it is slow


def _jsonl_problem(path: Path, content: bytes, role: ColumnRole) -> DataError:
    """Why a file could not be read: a line is not an object, or a column has several types."""
    try:
        for _ in json_lines(str(path), content):
            pass
    except DataError as problem:
        return problem
    return DataError(
        f"{path}: values of mixed types in '{ID}' or '{role.column}'",
        hint="Use numbers or text, not both, in one column.",
    )


def _require_one_type(path: Path, content: bytes) -> None:
    first: type | None = None
    for number, row in json_lines(str(path), content):
        kind = type(row.get(ID))
        if first is None:
            first = kind
        elif kind is not first:
            raise DataError(
                f"{path}: ids of mixed types, first at line {number}",
                hint="Use numbers or text, not both: an id must be written one way.",
            )


_READERS: dict[str, Callable[[Path, ColumnRole, bool], pl.DataFrame]] = {
    ".csv": _read_csv,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".parquet": _read_parquet,
}


def require_utf8(name: str, content: bytes) -> None:
    """Refuse UTF-16, which spreadsheets call Unicode."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DataError(f"{name} is UTF-16 text", hint="Save it as UTF-8.")
