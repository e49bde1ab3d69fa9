"""Hoeffding and Bennett: the claim itself, and that the three functions are inverses."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeci.bounds import Bennett, Bound, Hoeffding
from easeci.bounds.bound import round_up
from tests.cases import each_case

bounds: st.SearchStrategy[Bound] = st.one_of(
    st.builds(Hoeffding, st.floats(0.1, 10.0), st.sampled_from([1, 2])),
    st.builds(
        lambda share, magnitude, sides: Bennett(share * magnitude**2, magnitude, sides),
        st.floats(0.001, 1.0),
        st.floats(0.1, 10.0),
        st.sampled_from([1, 2]),
    ),
)
levels = st.floats(-80_000.0, -0.8)
tolerances = st.floats(1e-4, 0.5)


@given(bounds, tolerances, levels)
def test_sample_size_is_the_smallest_that_suffices(
    bound: Bound, tolerance: float, log_delta: float
) -> None:
    """tail(sample_size) ≤ δ, and one example fewer is not enough."""
    size = bound.sample_size(tolerance, log_delta)
    noise = 1e-9 * abs(log_delta)
    assert bound.tail(size, tolerance) <= log_delta + noise
    if size > 1:
        assert bound.tail(size - 1, tolerance) > log_delta - noise


@given(bounds, st.integers(1, 10**9), levels)
def test_tolerance_undoes_tail(bound: Bound, size: int, log_delta: float) -> None:
    tolerance = bound.tolerance(size, log_delta)
    assert bound.tail(size, tolerance) == pytest.approx(log_delta, rel=1e-9)


@given(bounds, st.integers(1, 10**7), levels)
def test_sample_size_undoes_tolerance(bound: Bound, size: int, log_delta: float) -> None:
    """The tolerance of N examples needs N examples: rounding noise never adds one."""
    assert bound.sample_size(bound.tolerance(size, log_delta), log_delta) <= size + 1
    assert bound.sample_size(bound.tolerance(size, log_delta) * (1 + 1e-9), log_delta) <= size


def test_rounding_is_always_up() -> None:
    assert [round_up(x) for x in (0.2, 1.0, 1.0000001, 99.5, 100.0 + 1e-11)] == [1, 1, 2, 100, 100]


@each_case("log_delta", [0.0, 1.0, math.nan])
def test_levels_must_be_probabilities(log_delta: float) -> None:
    for bound in (Hoeffding(), Bennett(0.1)):
        with pytest.raises(ValueError, match="negative"):
            bound.sample_size(0.1, log_delta)
        with pytest.raises(ValueError, match="negative"):
            bound.tolerance(10, log_delta)


def test_impossible_bounds_are_refused() -> None:
    with pytest.raises(ValueError, match="range"):
        Hoeffding(0.0)
    with pytest.raises(ValueError, match="second moment"):
        Bennett(1.5, 1.0)
