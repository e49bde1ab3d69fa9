"""The process that reads what a scorer wrote. It is started by ``untrusted_scores.py``.

Hostile outputs can make a scorer write anything. So this works as the process that reads
predictions does (``reading_process.py``): it limits itself first, and its answer is a line of JSON,
followed by numbers.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl

from easeci.errors import DataError
from easeci.script.scorer import MAIN_SCORE
from easeci.tables.parquet_footer import load_footer
from easeci.tables.reading_limits import ReadingLimits
from easeci.tables.reading_process import (
    LONGEST_FOOTER,
    NO_MEMORY,
    READY,
    end_with,
    limit_this_process,
    require_size,
)
from easeci.tables.score_rows import NAME, TRIAL, placed_scores
from easeci.tables.source import ID

SCORE_ROW = np.dtype([("place", "<u4"), ("name", "<u4"), ("score", "<f8")])
"""A score as bytes: of which output, the place of its name, and NaN if it is not a valid one."""


def write_score_orders(
    path: Path, keys: pl.DataFrame, names: Sequence[str], limits: ReadingLimits, orders: IO[bytes]
) -> None:
    """Write what the process reads from its standard input: it trusts that."""
    line = {
        "path": str(path),
        "limits": asdict(limits),
        "parent": os.getpid(),
        "names": list(names),
    }
    orders.write(json.dumps(line).encode() + b"\n")
    keys.write_ipc(orders)


def main() -> None:
    """Read scores, as ordered, and say what they are or what is wrong with them."""
    orders = json.loads(sys.stdin.buffer.readline())
    limits = ReadingLimits(**orders["limits"])
    limit_this_process(limits)
    end_with(orders["parent"])
    keys = pl.read_ipc(io.BytesIO(sys.stdin.buffer.read()))
    output = sys.stdout.buffer
    output.write(READY)
    output.flush()
    try:
        _answer(Path(orders["path"]), keys, orders["names"], limits, output)
        output.flush()
    except MemoryError:
        os._exit(NO_MEMORY)
    os._exit(0)  # at once: there is nothing to tidy up


def _answer(
    path: Path, keys: pl.DataFrame, names: list[str], limits: ReadingLimits, output: IO[bytes]
) -> None:
    try:
        rows = read_scores(path, keys, names, limits)
    except DataError as problem:
        line = {"message": problem.message, "hint": problem.hint}
        output.write(json.dumps(line).encode() + b"\n")
        return
    packed = np.zeros(len(rows), SCORE_ROW)
    packed["place"] = rows["place"].to_numpy()
    packed["name"] = [names.index(name) for name in rows[NAME]]
    packed["score"] = rows[MAIN_SCORE].fill_null(np.nan).to_numpy()
    output.write(json.dumps({"rows": len(rows)}).encode() + b"\n")
    output.write(packed.tobytes())


def read_scores(
    path: Path, keys: pl.DataFrame, names: Sequence[str], limits: ReadingLimits
) -> pl.DataFrame:
    """What a scorer wrote for these outputs. Errors name the file without its folder."""
    try:
        require_size(path, limits)
        if path.suffix.lower() == ".parquet":
            _require_footer(path, limits)
        return placed_scores(path, keys, names)
    except DataError as problem:
        message = problem.message.replace(f"{path.parent}/", "")
        raise DataError(message, hint=problem.hint) from None


def _require_footer(path: Path, limits: ReadingLimits) -> None:
    """Refuse a Parquet file that says itself that it is too large."""
    footer = load_footer(path, (ID, TRIAL, NAME, MAIN_SCORE), LONGEST_FOOTER)
    if footer is None:
        return
    if footer.rows > limits.rows or footer.unpacked_bytes > limits.file_bytes:
        raise DataError(f"{path} has {footer.rows:,} rows, which is too many")
