"""Exact tests for a paired difference, against enumeration that shares no code with them."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.bounds import binomial, trinomial
from easeci.bounds.arrays import FloatArray
from easeci.bounds.bennett import Bennett
from easeci.bounds.trinomial import PairedCounts
from tests.cases import each_case

LN2 = math.log(2.0)
HALF_LEVEL = math.log(1e-4 / 2) - 5 * LN2  # half of 1e-4, over 32 steps


def exact_tail(n: int, k: int, up: Fraction, down: Fraction) -> Fraction:
    """P(S >= k), in fractions, over the counts of +1 and −1."""
    stay = 1 - up - down
    return sum(
        (
            math.comb(n, i) * math.comb(n - i, j) * up**i * down**j * stay ** (n - i - j)
            for i in range(n + 1)
            for j in range(n - i + 1)
            if i - j >= k
        ),
        Fraction(0),
    )


def law_of_sum(n: int, mean: float, nonzero: float) -> FloatArray:
    """Probabilities of S = −n … n, by convolution."""
    step = np.maximum([(nonzero - mean) / 2, 1 - nonzero, (nonzero + mean) / 2], 0.0)
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, step)
    return law


def summed_log_tail(n: int, k: int, mean: float, nonzero: float) -> float:
    """ln P(S >= k) by summing binomials over the number m of non-zero scores."""
    m = np.arange(max(k, 0), n + 1)
    logs = []
    for count in m:
        weight = (
            math.lgamma(n + 1)
            - math.lgamma(count + 1)
            - math.lgamma(n - count + 1)
            + count * math.log(nonzero)
            + (n - count) * math.log1p(-nonzero)
        )
        needed = -((-count - k) // 2)
        logs.append(weight + float(binomial.log_sf(needed - 1, count, (1 + mean / nonzero) / 2)))
    top = max(logs)
    return top + math.log(math.fsum(math.exp(v - top) for v in logs))


def tails_at(n: int, k: int, mean: float, q: FloatArray) -> FloatArray:
    """P(S >= k) for each q, by adding one score after the other."""
    steps = np.maximum([(q - mean) / 2, 1 - q, (q + mean) / 2], 0.0)
    law = np.ones((1, q.size))
    for _ in range(n):
        law = one_more(law, steps)
    return np.asarray(law[n + k :].sum(axis=0))


def one_more(law: FloatArray, steps: FloatArray) -> FloatArray:
    longer = np.zeros((law.shape[0] + 2, law.shape[1]))
    for shift in range(3):
        longer[shift : shift + law.shape[0]] += law * steps[shift]
    return longer


def dense_worst(n: int, k: int, mean: float, largest: float, points: int = 400) -> float:
    """The largest tail on a grid of q that is finest next to the largest, then around the best."""
    low, high = abs(mean), largest
    q = np.append(
        np.linspace(low, high, points), high - np.geomspace(1e-7, 1.0, points) * (high - low)
    )
    for _ in range(3):
        q = np.unique(np.clip(q, low, high))
        tails = tails_at(n, k, mean, q)
        best = int(np.argmax(tails))
        q = np.linspace(q[max(0, best - 1)], q[min(q.size - 1, best + 1)], 60)
    return float(tails.max())


# --- figures -----------------------------------------------------------------------------------


def test_contract_figure() -> None:
    n = trinomial.contract_sample_size(0.02, 0.01, 0.1, HALF_LEVEL, HALF_LEVEL)
    assert n == 21_558
    assert n < Bennett(0.1).sample_size(0.01, HALF_LEVEL)


def test_the_largest_q_is_not_always_the_worst() -> None:
    assert math.exp(trinomial.tail(5, 4, 0.0, 1.0)) == pytest.approx(0.03125)
    assert math.exp(trinomial.tail(5, 4, 0.0, 0.889)) == pytest.approx(0.0390, abs=5e-5)
    assert math.exp(trinomial.worst_tail(5, 4, 0.0, 1.0)) == pytest.approx(0.039018, abs=1e-6)


# --- tails -------------------------------------------------------------------------------------


@given(st.integers(1, 9), st.data())
@settings(max_examples=120, deadline=None, derandomize=True)
def test_tails_agree_with_fractions(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(-n - 1, n + 1))
    up, down = (
        Fraction(data.draw(st.integers(0, 64)), 128),
        Fraction(data.draw(st.integers(0, 64)), 128),
    )
    exact = exact_tail(n, k, up, down)
    value = trinomial.tail(n, k, float(up - down), float(up + down))
    if exact == 0:
        assert value == -math.inf
    else:
        assert value == pytest.approx(math.log(exact), rel=1e-11, abs=1e-11)


@each_case(
    ("n", "k", "mean", "nonzero"),
    [
        (400, 30, 0.02, 0.1),
        (400, 350, 0.0, 0.3),
        (400, 399, -0.2, 0.9),
        (400, -20, -0.3, 0.999),
        (1500, 75, 0.04, 0.06),
        (1500, 1200, 0.0, 1e-6),
        (1500, 3, 0.0, 0.5),
    ],
)
def test_tails_agree_with_sums_of_binomials(n: int, k: int, mean: float, nonzero: float) -> None:
    expected = summed_log_tail(n, k, mean, nonzero)
    assert trinomial.tail(n, k, mean, nonzero) == pytest.approx(expected, rel=1e-12, abs=1e-9)


@given(st.integers(1, 10_000_000), st.floats(0.0, 1.0), st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_tails_are_probabilities_that_fall(
    n: int, nonzero: float, skew: float, where: float
) -> None:
    k = round(where * n)
    values = [trinomial.tail(n, j, skew * nonzero, nonzero) for j in (k - 1, k, k + 1)]
    assert all(v <= 0.0 for v in values)
    assert all(b <= a + 1e-8 for a, b in pairwise(values))


def test_tails_without_one_of_the_scores() -> None:
    """If −1 (or +1) can't happen the sum is binomial."""
    assert trinomial.tail(50, 9, 0.1, 0.1) == float(binomial.log_sf(8, 50, 0.1))
    assert trinomial.tail(50, -3, -0.1, 0.1) == pytest.approx(float(binomial.log_cdf(3, 50, 0.1)))
    assert trinomial.tail(1, 1, 0.0, 1.0) == pytest.approx(-LN2)
    assert trinomial.tail(1, 0, 0.0, 0.0) == 0.0
    assert trinomial.tail(1, 1, 0.0, 0.0) == -math.inf


