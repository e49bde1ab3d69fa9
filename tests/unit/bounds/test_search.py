"""Searches for a smallest size and for the edge of an inequality."""

from __future__ import annotations

import math
import operator
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.bounds.arrays import BoolArray, IntArray
from easeci.bounds.search import excess, first_lasting, last_within, smallest


def test_first_lasting_looks_below_what_is_certified() -> None:
    good = {1, 2, 9, 11, 12, 13}
    found = first_lasting(14, lambda sizes, _: np.isin(sizes, list(good)), chunk=2, widest=1)
    assert found == 11
    assert first_lasting(14, lambda sizes, _: sizes > 0, chunk=5, widest=1) == 1


@given(st.sets(st.integers(1, 3_000)), st.integers(3_001, 5_000), st.integers(1, 40), st.data())
@settings(max_examples=80, deadline=None, derandomize=True)
def test_spans_find_what_asking_every_size_finds(
    bad: set[int], certified: int, chunk: int, data: st.DataObject
) -> None:
    """The result is the same whichever spans qualify, and for every largest width."""
    reluctant = data.draw(st.integers(0, 7))

    def qualify(lows: IntArray, highs: IntArray) -> BoolArray:
        spans = list(zip(lows.tolist(), highs.tolist(), strict=True))
        assert all(1 <= low <= high < certified for low, high in spans)
        granted = [bad.isdisjoint(range(low, high + 1)) for low, high in spans]
        hesitant = [low < high and reluctant > 0 and low % 8 < reluctant for low, high in spans]
        return np.array(granted, dtype=np.bool_) & ~np.array(hesitant, dtype=np.bool_)

    assert first_lasting(certified, qualify, chunk=chunk) == max(bad, default=0) + 1


def test_spans_are_few_where_all_is_granted() -> None:
    asked = []

    def qualify(lows: IntArray, highs: IntArray) -> BoolArray:
        asked.append(len(highs))
        return np.asarray(lows > 10)

    assert first_lasting(10**9, qualify) == 11
    assert sum(asked) < 2_000


@given(st.floats(-50, 50), st.floats(0.01, 5.0), st.booleans())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_last_within_never_crosses(root: float, power: float, mirrored: bool) -> None:
    sign = -1.0 if mirrored else 1.0

    def excess(x: float) -> float:
        return math.copysign(abs(sign * x - root) ** power, sign * x - root)

    found = last_within(excess, -sign * 60.0, sign * 60.0)
    assert excess(found) <= 0.0
    assert excess(found) >= -1e-12 or sign * found == pytest.approx(root, abs=1e-12)


def test_bisection_finds_what_a_scan_finds() -> None:
    """For every place where ``holds`` may turn true, or if it never does."""
    for low, high in ((0, 0), (0, 9), (-3, 5)):
        for edge in range(low - 1, high + 3):
            expected = next((i for i in range(low, high) if i >= edge), high)
            assert smallest(partial(operator.le, edge), low, high) == expected


@given(st.floats(-1e6, 0.0), st.floats(-1e6, -1e-6))
def test_excess_has_the_sign_of_the_difference(tail: float, level: float) -> None:
    """A tail counts as within its level exactly if it is at most the level."""
    assert (excess(tail, level) > 0.0) == (tail > level)
    assert (excess(tail, level) < 0.0) == (tail < level)
    assert excess(-math.inf, level) < 0.0
