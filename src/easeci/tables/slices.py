"""Slices: which examples a condition means by ``[lang=de]``, ``[age>=65]`` or ``[lang=*]``.

Slices are made by columns of the examples, never by labels: which examples count must be known
before any label is. ``=`` and ``!=`` compare texts, where 3 and "3" are equal, and the other tests
compare numbers. An example without a value in a column is in none of its slices.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from easeci.errors import DataError
from easeci.script.syntax import Slice, SliceTest
from easeci.tables.column import as_text, by_number, shortened
from easeci.tables.order import Positions

MOST_VALUES = 1_000
"""A column with more different values than this makes no slices by ``*``."""
HASH_BITS = 20
LARGEST_WHOLE = 2**63 - 1

Members = npt.NDArray[np.bool_]
_COMPARE: dict[SliceTest, Callable[[Any, Any], Any]] = {
    SliceTest.AT_LEAST: operator.ge,
    SliceTest.AT_MOST: operator.le,
    SliceTest.ABOVE: operator.gt,
    SliceTest.BELOW: operator.lt,
}


@dataclass(frozen=True)
class Partition:
    """The examples divided by the value of a column.

    ``codes`` are places in ``names``. An example without a value has the code ``len(names)``.
    """

    names: tuple[str, ...]
    codes: npt.NDArray[np.uint16]

    @cached_property
    def positions(self) -> tuple[Positions, ...]:
        """The rising positions of the examples with each name, all found in one pass."""
        order = np.argsort(self.codes, kind="stable")  # linear in time for 16 bits
        ends = np.arange(1, len(self.names) + 1, dtype=np.uint16)  # the codes after each name
        return tuple(np.split(order, np.searchsorted(self.codes, ends, sorter=order))[:-1])


@dataclass(frozen=True)
class ExampleSlices:
    """The columns that slices are made by, and the order in which the examples are wanted."""

    columns: pl.DataFrame
    """Int64, Float64 or String, in the order of a file; null where there is no value."""
    order: Positions | None = None
    """Rows of the columns; None for the order of the file."""
    _partitions: dict[str, Partition] = field(default_factory=dict, compare=False, repr=False)

    def ordered(self, order: Positions) -> ExampleSlices:
        """The same examples, with row ``order[0]`` of the file first."""
        if self.order is not None:
            return ExampleSlices(self.columns).ordered(order)
        known = {
            name: Partition(found.names, found.codes[order])
            for name, found in self._partitions.items()
        }
        return ExampleSlices(self.columns, order, known)

    def values_of(self, column: str) -> list[str]:
        """The values that ``*`` stands for. DataError if they are too many."""
        return list(self.partition(column).names)

    def partition(self, column: str) -> Partition:
        """The examples divided by a column, computed once: all its slices come from one pass."""
        known = self._partitions.get(column)
        if known is None:
            known = partition(self.columns[column])
            if self.order is not None:
                known = Partition(known.names, known.codes[self.order])
            self._partitions[column] = known
        return known

    def members(self, chosen: Slice) -> Members:
        """Which examples are in a slice; for ``*``, which have any value."""
        known = self._partitions.get(chosen.column)
        if known is not None and not chosen.test.is_numeric:
            return _members_of(known, chosen)
        found = members(self.columns[chosen.column], chosen)
        return found if self.order is None else found[self.order]

    def positions(self, chosen: Slice) -> Positions:
        """The rising positions of the examples in a slice."""
        known = self._partitions.get(chosen.column)
        if known is not None and chosen.test is SliceTest.EQUAL and chosen.value in known.names:
            return known.positions[known.names.index(chosen.value)]
        return np.flatnonzero(self.members(chosen))


def _members_of(known: Partition, chosen: Slice) -> Members:
    has_value: Members = known.codes < len(known.names)
    if chosen.every:
        return has_value
    place = known.names.index(chosen.value) if chosen.value in known.names else len(known.names)
    equal: Members = known.codes == place
    return has_value & (equal if chosen.test is SliceTest.EQUAL else ~equal)


def members(values: pl.Series, chosen: Slice) -> Members:
    """Which examples are in a slice, by the values of its column; for ``*``, which have any value.

    DataError for a test of numbers if the column holds other texts.
    """
    if chosen.every:
        return values.is_not_null().to_numpy()
    if chosen.test.is_numeric:
        found: pl.Series = _COMPARE[chosen.test](numbers_of(values), _bound(chosen))
    else:
        equal = _equal(values, chosen.value)
        found = equal if chosen.test is SliceTest.EQUAL else ~equal
    return (found & values.is_not_null()).fill_null(False).to_numpy()


def _equal(values: pl.Series, value: str) -> pl.Series:
    if values.dtype == pl.String:
        return values == value
    # Numbers are compared as they are spelt; few of them are different.
    distinct = values.unique().drop_nulls()
    return values.is_in(distinct.filter(texts_of(distinct) == value).implode())


def texts_of(values: pl.Series) -> pl.Series:
    """Values as a condition spells them: whole numbers without a point, also in decimal columns."""
    texts = as_text(values)
    return texts.str.strip_suffix(".0") if values.dtype == pl.Float64 else texts


def _bound(chosen: Slice) -> int | float:
    try:
        whole = int(chosen.value)
        return whole if abs(whole) <= LARGEST_WHOLE else float(whole)
    except (ValueError, OverflowError):
        pass
    try:
        return float(chosen.value)
    except ValueError:
        raise DataError(
            f"the slice {shortened(str(chosen))} compares with a value that is not a number",
            hint="Tests such as >= compare numbers; = and != compare texts.",
        ) from None


def numbers_of(values: pl.Series) -> pl.Series:
    """Values as numbers. DataError if a text is not a number."""
    if values.dtype != pl.String:
        return values
    whole = values.cast(pl.Int64, strict=False)
    if whole.null_count() == values.null_count():
        return whole
    numbers = values.cast(pl.Float64, strict=False)
    bad = numbers.is_null() & values.is_not_null()
    if bad.any():
        raise DataError(
            f"column '{shortened(values.name)}' is not numeric: {by_number(bad)}",
            hint="Tests such as >= compare numbers; = and != compare texts.",
        )
    return numbers.fill_nan(None)


def values_of(values: pl.Series) -> list[str]:
    """The different values of a column as texts, sorted. DataError if they are too many."""
    return [name for name, _ in _named_values(values)]


def partition(values: pl.Series) -> Partition:
    """The examples divided by the value of a column, in one pass. DataError for too many values."""
    named = _named_values(values)
    names = tuple(name for name, _ in named)
    distinct = pl.Series([value for _, value in named], dtype=values.dtype)
    codes = _hashed_codes(values, distinct) if values.dtype == pl.String else None
    if codes is None:
        places = pl.Series(range(len(names)), dtype=pl.UInt16)
        codes = values.replace_strict(
            distinct, places, default=len(names), return_dtype=pl.UInt16
        ).to_numpy()
    return Partition(names, codes)


def _hashed_codes(texts: pl.Series, distinct: pl.Series) -> npt.NDArray[np.uint16] | None:
    """The place of each text among the distinct ones, and their number where there is no text.

    Found by 20 bits of polars' own hash, which is the quickest way. None if these bits are the same
    for two of the distinct texts, or if the hash of a text is not always the same.
    """
    known = _buckets(pl.concat([distinct, pl.Series([None], dtype=pl.String)]))
    if len(np.unique(known)) < len(known):
        return None
    place_of = np.full(1 << HASH_BITS, len(known), np.uint16)
    place_of[known] = np.arange(len(known))
    codes = place_of[_buckets(texts)]
    return None if len(codes) and codes.max() == len(known) else codes


def _buckets(texts: pl.Series) -> npt.NDArray[np.uint64]:
    return np.asarray(texts.hash().to_numpy() >> np.uint64(64 - HASH_BITS))


def _named_values(values: pl.Series) -> list[tuple[str, Any]]:
    """The different values with their texts, in the order of the texts; numbers by their value."""
    distinct = values.unique().drop_nulls()
    if len(distinct) > MOST_VALUES:
        raise DataError(
            f"column '{shortened(values.name)}' has {len(distinct):,} different values: * makes at "
            f"most {MOST_VALUES:,} slices",
            hint="Use a column with fewer values, or name the slices that matter.",
        )
    pairs = zip(texts_of(distinct).to_list(), distinct.to_list(), strict=True)
    return sorted(pairs, key=lambda pair: value_rank(pair[0]))


def value_rank(text: str) -> tuple[bool, int, str]:
    """Sorts whole numbers by their value, and before all texts."""
    digits = text.isascii() and text.isdigit()
    return not digits, int(text) if digits else 0, text