# --- the supremum over q -----------------------------------------------------------------------


@given(st.integers(1, 30), st.floats(0.01, 1.0), st.floats(-1.0, 1.0), st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_the_worst_tail_is_the_supremum(
    n: int, largest: float, skew: float, data: st.DataObject
) -> None:
    mean = skew * largest
    k = data.draw(st.integers(min(n, math.floor(n * mean) + 1), n))
    worst = math.exp(trinomial.worst_tail(n, k, mean, largest))
    if k <= n * mean:
        assert worst == 1.0
    else:
        assert worst == pytest.approx(dense_worst(n, k, mean, largest), rel=1e-6, abs=1e-290)


@each_case(
    ("n", "k", "mean", "largest"),
    [
        (5, 4, 0.0, 1.0),
        (6, 4, 0.0, 1.0),
        (7, 4, 0.0, 1.0),
        (9, 3, 0.3, 0.95),
        (40, 25, 0.5, 1.0),
        (5, 1, 0.001, 0.002),
        (150, 30, 0.02, 1.0),
        (151, 30, 0.02, 1.0),
        (150, 30, 0.02, 0.999),
    ],
)
def test_the_worst_tail_where_the_largest_q_is_not_enough(
    n: int, k: int, mean: float, largest: float
) -> None:
    worst, dense = trinomial.worst_tail(n, k, mean, largest), dense_worst(n, k, mean, largest)
    assert math.log(dense) - 1e-11 <= worst <= math.log(dense) + 1e-7


@given(
    st.integers(2, 60), st.floats(-1.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.data()
)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_the_tail_grows_with_q_while_the_roots_are_real(
    n: int, mean: float, one: float, other: float, data: st.DataObject
) -> None:
    low, high = sorted((one, other))
    top = (1 + mean * mean) / 2
    low, high = (abs(mean) + share * (top - abs(mean)) for share in (low, high))
    start = math.ceil((n - 1) * mean) + 1
    k = data.draw(st.integers(min(start, n), n))
    if k >= start:
        tails = (law_of_sum(n, mean, q)[n + k :].sum() for q in (low, high))
        small, large = tails
        assert small <= large * (1 + 1e-9) + 1e-15


def test_smaller_means_are_dominated() -> None:
    """The hypothesis is Φ <= c, not only Φ = c."""
    at_c = math.exp(trinomial.worst_tail(8, 4, 0.2, 0.9))
    for mean in np.linspace(-0.9, 0.2, 23):
        for q in np.linspace(abs(mean), 0.9, 40):
            assert law_of_sum(8, float(mean), float(q))[8 + 4 :].sum() <= at_c * (1 + 1e-9)


@each_case("mean", [0.0, 0.02, 0.3, -0.02, -0.1, -0.3])
@each_case("share", [0.1, 0.6, 1.0])
def test_how_a_tail_moves_with_the_sample_size(mean: float, share: float) -> None:
    """What lets one answer stand for a span of sizes: by convolution, while the roots are real.

    For totals from 1 on it rises if Φ >= 0, and otherwise rises and then falls.
    """
    q = abs(mean) + share * ((1 + mean * mean) / 2 - abs(mean))
    step = np.maximum([(q - mean) / 2, 1 - q, (q + mean) / 2], 0.0)
    law, tails = np.ones(1), []
    for n in range(1, 121):
        law = np.convolve(law, step)
        tails.append([law[n + k :].sum() if k <= n else 0.0 for k in range(1, 13)])
    for of_one_total in np.array(tails).T:
        moves = np.diff(of_one_total)
        noise = 1e-13
        if mean >= 0.0:
            assert (moves >= -noise).all()
        else:
            falls = np.flatnonzero(moves < -noise)
            assert not falls.size or (moves[falls[0] :] <= noise).all()


# --- the contract form -------------------------------------------------------------------------


def brute_force_contract(
    c: float, target: float, largest: float, alpha: float, beta: float, upto: int
) -> int:
    """The last N without a cut-off, plus one; the supremum on a grid of q."""

    def steps(mean: float) -> FloatArray:
        q = np.append(np.linspace(abs(mean), largest, 120), largest - np.geomspace(1e-4, 0.1, 60))
        q = q[q >= abs(mean)]
        return np.maximum([(q - mean) / 2, 1 - q, (q + mean) / 2], 0.0)

    null_steps, beyond_steps = steps(c), steps(target)
    null, beyond = (np.ones((1, s.shape[1])) for s in (null_steps, beyond_steps))
    last_bad = 0
    for n in range(1, upto):
        null, beyond = one_more(null, null_steps), one_more(beyond, beyond_steps)
        tails = np.append(np.cumsum(null[::-1], axis=0)[::-1].max(axis=1), 0.0)
        k = int(np.argmax(tails <= alpha))
        if beyond[:k].sum(axis=0).max() > beta:
            last_bad = n
    return last_bad + 1


@each_case(
    ("threshold", "tolerance", "largest", "alpha", "beta"),
    [
        (0.05, 0.1, 0.4, 0.05, 0.05),
        (-0.1, 0.1, 0.3, 0.05, 0.1),
        (-0.3, 0.1, 0.5, 0.1, 0.05),
        (0.0, 0.1, 0.2, 0.1, 0.05),
        (0.1, 0.15, 0.9, 0.1, 0.1),
        (0.0, 0.2, 1.0, 0.05, 0.05),
        (0.5, 0.25, 1.0, 0.01, 0.01),
        (-0.2, 0.2, 0.2, 0.01, 0.01),
    ],
)
def test_contract_against_all_sizes(
    threshold: float, tolerance: float, largest: float, alpha: float, beta: float
) -> None:
    found = trinomial.contract_sample_size(
        threshold, tolerance, largest, math.log(alpha), math.log(beta)
    )
    target = min(threshold + 2 * tolerance, largest)
    expected = brute_force_contract(threshold, target, largest, alpha, beta, 2 * found + 20)
    assert found == expected


@each_case(("threshold", "largest"), [(-0.02, 0.1), (0.0, 0.1), (0.05, 0.1), (0.02, 0.7)])
def test_contract_keeps_both_promises_from_its_size_on(threshold: float, largest: float) -> None:
    level = math.log(1e-3)
    n = trinomial.contract_sample_size(threshold, 0.02, largest, level, level)

    def missed(size: int) -> float:
        k = trinomial.cutoff(size, threshold, largest, level)
        assert trinomial.worst_tail(size, k, threshold, largest) <= level
        return trinomial.worst_tail(size, 1 - k, -threshold - 0.04, largest)

    assert missed(n - 1) > level
    for size in (n, n + 1, n + 7, n + 50, 2 * n):
        assert missed(size) <= level


@given(
    st.floats(0.02, 0.5),
    st.floats(-0.95, 0.7),
    st.floats(0.1, 0.9),
    st.floats(-12.0, -0.8),
    st.floats(-12.0, -0.8),
)
@settings(max_examples=15, deadline=None, derandomize=True)
def test_contract_is_what_asking_every_size_gives(
    largest: float, skew: float, where: float, log_alpha: float, log_beta: float
) -> None:
    """The result agrees with checks of single sizes around it, below and above."""
    threshold = skew * largest
    tolerance = max(0.03, where * (largest - threshold) / 2.0)
    if threshold + 2.0 * tolerance > largest:
        return
    found = trinomial.contract_sample_size(threshold, tolerance, largest, log_alpha, log_beta)

    def qualifies(n: int) -> bool:
        k = trinomial.cutoff(n, threshold, largest, log_alpha)
        missed = trinomial.worst_tail(n, 1 - k, -(threshold + 2.0 * tolerance), largest)
        return k <= n and missed <= log_beta

    assert found == 1 or not qualifies(found - 1)
    assert all(qualifies(n) for n in range(found, found + 20))


def test_contract_at_tiny_levels() -> None:
    """The size is a little below Bennett's, at the levels of 100 and of 100,000 steps."""
    for level in (math.log(1e-4) - 101 * LN2, -70_000.0):
        n = trinomial.contract_sample_size(0.02, 0.01, 0.1, level, level)
        assert 0.8 < n / Bennett(0.1, sides=1).sample_size(0.01, level) < 1.0


def test_contract_at_the_end_of_the_range() -> None:
    level = math.log(1e-3)
    # All scores are +1 beyond the zone, so only P(S = N) at the threshold counts.
    expected = math.ceil(level / math.log((1 + 0.9) / 2))
    assert trinomial.contract_sample_size(0.9, 0.05, 1.0, level, level) == expected
    # Below it all are −1, so one score of another kind gives it away.
    assert trinomial.contract_sample_size(-1.0, 1.0, 1.0, level, level) == 1


@each_case(
    ("threshold", "tolerance", "largest"),
    [(0.09, 0.01, 0.1), (0.1, 0.01, 0.1), (-0.2, 0.1, 0.1), (0.0, 0.01, 0.0), (0.0, -0.1, 0.5)],
)
def test_what_cannot_be_reached_is_refused(
    threshold: float, tolerance: float, largest: float
) -> None:
    with pytest.raises(ValueError, match=r"threshold|difference|tolerance"):
        trinomial.contract_sample_size(threshold, tolerance, largest, -5.0, -5.0)


def test_senseless_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="mean"):
        trinomial.tail(5, 1, 0.5, 0.2)
    with pytest.raises(ValueError, match="mean"):
        trinomial.worst_tail(5, 1, -0.5, 0.2)
    with pytest.raises(ValueError, match="threshold"):
        trinomial.cutoff(5, 0.5, 0.2, -3.0)
    with pytest.raises(ValueError, match="counts"):
        PairedCounts(3, 3, 5)
    with pytest.raises(ValueError, match="sum"):
        trinomial.lower_limit(6, 5, 0.5, -3.0)
    with pytest.raises(ValueError, match="share"):
        trinomial.lower_limit_free(PairedCounts(3, 1, 5), -3.0, share=1.0)


# --- limits ------------------------------------------------------------------------------------


def grid_of_truths(largest: float) -> list[tuple[float, float]]:
    return [
        (float(skew * q), float(q))
        for q in np.append(np.linspace(0.0, largest, 9), largest * 0.985)
        for skew in (-1.0, -0.7, -0.3, 0.0, 0.2, 0.6, 0.95, 1.0)
    ]


@each_case("largest", [0.3, 0.7, 1.0])
@each_case(("n", "alpha"), [(1, 0.2), (5, 0.1), (10, 0.05)])
def test_limits_cover(n: int, largest: float, alpha: float) -> None:
    """By enumeration: a limit is on the wrong side of Φ with probability at most alpha."""
    totals = range(-n, n + 1)
    lower = np.array([trinomial.lower_limit(s, n, largest, math.log(alpha)) for s in totals])
    upper = -lower[::-1]
    assert np.all(np.diff(lower) >= -1e-9)
    truths = grid_of_truths(largest)
    # Just beside a limit is where coverage is tightest.
    truths += [(float(c), max(largest, abs(float(c)))) for c in np.clip(lower, -1, 1) - 1e-9]
    for mean, q in truths:
        if abs(mean) <= q <= largest:
            law = law_of_sum(n, mean, q)
            assert law[lower > mean].sum() <= alpha * (1 + 1e-6)
            assert law[upper < mean].sum() <= alpha * (1 + 1e-6)


@each_case(("n", "alpha", "share"), [(1, 0.3, 0.05), (3, 0.2, 0.3), (6, 0.1, 0.05)])
def test_free_limits_cover_whatever_q_is(n: int, alpha: float, share: float) -> None:
    outcomes = [(i, j) for i in range(n + 1) for j in range(n + 1 - i)]
    counts = [PairedCounts(i, j, n) for i, j in outcomes]
    lower = np.array([trinomial.lower_limit_free(c, math.log(alpha), share) for c in counts])
    upper = -np.array([lower[counts.index(c.mirrored())] for c in counts])
    ways = np.array([math.comb(n, i) * math.comb(n - i, j) for i, j in outcomes])
    i, j = np.array(outcomes).T
    for mean, q in grid_of_truths(1.0):
        up, down = (q + mean) / 2, max(0.0, (q - mean) / 2)
        law = ways * up**i * down**j * (1 - q) ** (n - i - j)
        assert law.sum() == pytest.approx(1.0)
        assert law[lower > mean].sum() <= alpha
        assert law[upper < mean].sum() <= alpha


@given(st.integers(1, 10_000_000), st.floats(-1.0, 1.0), st.floats(0.001, 0.5),
       st.floats(-500.0, -1.0))  # fmt: skip
@settings(max_examples=30, deadline=None, derandomize=True)
def test_limits_invert_the_worst_tail(
    n: int, where: float, largest: float, log_alpha: float
) -> None:
    total = round(where * largest * n)
    limit = trinomial.lower_limit(total, n, largest, log_alpha)
    assert -largest <= limit <= min(largest, max(total / n, -largest))
    if -largest < limit < largest:
        assert trinomial.worst_tail(n, total, limit, largest) <= log_alpha
        assert trinomial.worst_tail(n, total, min(largest, limit + 1e-6), largest) > log_alpha


def test_a_passing_sum_has_its_limit_above_the_threshold() -> None:
    """Cut-off and limit agree on which sums pass."""
    k = trinomial.cutoff(21_558, 0.02, 0.1, HALF_LEVEL)
    assert trinomial.lower_limit(k, 21_558, 0.1, HALF_LEVEL) >= 0.02 - 1e-12
    assert trinomial.lower_limit(k - 1, 21_558, 0.1, HALF_LEVEL) < 0.02


def test_free_limits_cost_little() -> None:
    """Not knowing q makes the interval at most 7% longer."""
    counts = PairedCounts(1400, 750, 21_558)
    known = trinomial.lower_limit(counts.total, 21_558, 0.1, HALF_LEVEL)
    free = trinomial.lower_limit_free(counts, HALF_LEVEL)
    estimate = counts.total / 21_558
    assert known > free
    assert estimate - free < 1.07 * (estimate - known)


@each_case("log_alpha", [math.log(1e-4) - 100 * LN2, -70_000.0])
@each_case(
    "counts", [PairedCounts(0, 0, 10), PairedCounts(10, 0, 10), PairedCounts(0, 10, 10),
               PairedCounts(1, 0, 1), PairedCounts(60_000, 50_000, 1_000_000)]
)  # fmt: skip
def test_limits_at_tiny_levels(counts: PairedCounts, log_alpha: float) -> None:
    lower = trinomial.lower_limit_free(counts, log_alpha)
    upper = -trinomial.lower_limit_free(counts.mirrored(), log_alpha)
    estimate = counts.total / counts.sample_size
    assert -1.0 <= lower <= estimate <= upper <= 1.0
    if counts.sample_size == 10 and log_alpha < -1000.0:
        assert lower == pytest.approx(-1.0, abs=1e-9)
        assert upper == pytest.approx(1.0, abs=1e-9)
