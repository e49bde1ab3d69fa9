"""Exact binomial tails, limits and sample sizes, against sums that share no code with them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.bounds import binomial
from easeci.bounds.arrays import FloatArray
from easeci.bounds.beta import log_incomplete_beta
from easeci.bounds.hoeffding import Hoeffding
from tests.cases import each_case

LN_DELTA = math.log(1e-4)
LN2 = math.log(2.0)
LEVEL = LN_DELTA - 5 * LN2  # 1e-4 / 32


def exact_tail(k: int, n: int, p: Fraction) -> Fraction:
    """P(X >= k), in fractions."""
    return sum(
        (math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(max(k, 0), n + 1)), Fraction(0)
    )


def tails_of(pmf: FloatArray) -> FloatArray:
    """P(X >= k) for k = 0 … n + 1."""
    return np.append(np.cumsum(pmf[::-1])[::-1], 0.0)


def all_tails(n: int, p: float) -> FloatArray:
    return tails_of(np.array([math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]))


# --- figures -----------------------------------------------------------------------------------


@each_case(
    ("log_delta", "expected"),
    [(LN_DELTA, 34_677), (LEVEL, 51_124), (LN_DELTA - 32 * LN2, 142_272)],
)
def test_deviation_figures(log_delta: float, expected: int) -> None:
    assert binomial.deviation_sample_size(0.01, log_delta) == expected


@each_case(
    ("threshold", "log_beta", "expected"),
    [
        (0.8, LEVEL, 31_471),
        (0.9, LEVEL, 16_743),
        (0.95, LEVEL, 7_788),
        (0.8, math.log(0.05), 14_787),
        (0.9, math.log(0.05), 7_969),
        (0.95, math.log(0.05), 3_804),
    ],
)
def test_contract_figures(threshold: float, log_beta: float, expected: int) -> None:
    assert binomial.contract_sample_size(threshold, 0.01, LEVEL, log_beta) == expected


# --- tails -------------------------------------------------------------------------------------


@given(st.integers(1, 40), st.data())
@settings(max_examples=150, deadline=None, derandomize=True)
def test_tails_agree_with_fractions(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(-1, n + 1))
    p = Fraction(data.draw(st.integers(1, 99)), 100)
    above, below = exact_tail(k + 1, n, p), 1 - exact_tail(k + 1, n, p)
    for value, exact in (
        (binomial.log_sf(k, n, float(p)), above),
        (binomial.log_cdf(k, n, float(p)), below),
    ):
        if exact == 0:
            assert value == -math.inf
        else:
            assert float(value) == pytest.approx(math.log(exact), rel=1e-12, abs=1e-13)


@given(st.floats(0.02, 0.98), st.floats(0.001, 1.0), st.floats(0.5, 5_000.0), st.floats(1.001, 3.0))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_a_tail_at_a_fixed_share_falls_with_the_sample_size(
    p: float, where: float, n: float, factor: float
) -> None:
    """This certifies the contract's sample size, so it must hold for real N too."""
    x = p + where * (1.0 - p)
    small, large = (
        float(log_incomplete_beta(x * m, (1 - x) * m + 1.0, p)) for m in (n, n * factor)
    )
    assert large <= small + 1e-12


# --- limits ------------------------------------------------------------------------------------


@each_case("alpha", [0.2, 0.05, 0.003])
@each_case("n", [1, 2, 7, 12])
def test_limits_cover(n: int, alpha: float) -> None:
    """By enumeration: a limit is on the wrong side of p with probability at most alpha."""
    lower = np.array([binomial.lower_limit(k, n, math.log(alpha)) for k in range(n + 1)])
    upper = np.array([binomial.upper_limit(k, n, math.log(alpha)) for k in range(n + 1)])
    # The limits themselves are where coverage is tightest.
    for p in np.unique(np.clip(np.concatenate([np.linspace(0, 1, 101), lower, upper]), 0, 1)):
        pmf = -np.diff(all_tails(n, float(p)))
        assert pmf[lower > p].sum() <= alpha + 1e-12
        assert pmf[upper < p].sum() <= alpha + 1e-12


@given(st.integers(1, 10_000_000), st.floats(0.0, 1.0), st.floats(-70_000.0, -0.1))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_limits_invert_the_tails(n: int, where: float, log_alpha: float) -> None:
    k = round(where * n)
    lower, upper = (
        binomial.lower_limit(k, n, log_alpha),
        binomial.upper_limit(k, n, log_alpha),
    )
    assert 0.0 <= lower <= 1.0
    assert 0.0 <= upper <= 1.0
    if lower > 1e-300:  # below, floats have few digits
        assert float(binomial.log_sf(k - 1, n, lower)) <= log_alpha
        assert float(binomial.log_sf(k - 1, n, min(1.0, lower * (1 + 1e-9)))) > log_alpha
    if upper < 1.0:
        assert float(binomial.log_cdf(k, n, upper)) <= log_alpha
        # Next to 1 the floats themselves are no finer than 1e-16.
        tighter = upper - 1e-9 * min(upper, 1 - upper) - 4e-16
        assert float(binomial.log_cdf(k, n, max(tighter, 0.0))) > log_alpha


