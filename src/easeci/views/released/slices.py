"""Slices of a testset: the examples that have the same value in one of their columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from easeci.views.released.confusion import share

MOST_VALUES = 20
"""A column with more different values than this makes no slices."""
MOST_NAMED_VALUES = 1_000
MARKS = ("labelled", "new_right", "old_right", "differ")


@dataclass(frozen=True)
class SliceRow:
    """A slice: how many examples and labels it has, and how both models do on it.

    ``column`` is None for the whole testset, and ``value`` for the examples that have none.
    Accuracies are shares of the labelled examples; ``difference`` is the share of all examples on
    which the models differ. A share of nothing is None, and so is everything of a missing model.
    """

    column: str | None
    value: str | None
    examples: int
    labelled: int
    new: float | None
    old: float | None
    difference: float | None


def marked(labels: pl.Series, new: pl.Series, old: pl.Series | None) -> pl.DataFrame:
    """Which examples are labelled, where each model is right, and where the models differ."""
    without = pl.repeat(False, len(labels), dtype=pl.Boolean, eager=True)
    return pl.DataFrame(
        {
            "labelled": labels.is_not_null(),
            "new_right": (labels == new).fill_null(False),
            "old_right": without if old is None else (labels == old).fill_null(False),
            "differ": without if old is None else new != old,
        }
    )


def whole_row(marks: pl.DataFrame, *, paired: bool) -> SliceRow:
    """The whole testset as one slice."""
    labelled, new_right, old_right, differ = marks.select(pl.col(MARKS).sum()).row(0)
    counts = (len(marks), labelled, new_right, old_right, differ)
    return _row(None, None, counts, paired=paired)


def slice_rows(
    columns: pl.DataFrame, marks: pl.DataFrame, *, paired: bool, named: Sequence[str] = ()
) -> tuple[SliceRow, ...]:
    """The slices of every column that has few values, in the order of columns and values.

    ``paired`` says whether there are two models. Columns that the condition ``named`` come first,
    and may have more values.
    """
    first = [name for name in named if columns[name].n_unique() <= MOST_NAMED_VALUES]
    rest = [name for name in columns.columns if name not in named and _makes_slices(columns[name])]
    return tuple(
        _row(name, value, counts, paired=paired)
        for name in (*first, *rest)
        for value, *counts in _groups(columns[name], marks)
    )


def _makes_slices(values: pl.Series) -> bool:
    """Whether a column has few values, more than one, and several examples for a value."""
    distinct = values.drop_nulls().n_unique()
    return distinct <= min(MOST_VALUES, len(values) // 2) and values.n_unique() > 1


def _groups(values: pl.Series, marks: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Each value with the counts of its examples and of their marks."""
    frame = marks.with_columns(values.alias("value"))
    found = frame.group_by("value").agg(pl.len(), pl.col(MARKS).sum())
    yield from sorted(found.iter_rows(), key=lambda row: _value_order(row[0]))


def _value_order(value: str | None) -> tuple[int, float, str]:
    """Numbers by value, then texts, then what is missing."""
    if value is None:
        return 2, 0.0, ""
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    return (0, number, value) if math.isfinite(number) else (1, 0.0, value)


def _row(
    column: str | None, value: str | None, counts: tuple[int, ...] | list[int], *, paired: bool
) -> SliceRow:
    examples, labelled, new_right, old_right, differ = counts
    return SliceRow(
        column,
        value,
        examples,
        labelled,
        share(new_right, labelled),
        share(old_right, labelled) if paired else None,
        share(differ, examples) if paired else None,
    )
