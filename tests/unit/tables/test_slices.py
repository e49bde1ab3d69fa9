"""Slices: which examples are in them, by a plain loop and by columns."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.errors import DataError
from easeci.script.syntax import Slice, SliceTest
from easeci.tables.slices import ExampleSlices, members, partition, values_of
from tests.cases import each_case

COMPARE: dict[SliceTest, Callable[[Any, Any], bool]] = {
    SliceTest.EQUAL: operator.eq,
    SliceTest.NOT_EQUAL: operator.ne,
    SliceTest.AT_LEAST: operator.ge,
    SliceTest.AT_MOST: operator.le,
    SliceTest.ABOVE: operator.gt,
    SliceTest.BELOW: operator.lt,
}


def chosen(column: str, test: str, value: str) -> Slice:
    return Slice(column, SliceTest(test), value, every=value == "*")


VALUES = st.lists(st.one_of(st.none(), st.integers(-3, 3)), min_size=1, max_size=10)


@settings(max_examples=60, deadline=None)
@given(VALUES, st.sampled_from(SliceTest), st.integers(-3, 3), st.randoms(use_true_random=False))
def test_members_against_a_loop(
    values: list[int | None], test: SliceTest, bound: int, shuffle: Any
) -> None:
    """Numbers and digits make the same slices; no value is in none; in any order."""
    order = list(range(len(values)))
    shuffle.shuffle(order)
    expected = [v is not None and COMPARE[test](v, bound) for v in values]
    where = Slice("c", test, str(bound))
    for column in (
        pl.Series("c", values, dtype=pl.Int64),
        pl.Series("c", values, dtype=pl.Float64),
    ):
        for found in (column, column.cast(pl.Int64).cast(pl.String)):
            assert members(found, where).tolist() == expected
            slices = ExampleSlices(found.to_frame())
            for known in (False, True):
                if known:
                    slices.partition("c")
                turned = slices.ordered(np.array(order))
                assert turned.members(where).tolist() == [expected[place] for place in order]
                places = turned.positions(where).tolist()
                assert places == [i for i, place in enumerate(order) if expected[place]]


def test_a_partition_holds_all_slices_of_a_column() -> None:
    column = pl.Series("lang", ["b", None, "a", "b", "10", "9"])
    found = partition(column)
    assert found.names == ("9", "10", "a", "b")
    assert found.codes.tolist() == [3, 4, 2, 3, 1, 0]
    assert [places.tolist() for places in found.positions] == [[5], [4], [2], [0, 3]]
    assert values_of(column) == ["9", "10", "a", "b"]
    slices = ExampleSlices(column.to_frame())
    assert slices.members(chosen("lang", "=", "*")).tolist() == [True, False] + [True] * 4
    assert slices.values_of("lang") == ["9", "10", "a", "b"]
    empty = partition(pl.Series("lang", [None, None], dtype=pl.String))
    assert (empty.names, empty.codes.tolist(), empty.positions) == ((), [0, 0], ())


@each_case("bits", [20, 1])
def test_texts_are_divided_also_if_their_hashes_collide(
    bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("easeci.tables.slices.HASH_BITS", bits)
    texts = [None if number % 7 == 0 else f"t{number % 50:02}" for number in range(500)]
    found = partition(pl.Series("lang", texts))
    names = [*found.names, None]
    assert [names[code] for code in found.codes] == texts


@each_case(
    ("values", "test", "value", "expected"),
    [
        ([1.0, 2.5, None], "=", "1", [True, False, False]),
        ([1.0, 2.5, None], "=", "2.5", [False, True, False]),
        ([1.0, 2.5, None], "!=", "1", [False, True, False]),
        (["1.10", "1.1"], "=", "1.1", [False, True]),
        (["007", "7"], "=", "7", [False, True]),
        (["007", "7"], ">=", "7", [True, True]),
        ([2**62, 2**62 + 1], ">", str(2**62), [False, True]),
        ([1, 2], "<", "1e30", [True, True]),
        ([1, 2], "<", "9" * 30, [True, True]),
        ([1, 2], ">", "1.5", [False, True]),
        (["1", "2.5", "nan"], ">", "1.5", [False, True, False]),
    ],
)
def test_texts_and_numbers(values: list[Any], test: str, value: str, expected: list[bool]) -> None:
    """Texts are compared as they are written; whole numbers in decimal columns have no point."""
    assert members(pl.Series("c", values), chosen("c", test, value)).tolist() == expected


def test_what_a_column_cannot_do() -> None:
    with pytest.raises(DataError, match="column 'age' is not numeric: 1, at data row 2"):
        members(pl.Series("age", ["1", "old"]), chosen("age", ">=", "65"))
    with pytest.raises(DataError, match=r"\[age>=old\] compares with a value that is not a number"):
        members(pl.Series("age", [1]), chosen("age", ">=", "old"))
    with pytest.raises(DataError, match="has 1,001 different values: \\* makes at most 1,000"):
        values_of(pl.int_range(1001, eager=True).alias("c"))