def test_limits_at_the_ends() -> None:
    assert binomial.lower_limit(0, 10, -5.0) == 0.0
    assert binomial.upper_limit(10, 10, -5.0) == 1.0
    assert binomial.lower_limit(1, 1, math.log(0.05)) == pytest.approx(0.05, rel=1e-11)
    assert binomial.upper_limit(0, 1, math.log(0.05)) == pytest.approx(0.95, rel=1e-11)
    n = 10_000_000
    log_alpha = LN_DELTA - 100 * LN2
    assert binomial.lower_limit(n, n, log_alpha) == pytest.approx(math.exp(log_alpha / n), 1e-12)
    assert binomial.upper_limit(0, n, log_alpha) == pytest.approx(-math.expm1(log_alpha / n), 1e-9)


@each_case("k", [0, 1, 5, 10])
def test_levels_beyond_the_floats_give_trivial_limits(k: int) -> None:
    assert binomial.lower_limit(k, 10, -70_000.0) == 0.0
    assert binomial.upper_limit(k, 10, -70_000.0) == 1.0


# --- the deviation form ------------------------------------------------------------------------


@each_case("tolerance", [0.003, 0.05, 0.1, 0.25, 0.6])
@each_case("n", [1, 2, 5, 16, 60])
def test_deviation_tail_is_the_supremum(n: int, tolerance: float) -> None:
    """The tail is the largest over a fine grid of p, which includes the left side of each jump."""
    jumps = np.arange(n + 1) / n - tolerance
    grid = np.concatenate([np.linspace(0, 1, 501), jumps * (1 - 1e-9)])
    best = 0.0
    for p in grid[(grid >= 0) & (grid <= 1)]:
        exceeding = np.arange(n + 1) / n > p + tolerance
        best = max(best, -np.diff(all_tails(n, float(p)))[exceeding].sum())
    assert math.exp(binomial.deviation_tail(n, tolerance)) == pytest.approx(best, rel=1e-6)


@given(st.integers(10, 800), st.floats(0.0, 1.0))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_the_terms_of_the_deviation_tail_have_one_peak(n: int, where: float) -> None:
    """From N·ε = 2 on the terms rise and then fall, so a search finds their peak."""
    tolerance = 2.0 / n * (0.98 * n / 2.0) ** where
    k = np.arange(math.floor(n * tolerance) + 1, n + 1)
    terms = log_incomplete_beta(k, n - k + 1.0, np.clip(k / n - tolerance, 0, 1))
    assert binomial.deviation_tail(n, tolerance) == pytest.approx(terms.max(), abs=1e-11)
    rising = np.diff(terms) > 1e-12
    assert not np.any(rising[np.argmax(terms) :])


def test_two_peaks_are_told_apart() -> None:
    """At N·ε = 0.7 the terms have two peaks, in the middle and at k = N: every k must be checked."""
    n, tolerance = 200, 0.7 / 200
    k = np.arange(1, n + 1)
    terms = log_incomplete_beta(k, n - k + 1.0, np.clip(k / n - tolerance, 0, 1))
    falls = np.diff(terms) < 0
    assert falls.any()
    assert not falls[-1]
    assert binomial.deviation_tail(n, tolerance) == pytest.approx(terms.max(), abs=1e-12)


@each_case("tolerance", [0.06, 0.1, 0.22, 0.5, 0.9])
@each_case("delta", [0.4, 0.05, 1e-4])
def test_deviation_sample_size_against_all_sizes(tolerance: float, delta: float) -> None:
    log_delta = math.log(delta)
    enough = Hoeffding().sample_size(tolerance, log_delta)
    feasible = [binomial.deviation_tail(n, tolerance) <= log_delta for n in range(1, enough + 10)]
    last_bad = max((n for n, good in enumerate(feasible, start=1) if not good), default=0)
    assert binomial.deviation_sample_size(tolerance, log_delta) == last_bad + 1


@given(st.integers(1, 100_000), st.floats(-50.0, -0.05))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_deviation_tolerance_inverts_the_tail(n: int, log_delta: float) -> None:
    tolerance = binomial.deviation_tolerance(n, log_delta)
    assert binomial.deviation_tail(n, tolerance) <= log_delta
    assert tolerance <= Hoeffding().tolerance(n, log_delta) * (1 + 1e-12)
    if tolerance < 1.0:
        assert binomial.deviation_tail(n, tolerance * (1 - 1e-6)) > log_delta - 1e-3


def test_no_share_exceeds_everything() -> None:
    assert binomial.deviation_tail(7, 1.0) == -math.inf
    assert binomial.deviation_sample_size(1.0, -1e6) == 1


# --- the contract form -------------------------------------------------------------------------


