"""Slices by the columns of the examples, against numbers that were counted by hand."""

from __future__ import annotations

import polars as pl
import pytest

from easeci.views.released.slices import MOST_VALUES, SliceRow, marked, slice_rows, whole_row

LABELS = pl.Series(["a", "a", "b", None, None, "b"])
NEW = pl.Series(["a", "b", "b", "a", "a", "b"])
OLD = pl.Series(["a", "a", "a", "b", "a", "b"])
LANG = pl.Series(["de", "de", "en", "en", None, "de"])


def test_accuracies_are_of_labelled_examples_and_the_difference_is_of_all() -> None:
    marks = marked(LABELS, NEW, OLD)
    de, en, empty = slice_rows(pl.DataFrame({"lang": LANG}), marks, paired=True)
    assert de == SliceRow("lang", "de", 3, 3, 2 / 3, 1.0, 1 / 3)
    assert en == SliceRow("lang", "en", 2, 1, 1.0, 0.0, 1.0)
    assert empty == SliceRow("lang", None, 1, 0, None, None, 0.0)
    whole = whole_row(marks, paired=True)
    assert whole == SliceRow(None, None, 6, 4, 3 / 4, 3 / 4, 3 / 6)


def test_one_model_has_no_difference() -> None:
    row = whole_row(marked(LABELS, NEW, None), paired=False)
    assert (row.new, row.old, row.difference) == (3 / 4, None, None)


def test_numbers_are_in_the_order_of_their_values() -> None:
    values = pl.Series(["10", "9", "x", "9", "10", "nan"])
    rows = slice_rows(pl.DataFrame({"age": values}), marked(LABELS, NEW, OLD), paired=True)
    assert rows == ()  # four values of six examples
    twice = pl.concat([values, values])
    labels, new = (pl.concat([column, column]) for column in (LABELS, NEW))
    rows = slice_rows(pl.DataFrame({"age": twice}), marked(labels, new, None), paired=False)
    assert [row.value for row in rows] == ["9", "10", "nan", "x"]


@pytest.mark.parametrize(
    ("distinct", "expected"), [(1, 0), (2, 2), (MOST_VALUES, MOST_VALUES), (MOST_VALUES + 1, 0)]
)
def test_a_column_needs_a_few_values(distinct: int, expected: int) -> None:
    size = 10 * MOST_VALUES
    labels = pl.Series(["a"] * size)
    columns = pl.DataFrame({"label": [f"v{row % distinct}" for row in range(size)]})
    assert len(slice_rows(columns, marked(labels, labels, None), paired=False)) == expected
