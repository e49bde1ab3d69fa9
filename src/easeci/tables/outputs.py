"""Outputs of a model: any text, JSON value or number for each example, one or several trials.

A file (CSV, JSONL, Parquet) has the columns ``id`` and ``output``, and ``trial`` where a model
gives several outputs for each example. Control characters and the like are data and are kept.
Scores may come in the same file: ``score`` and ``score.NAME``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from easeci.errors import DataError
from easeci.script.problem import Problem
from easeci.script.scorer import MAIN_SCORE, parse_score_name
from easeci.tables.column import (
    MOST_NAMED,
    ColumnRole,
    checked_ids,
    named,
    plain,
    repeated_ids,
    shortened,
)
from easeci.tables.json_text import EXACT_DECODER
from easeci.tables.output_rows import (
    SCORES,
    TRIAL,
    OutputRows,
    is_score_column,
    memory_rows,
    read_output_rows,
    score_name,
)
from easeci.tables.source import (
    BYTE_ORDER_MARK,
    UNREADABLE,
    Source,
    is_pandas_frame,
    json_objects,
    read_guarded,
)

LONGEST_OUTPUT = 16 << 20
"""The most bytes that one output may have."""
LINES_LOOKED_AT = 100


@dataclass(frozen=True)
class Outputs:
    """The outputs of a model: ``trials`` of them for each example, one after the other."""

    name: str
    ids: pl.Series
    """One for each example, each different: Int64 or String."""
    values: pl.Series
    """String; row i * trials + t is trial t of example i. All are null if a file has only scores,
    otherwise none is."""
    trials: int
    scores: Mapping[str, pl.Series] = field(default_factory=dict)
    """Scores that came with the outputs by name, in the same order as the values: Float64 from 0
    to 1, null where a score is unsettled. Empty unless they were asked for."""
    positional: bool = False
    """Whether the ids are positions in a list."""

    def __len__(self) -> int:
        return len(self.ids)

    def taken(self, examples: pl.Series) -> Outputs:
        """The examples in these places, with all their trials and scores."""
        rows = _rows_of(examples, self.trials)
        scores = {name: values.gather(rows) for name, values in self.scores.items()}
        values, ids = self.values.gather(rows), self.ids.gather(examples)
        return replace(self, ids=ids, values=values, scores=scores)

    def gather(self, examples: pl.Series) -> pl.Series:
        """The values of the examples in these places, with all their trials."""
        return self.values.gather(_rows_of(examples, self.trials))


def load_outputs(
    source: Source,
    role: ColumnRole,
    *,
    trials: int | None = None,
    with_scores: bool = False,
    name: str | None = None,
) -> Outputs:
    """Load outputs and check them. Every example must have ``trials`` of them, or all as many.

    An empty output is one: a model may say nothing. With ``with_scores``, the scores in the same
    file are loaded too, and a file with scores needs no outputs. ``name`` is what messages call
    a table in memory. DataError if anything is wrong.
    """
    if isinstance(source, str | os.PathLike):
        rows = read_output_rows(Path(source), with_scores=with_scores)
    else:
        rows = memory_rows(source, name or f"the {role} outputs", with_scores=with_scores)
    if len(rows.ids) == 0:
        raise DataError(f"{rows.name} has no rows", hint="Expected an output for each id.")
    ids = checked_ids(rows.name, rows.ids)
    if rows.outputs is not None:
        _check_outputs(rows.name, ids, rows.outputs)
    scores = {name: _checked_score(rows.name, ids, name, v) for name, v in rows.scores.items()}
    if MAIN_SCORE in scores:
        scores = {MAIN_SCORE: scores[MAIN_SCORE], **scores}
    return _arranged(rows, ids, scores, trials)


def _check_outputs(name: str, ids: pl.Series, outputs: pl.Series) -> None:
    long = outputs.str.len_bytes() > LONGEST_OUTPUT
    most = f"longer than {LONGEST_OUTPUT >> 20} MiB"
    for bad, why in ((outputs.is_null(), "that are missing"), (long.fill_null(False), most)):
        if bad.any():
            raise DataError(f"{name}: outputs {why}: {_at_ids(ids, bad)}")


def _at_ids(ids: pl.Series, bad: pl.Series) -> str:
    """How many rows, and the ids of the first few."""
    found = ids.filter(bad)
    return f"{len(found):,}, at id {named(found.unique(maintain_order=True))}"


# -- trials


def _arranged(
    rows: OutputRows, ids: pl.Series, scores: Mapping[str, pl.Series], wanted: int | None
) -> Outputs:
    """The outputs in the order in which ids first appear, and those of one id by trial."""
    values = rows.outputs
    if values is None:
        values = pl.repeat(None, len(ids), dtype=pl.String, eager=True)
    values = values.alias("output")
    if rows.trials is None:
        _require_once(rows.name, ids)
        _require_trials(rows.name, ids, pl.repeat(1, len(ids), eager=True), wanted)
        return Outputs(rows.name, ids, values, 1, scores, rows.positional)
    numbers = _trial_numbers(rows.name, ids, rows.trials)
    frame = pl.DataFrame({"id": ids, "trial": numbers}).with_row_index("row")
    twice = frame.select(pl.struct("id", "trial").is_duplicated()).to_series()
    if twice.any():
        raise DataError(
            f"{rows.name}: trials that occur more than once: {_at_ids(ids, twice)}",
            hint="The trials of one id need different numbers.",
        )
    counts = frame.group_by("id", maintain_order=True).len()
    trials = _require_trials(rows.name, counts["id"], counts["len"], wanted)
    first = pl.col("row").first().over("id")
    order = frame.with_columns(first=first).sort("first", "trial")["row"]
    ordered = {name: score.gather(order) for name, score in scores.items()}
    return Outputs(rows.name, counts["id"], values.gather(order), trials, ordered)


def _require_once(name: str, ids: pl.Series) -> None:
    repeated = repeated_ids(ids)
    if repeated is not None:
        raise DataError(
            f"{name}: ids that occur more than once: {_at_ids(ids, repeated)}",
            hint=f"Several outputs for one id need a column '{TRIAL}' that numbers them.",
        )


def _trial_numbers(name: str, ids: pl.Series, trials: pl.Series) -> pl.Series:
    trials = plain(trials)
    if trials.dtype == pl.String:
        texts = trials.str.strip_chars()
        trials = texts.set(~texts.str.contains(r"^[+-]?[0-9]{1,18}$").fill_null(False), None)
        trials = trials.cast(pl.Int64, strict=False)
    if trials.dtype != pl.Int64:
        raise DataError(f"{name}: '{TRIAL}' must be a column of whole numbers")
    if trials.null_count():
        raise DataError(
            f"{name}: trials that are not whole numbers: {_at_ids(ids, trials.is_null())}",
            hint=f"Number the outputs of each id in '{TRIAL}': 1, 2, 3.",
        )
    return trials


def _require_trials(name: str, ids: pl.Series, counts: pl.Series, wanted: int | None) -> int:
    """How many trials every example has. DataError if that is not as many as wanted for each."""
    frame = pl.DataFrame({"id": ids, "trials": counts.cast(pl.Int64)})
    found = frame.group_by("trials").len("examples").sort("examples", "trials", descending=True)
    expected = int(found["trials"][0]) if wanted is None else wanted
    wrong = found.filter(pl.col("trials") != expected)
    if wrong.is_empty():
        return expected
    right = len(ids) - int(wrong["examples"].sum())
    listed = [
        f"{examples:,} with {trials:,}, at id "
        f"{named(frame.filter(pl.col('trials') == trials)['id'])}"
        for trials, examples in wrong.head(MOST_NAMED).iter_rows()
    ]
    more = "" if len(wrong) <= MOST_NAMED else f"; and {len(wrong) - MOST_NAMED:,} other numbers"
    raise DataError(
        f"{name}: every example needs {expected:,} outputs, which {right:,} of {len(ids):,} have: "
        f"{'; '.join(listed)}{more}",
        hint=f"Write a row for each trial, and number them in a column '{TRIAL}'.",
    )


def _rows_of(examples: pl.Series, trials: int) -> pl.Series:
    """The rows of all trials of the examples in these places."""
    places = examples.cast(pl.Int64)
    if trials == 1:
        return places
    frame = pl.DataFrame({"place": places}).join(
        pl.DataFrame({"trial": pl.int_range(trials, eager=True)}), how="cross"
    )
    return frame.select(pl.col("place") * trials + pl.col("trial")).to_series()


# -- scores


def _checked_score(name: str, ids: pl.Series, score: str, values: pl.Series) -> pl.Series:
    """A score as Float64, null where it is unsettled. DataError if one is not from 0 to 1."""
    _require_name(name, score)
    values = plain(values) if values.dtype != pl.Boolean else values
    if values.dtype == pl.String:
        texts = values.str.strip_chars().str.to_lowercase()
        values = texts.replace({"": None, "true": "1", "false": "0"})
    elif not values.dtype.is_numeric() and values.dtype != pl.Boolean:
        raise DataError(f"{name}: '{score}' must be a column of numbers")
    numbers = values.cast(pl.Float64, strict=False)
    for bad, why in (
        (numbers.is_null() & values.is_not_null(), "that are not numbers"),
        (numbers.is_nan(), "that are NaN"),
        ((numbers < 0.0) | (numbers > 1.0), "outside 0 to 1"),
    ):
        if bad.any():
            raise DataError(
                f"{name}: scores '{score}' {why}: {_at_ids(ids, bad.fill_null(False))}",
                hint="A score is a number from 0 to 1; an empty one is unsettled.",
            )
    # -0.0 equals 0.0, so it must be stored in the same way.
    return numbers.set((numbers == 0.0).fill_null(False), 0.0).alias(score)


def _require_name(name: str, score: str) -> None:
    try:
        parse_score_name(score)
    except Problem:
        raise DataError(
            f"{name}: '{shortened(score)}' cannot be the name of a score",
            hint="A name is a word of letters, digits and _, such as score.faithful.",
        ) from None


def score_names(source: Source) -> tuple[str, ...]:
    """The names of the scores that a file or DataFrame has; empty if there are none.

    Only a header, a schema or the first lines are read. The main score comes first.
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        reader = _NAME_READERS.get(path.suffix.lower(), _jsonl_names)
        names = read_guarded(path, "outputs", lambda: reader(path))
    elif isinstance(source, pl.DataFrame) or is_pandas_frame(source):
        names = _column_names(map(str, source.columns))
    else:
        names = {}
    return tuple(sorted(names, key=lambda name: name != MAIN_SCORE))


def _column_names(columns: Any) -> dict[str, None]:
    return {score_name(column): None for column in columns if is_score_column(column)}


def _csv_names(path: Path) -> dict[str, None]:
    try:
        return _column_names(pl.read_csv(path, n_rows=0, infer_schema=False).columns)
    except UNREADABLE:
        return {}


def _parquet_names(path: Path) -> dict[str, None]:
    try:
        return _column_names(pl.read_parquet_schema(path))
    except UNREADABLE:
        return {}


def _jsonl_names(path: Path) -> dict[str, None]:
    found: dict[str, None] = {}
    with path.open("rb") as file:
        lines = (line.removeprefix(BYTE_ORDER_MARK) for line in islice(file, LINES_LOOKED_AT))
        try:
            for _, row in json_objects(str(path), lines, EXACT_DECODER):
                inside = row.get(SCORES)
                found |= _column_names(row)
                found |= dict.fromkeys(inside if isinstance(inside, dict) else ())
        except DataError:  # the reader of the whole file says what is wrong
            return found
    return found


_NAME_READERS = {".csv": _csv_names, ".parquet": _parquet_names}
