"""Files of scores: what a scorer wrote, or what an owner imports. CSV, JSONL or Parquet.

A row has an id and a score. Which output of the example is meant, its ``trial`` or its ``digest``
tells. Scores beside the main one have rows with a ``name``, or columns ``score.NAME``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from easeci.errors import DataError
from easeci.script.scorer import MAIN_SCORE
from easeci.tables.column import checked_ids, named
from easeci.tables.source import BYTE_ORDER_MARK, ID, UNREADABLE, csv_problem, read_guarded

TRIAL, DIGEST, NAME = "trial", "digest", "name"
ENDINGS = (".csv", ".jsonl", ".ndjson", ".parquet")
NAMED = f"{MAIN_SCORE}."
"""How the column of a named score begins."""


def read_score_rows(path: Path, which: str) -> pl.DataFrame:
    """The rows of a file of scores: id, ``which`` (trial or digest), name, given and score.

    All but ``given`` and ``score`` are texts. ``score`` is null unless the cell is a number from 0
    to 1. ``given`` says whether there is anything in the cell. A file without the column ``which``
    has null there.
    """
    frame = read_guarded(path, "scores", lambda: _table(path), ENDINGS)
    if ID not in frame.columns:
        raise DataError(
            f"{path} has no column '{ID}'", hint=f"Its columns are {ID}, {which} and {MAIN_SCORE}."
        )
    columns = {c: c.removeprefix(NAMED) for c in frame.columns if c.startswith(NAMED)}
    if MAIN_SCORE in frame.columns:
        columns = {MAIN_SCORE: MAIN_SCORE} | columns
    if not columns:
        raise DataError(
            f"{path} has no column '{MAIN_SCORE}'",
            hint=f"Scores are in a column {MAIN_SCORE}, or {NAMED}NAME for one with a name.",
        )
    ids = checked_ids(str(path), frame[ID]).cast(pl.String)
    return pl.concat([_rows(frame, ids, which, column, name) for column, name in columns.items()])


def _rows(frame: pl.DataFrame, ids: pl.Series, which: str, column: str, name: str) -> pl.DataFrame:
    nothing = pl.lit(None, pl.String)
    cells = frame[column]
    numbers = cells.cast(pl.Float64, strict=False) if not cells.dtype.is_nested() else None
    number = pl.repeat(None, len(ids), dtype=pl.Float64, eager=True) if numbers is None else numbers
    valid = (number.is_finite() & (number >= 0.0) & (number <= 1.0)).fill_null(False)
    texts = cells.dtype == pl.String
    given = cells.is_not_null() & (cells.str.strip_chars() != "" if texts else True)
    named_by_row = column == MAIN_SCORE and NAME in frame.columns
    names = frame[NAME].cast(pl.String).str.strip_chars() if named_by_row else None
    return pl.DataFrame({ID: ids}).with_columns(
        (frame[which].cast(pl.String) if which in frame.columns else nothing).alias(which),
        (names.fill_null("").replace("", MAIN_SCORE) if names is not None else pl.lit(name)).alias(
            NAME
        ),
        given.alias("given"),
        number.set(~valid, None).alias(MAIN_SCORE),
    )


def _table(path: Path) -> pl.DataFrame:
    ending = path.suffix.lower()
    try:
        if ending == ".parquet":
            known = pl.read_parquet_schema(path)
            return pl.read_parquet(path, columns=[c for c in known if _is_wanted(c)])
        if ending == ".csv":
            frame = pl.read_csv(path, infer_schema=False)
        else:
            content = path.read_bytes().removeprefix(BYTE_ORDER_MARK)
            frame = pl.read_ndjson(content, infer_schema_length=None)
    except UNREADABLE as error:
        if ending == ".csv":
            raise csv_problem(str(path), error) from None
        raise DataError(f"{path} cannot be read") from None
    return frame.select([column for column in frame.columns if _is_wanted(column)])


def _is_wanted(column: str) -> bool:
    return column in (ID, TRIAL, DIGEST, NAME, MAIN_SCORE) or column.startswith(NAMED)


def placed_scores(path: Path, keys: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """What a scorer wrote for outputs: rows of place and name, each with a score or null.

    ``keys`` has the id and trial of every output, as texts. DataError for an output that the scorer
    was not given, for two scores of one output, and for a name that the script does not declare.
    """
    rows = read_score_rows(path, TRIAL)
    single = keys[ID].n_unique() == len(keys)
    on = [ID] if single else [ID, TRIAL]
    if not single and rows[TRIAL].null_count():
        raise DataError(
            f"{path.name} has rows without a trial",
            hint="An example has several outputs: write the id and the trial of each.",
        )
    places = keys.select(ID, TRIAL).with_row_index("place")
    found = rows.join(places.select(*on, "place"), on=on, how="left", maintain_order="left")
    stray = found["place"].is_null()
    if stray.any():
        raise DataError(
            f"{path.name} has scores for outputs that it was not given: {int(stray.sum()):,}, "
            f"first at id {named(found[ID].filter(stray))}"
        )
    unknown = ~found[NAME].is_in(list(names))
    if unknown.any():
        raise DataError(
            f"{path.name} has a score with a name that the script does not declare: "
            f"{named(found[NAME].filter(unknown).unique())}",
            hint="Declare it: scores: [NAME]. The main score has no name.",
        )
    if found.select("place", NAME).is_duplicated().any():
        raise DataError(f"{path.name} has two scores for one output")
    return found.select("place", NAME, MAIN_SCORE)
