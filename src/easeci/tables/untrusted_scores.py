"""Scores that nobody trusts, read by a process of its own with limits on what it may take."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl

from easeci.script.scorer import MAIN_SCORE
from easeci.tables.reading_limits import ReadingLimits
from easeci.tables.score_process import SCORE_ROW, write_score_orders
from easeci.tables.score_rows import NAME
from easeci.tables.source import ID
from easeci.tables.untrusted import read_line, run_reader, unreadable

READER = "easeci.tables.score_process"


def load_untrusted_scores(path: Path, keys: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The scores that a scorer wrote for outputs: rows of place, name and score.

    ``keys`` has the id and trial of every output, as texts; a place is a row of it. A score is null
    if it is not a number from 0 to 1. Outputs may be missing. DataError if the file cannot be used.
    """
    limits = ReadingLimits(len(keys) * len(names), int(keys[ID].str.len_bytes().sum()))
    with tempfile.TemporaryFile() as orders, tempfile.TemporaryFile() as answer:
        write_score_orders(path, keys, names, limits, orders)
        orders.seek(0)
        run_reader(READER, path, orders, answer, limits)
        return _taken_over(path, answer, len(keys), names)


def _taken_over(path: Path, answer: IO[bytes], count: int, names: Sequence[str]) -> pl.DataFrame:
    """The scores of an answer, or the problem that it tells. Nothing of it is believed unseen."""
    try:
        rows = read_line(answer)["rows"]
        if not isinstance(rows, int) or not 0 <= rows <= count * len(names):
            raise unreadable(path)
        found = np.frombuffer(answer.read(rows * SCORE_ROW.itemsize), SCORE_ROW, rows)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise unreadable(path) from None
    scores = found["score"].astype(np.float64)
    valid = (scores >= 0.0) & (scores <= 1.0)
    known = (found["place"] < count) & (found["name"] < len(names))
    if not known.all() or not (valid | np.isnan(scores)).all():
        raise unreadable(path)
    table = pl.DataFrame(
        {
            "place": found["place"].astype(np.uint32),
            NAME: pl.Series([names[place] for place in found["name"]], dtype=pl.String),
            MAIN_SCORE: pl.Series(scores).fill_nan(None),
        }
    )
    if table.select("place", NAME).is_duplicated().any():
        raise unreadable(path)
    return table
