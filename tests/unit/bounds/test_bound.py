"""Hoeffding and Bennett: the claim itself, and that the three functions are inverses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from easeci.bounds import Bennett, Bound, Hoeffding
from easeci.bounds.bennett import inverse_rate, rate
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


@each_case("mean", [0.001, 0.02, 0.1, 0.5, 0.9])
@each_case("size", [1, 7, 50, 400])
@each_case("tolerance", [0.01, 0.1, 0.3])
def test_no_binomial_tail_exceeds_a_bound(mean: float, size: int, tolerance: float) -> None:
    """The bound is above the exact tail of a Bernoulli mean, for one and two sides."""
    counts = np.arange(size + 1)
    masses = stats.binom.pmf(counts, size, mean)
    above = masses[counts / size - mean > tolerance + 1e-12].sum()
    below = masses[mean - counts / size > tolerance + 1e-12].sum()
    for upper, bound in (
        (above, Hoeffding(1.0, 1)),
        (below, Hoeffding(1.0, 1)),
        (above + below, Hoeffding(1.0, 2)),
        (above, Bennett(mean, 1.0, 1)),
        (above + below, Bennett(mean, 1.0, 2)),
    ):
        assert upper <= math.exp(bound.tail(size, tolerance)) * (1 + 1e-12)


@each_case(("better", "worse"), [(0.3, 0.1), (0.05, 0.15), (0.0, 0.2)])
@each_case("size", [5, 40])
def test_no_trinomial_tail_exceeds_bennett(better: float, worse: float, size: int) -> None:
    """Against exact enumeration of n − o with gains and losses, whose second moment is their sum."""
    mean = better - worse
    off = 0.0
    for gains in range(size + 1):
        for losses in range(size + 1 - gains):
            if abs((gains - losses) / size - mean) > 0.15 + 1e-12:
                rest = size - gains - losses
                off += stats.multinomial.pmf(
                    [gains, losses, rest], size, [better, worse, 1 - better - worse]
                )
    assert off <= math.exp(Bennett(better + worse).tail(size, 0.15))


@given(st.floats(1e-12, 1e9))
def test_the_rate_is_exact_for_small_and_large_arguments(u: float) -> None:
    """h(u) against the integral of ln(1 + t), bounded by u²/2 − u³/6 ≤ h(u) ≤ u²/2."""
    assert rate(u) <= u * u / 2 * (1 + 1e-12)
    if u < 0.5:
        assert rate(u) >= (u * u / 2 - u**3 / 6) * (1 - 1e-12)
    assert inverse_rate(rate(u)) == pytest.approx(u, rel=1e-7)


def test_the_series_and_the_closed_form_meet() -> None:
    below, above = rate(0.00999999999), rate(0.01000000001)
    assert above == pytest.approx(below, rel=1e-8)


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