def brute_force_contract(c: float, target: float, alpha: float, beta: float, upto: int) -> int:
    """The smallest size from which on all qualify, by one convolution for each example."""
    last_bad, null, beyond = 0, np.ones(1), np.ones(1)
    for n in range(1, upto):
        null, beyond = np.convolve(null, [1 - c, c]), np.convolve(beyond, [1 - target, target])
        k = int(np.argmax(tails_of(null) <= alpha))
        if beyond[:k].sum() > beta:
            last_bad = n
    return last_bad + 1


@each_case(
    ("threshold", "tolerance", "alpha", "beta"),
    [
        (0.5, 0.1, 0.05, 0.05),
        (0.8, 0.08, 0.05, 0.2),
        (0.05, 0.1, 0.01, 0.1),
        (0.0, 0.05, 0.01, 0.1),
        (0.9, 0.05, 0.01, 0.01),
        (0.3, 0.15, 0.2, 0.001),
        (0.1, 0.4, 0.3, 0.3),
    ],
)
def test_contract_against_all_sizes(
    threshold: float, tolerance: float, alpha: float, beta: float
) -> None:
    found = binomial.contract_sample_size(threshold, tolerance, math.log(alpha), math.log(beta))
    target = min(1.0, threshold + 2 * tolerance)
    upto = Hoeffding().sample_size(tolerance, math.log(min(alpha, beta))) + 5
    assert found == brute_force_contract(threshold, target, alpha, beta, upto)


def test_the_first_size_that_qualifies_is_too_small() -> None:
    """Feasibility is a saw-tooth: some sizes below the result qualify, the one just below doesn't."""

    def qualifies(n: int) -> bool:
        k = binomial.cutoff(n, 0.9, LEVEL)
        return float(binomial.log_cdf(k - 1, n, 0.92)) <= LEVEL

    sizes = range(16_700, 16_800)
    good = [n for n in sizes if qualifies(n)]
    assert not qualifies(16_742)
    assert all(qualifies(n) for n in range(16_743, 16_800))
    assert good[0] < 16_742


@given(st.integers(1, 3_000), st.floats(0.0, 0.99), st.floats(-200.0, -0.02))
@settings(max_examples=80, deadline=None, derandomize=True)
def test_the_cutoff_is_the_smallest_safe_one(n: int, c: float, log_alpha: float) -> None:
    k = binomial.cutoff(n, c, log_alpha)
    assert 0 <= k <= n + 1
    assert float(binomial.log_sf(k - 1, n, c)) <= log_alpha
    if k > 0:
        assert float(binomial.log_sf(k - 2, n, c)) > log_alpha


@each_case("log_level", [LN_DELTA - 100 * LN2, -20_000.0])
def test_contract_at_tiny_levels(log_level: float) -> None:
    n = binomial.contract_sample_size(0.9, 0.01, log_level, log_level)
    k = binomial.cutoff(n, 0.9, log_level)
    assert float(binomial.log_cdf(k - 1, n, 0.92)) <= log_level
    assert n < Hoeffding().sample_size(0.01, log_level)


def test_beyond_a_certain_target_only_safety_counts() -> None:
    """At a target of 1 nothing is missed if N successes of N are enough."""
    n = binomial.contract_sample_size(0.98, 0.01, LEVEL, LEVEL)
    assert n == math.ceil(LEVEL / math.log(0.98))
    assert binomial.contract_sample_size(0.0, 0.5, LEVEL, LEVEL) == 1


@each_case(("threshold", "tolerance"), [(0.9, 0.06), (1.0, 0.01), (-0.1, 0.2), (0.5, 0.0)])
def test_what_cannot_be_reached_is_refused(threshold: float, tolerance: float) -> None:
    with pytest.raises(ValueError, match=r"threshold|tolerance"):
        binomial.contract_sample_size(threshold, tolerance, -5.0, -5.0)


def test_senseless_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="successes"):
        binomial.lower_limit(5, 4, -3.0)
    with pytest.raises(ValueError, match="negative"):
        binomial.upper_limit(1, 4, 0.0)
    with pytest.raises(ValueError, match="tolerance"):
        binomial.deviation_tail(10, 0.0)


@given(st.floats(0.0, 0.7), st.floats(0.1, 0.3), st.floats(-25.0, -0.8), st.floats(-25.0, -0.1))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_contract_is_what_asking_every_size_gives(
    threshold: float, zone: float, log_alpha: float, log_beta: float
) -> None:
    target = threshold + zone
    enough = Hoeffding().sample_size(zone / 2.0, min(log_alpha, log_beta))
    sizes = np.arange(1, enough + 2)
    k = binomial._cutoffs(sizes, threshold, log_alpha)
    failing = sizes[binomial.log_cdf(k - 1, sizes, target) > log_beta]
    found = binomial.contract_sample_size(threshold, zone / 2.0, log_alpha, log_beta)
    assert found == max(failing, default=0) + 1
