"""Some rows of offered examples, as examples of their own in the same format."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

from easeci.tables.examples import Examples
from easeci.vault.line_index import lines_of

Rows = npt.NDArray[np.int64]
"""Numbers of rows, counted from 0, in ascending order."""


def choose_examples(examples: Examples, rows: Rows) -> Examples:
    """These examples alone. Every file for programs is written again in its format."""
    jsonl = _lines(examples.jsonl, rows)
    content = jsonl
    if examples.suffix == ".csv":
        frame = pl.read_csv(io.BytesIO(examples.content), infer_schema=False)
        content = frame[rows].write_csv().encode()
    elif examples.suffix == ".parquet":
        buffer = io.BytesIO()
        pl.read_parquet(io.BytesIO(examples.content))[rows].write_parquet(buffer)
        content = buffer.getvalue()
    return Examples(
        examples.name,
        examples.suffix,
        examples.ids.gather(rows),
        examples.columns[rows],
        content,
        jsonl,
    )


def choose_paths(
    columns: Mapping[str, Mapping[str, str]], values: pl.DataFrame
) -> dict[str, dict[str, str]]:
    """Of the paths of files in each column, those that these rows name."""
    chosen = {}
    for name, hashes in columns.items():
        named: Iterable[str] = values[name].drop_nulls().unique().to_list()
        chosen[name] = {path: hashes[path] for path in sorted(named) if path in hashes}
    return chosen


def _lines(jsonl: bytes, rows: Rows) -> bytes:
    starts, ends = lines_of(jsonl)
    whole = memoryview(jsonl)
    return b"".join(
        bytes(whole[start:end]) + b"\n"
        for start, end in zip(starts[rows].tolist(), ends[rows].tolist(), strict=True)
    )
