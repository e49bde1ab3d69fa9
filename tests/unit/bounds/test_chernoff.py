"""Chernoff's bound on the joint score, against enumerated multinomials and a general LP solver."""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from easeci.bounds import binomial, chernoff, trinomial
from easeci.bounds.arrays import FloatArray
from easeci.bounds.chernoff import Scores, rate, worst_laws
from easeci.bounds.hoeffding import Hoeffding
from tests.cases import each_case

LEVEL = math.log(1e-4 / 2) - 5 * math.log(2.0)

LINEAR = [
    Scores.of_linear(1.0, -1.1, 0.0),
    Scores.of_linear(1.0, -1.1, 0.0, largest_difference=0.2),
    Scores.of_linear(1.0, -1.0, -0.5, largest_difference=0.4),
    Scores.of_linear(1.0, 0.0, 0.0),
    Scores.of_linear(0.5, 0.5, 1.0, largest_difference=0.7),
    Scores.of_linear(0.0, 0.0, -1.0),
    Scores.of_linear(-1.0, 2.0, 0.3, largest_difference=0.5),
]

coefficients = st.floats(-2.0, 2.0).map(lambda v: round(v, 3))


@st.composite
def linear_scores(draw: st.DrawFn) -> Scores:
    a, b, e = draw(coefficients), draw(coefficients), draw(coefficients)
    if max(abs(a), abs(b), abs(e)) < 0.01:
        a = 1.0
    return Scores.of_linear(a, b, e, draw(st.sampled_from([1.0, 0.6, 0.3, 0.05])))


def some_law(scores: Scores, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, float]:
    """The five scores, a law on them that respects the bound on differing, and its mean."""
    values = np.array([*scores.agree, *scores.differ])
    differing = scores.largest_difference * rng.choice([1.0, rng.random()])
    law = np.concatenate(
        [
            (1 - differing) * rng.dirichlet([rng.choice([0.2, 1.0])] * len(scores.agree)),
            differing * rng.dirichlet([rng.choice([0.2, 1.0])] * len(scores.differ)),
        ]
    )
    return values, law, float(law @ values)


def averages(values: FloatArray, law: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Every average of n scores and its probability, by enumerating the multinomial."""
    counts, ways = outcomes(values.size, n)
    return counts @ values / n, ways * np.prod(law**counts, axis=1)


@cache
def outcomes(cells: int, n: int) -> tuple[FloatArray, FloatArray]:
    """The counts of n examples in the cells, and in how many ways each comes about."""
    counts = [
        np.bincount(picks, minlength=cells)
        for picks in combinations_with_replacement(range(cells), n)
    ]
    ways = [math.factorial(n) / math.prod(math.factorial(int(c)) for c in each) for each in counts]
    return np.array(counts, dtype=np.float64), np.array(ways)


# --- the worst law -----------------------------------------------------------------------------


@given(linear_scores(), st.floats(0.01, 0.99), st.floats(0.01, 20.0))
@settings(max_examples=80, deadline=None, derandomize=True)
def test_the_worst_law_solves_the_linear_programme(
    scores: Scores, where: float, tilt: float
) -> None:
    mean = scores.lowest_mean + where * (scores.highest_mean - scores.lowest_mean)
    values = np.array([*scores.agree, *scores.differ])
    differs = np.array([0.0] * len(scores.agree) + [1.0] * len(scores.differ))
    solved = linprog(
        -np.exp(tilt * (values - scores.highest)),
        A_ub=[values, differs],
        b_ub=[mean, scores.largest_difference],
        A_eq=[np.ones(values.size)],
        b_eq=[1.0],
    )
    ours = worst_laws(scores, mean).log_moment(np.array([tilt]), scores.highest)[0]
    # The solver stops within 1e-7 of the optimum, from below.
    assert -solved.fun * (1 - 1e-9) - 1e-12 <= math.exp(ours) <= -solved.fun * (1 + 1e-6) + 1e-6


def test_without_a_bound_on_differing_the_worst_law_has_two_points() -> None:
    """The exponent is that of a coin on the extreme scores: a Kullback–Leibler divergence."""
    scores = Scores.of_linear(1.0, -1.1, 0.0)
    p, x = (0.01 + 1.1) / 2.1, (0.05 + 1.1) / 2.1
    divergence = x * math.log(x / p) + (1 - x) * math.log((1 - x) / (1 - p))
    assert rate(scores, 0.01, 0.05) == pytest.approx(divergence, rel=1e-11)


def test_a_law_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="no law"):
        worst_laws(Scores.of_linear(1.0, -1.0, 0.0, largest_difference=0.1), 0.2)


# --- the bound ---------------------------------------------------------------------------------


def log_tail(scores: Scores, mean: float, n: int, tolerance: float) -> float:
    """ln of the bound on P(average >= mean + tolerance)."""
    return -n * rate(scores, mean, mean + tolerance)


def upper_limit(scores: Scores, average: float, n: int, log_alpha: float) -> float:
    return -chernoff.lower_limit(scores.mirrored(), -average, n, log_alpha)


@each_case("scores", LINEAR)
def test_the_bound_is_above_every_true_tail(scores: Scores) -> None:
    rng = np.random.default_rng(7)
    for _ in range(6):
        values, law, mean = some_law(scores, rng)
        if not scores.lowest_mean < mean < scores.highest_mean:
            continue
        for n in (1, 3, 6):
            sums, weights = averages(values, law, n)
            assert weights.sum() == pytest.approx(1.0)
            for tolerance in (0.02, 0.1, 0.3, 0.9, 1.5):
                tail = weights[sums >= mean + tolerance + 1e-12].sum()
                assert tail <= math.exp(log_tail(scores, mean, n, tolerance)) * (1 + 1e-9)


@given(linear_scores(), st.floats(0.01, 0.99), st.floats(1e-4, 1.0), st.integers(1, 10**7))
@settings(max_examples=80, deadline=None, derandomize=True)
def test_never_weaker_than_hoeffding(
    scores: Scores, where: float, tolerance: float, n: int
) -> None:
    mean = scores.lowest_mean + where * (scores.highest_mean - scores.lowest_mean)
    hoeffding = Hoeffding(scores.highest - scores.lowest)
    found = log_tail(scores, mean, n, tolerance)
    assert found <= hoeffding.tail(n, tolerance) * (1 - 1e-9) + 1e-9
    assert found <= 0.0


def test_beyond_the_highest_score_nothing_happens() -> None:
    scores = Scores.of_linear(1.0, 0.0, 0.0)
    assert log_tail(scores, 0.9, 1, 0.2) == -math.inf
    assert log_tail(scores, 0.9, 40, 0.1) == pytest.approx(40 * math.log(0.9), rel=1e-9)


def test_a_bound_on_differing_saves_examples() -> None:
    """The size lies between that of the exact test and that of a test without the bound."""
    near, far = Scores.of_linear(1.0, -1.0, 0.0, 0.1), Scores.of_linear(1.0, -1.0, 0.0)
    n = chernoff.contract_sample_size(near, 0.02, 0.01, LEVEL, LEVEL)
    assert trinomial.contract_sample_size(0.02, 0.01, 0.1, LEVEL, LEVEL) < n
    assert n < 0.1 * chernoff.contract_sample_size(far, 0.02, 0.01, LEVEL, LEVEL) + 1000
    assert n == 26_420


@each_case("scores", LINEAR)
@each_case(("alpha", "beta"), [(0.1, 0.1), (1e-6, 1e-3)])
def test_contract_keeps_both_promises(scores: Scores, alpha: float, beta: float) -> None:
    """Some cut-off keeps both promises, and with one example fewer none does."""
    width = scores.highest_mean - scores.lowest_mean
    threshold, tolerance = scores.lowest_mean + 0.4 * width, 0.04 * width
    target = threshold + 2 * tolerance
    n = chernoff.contract_sample_size(scores, threshold, tolerance, math.log(alpha), math.log(beta))
    needed = [
        max(
            -math.log(alpha) / rate(scores, threshold, float(x)),
            -math.log(beta) / rate(scores.mirrored(), -target, -float(x)),
        )
        for x in np.linspace(threshold, target, 18)[1:-1]
    ]
    # A coarse grid of cut-offs comes close to the best one, and never beats it.
    assert n - 1 < min(needed) < 1.2 * n + 1


def test_contract_at_the_end_of_the_range() -> None:
    scores = Scores.of_linear(1.0, 0.0, 0.0)
    found = chernoff.contract_sample_size(scores, 0.9, 0.05, LEVEL, LEVEL)
    assert found == binomial.contract_sample_size(0.9, 0.05, LEVEL, LEVEL)


# --- limits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scores", LINEAR)
def test_limits_cover(scores: Scores) -> None:
    """A limit is on the wrong side of Φ with probability at most alpha: by enumeration."""
    rng = np.random.default_rng(11)
    n, alpha = 3, 0.15
    values = np.array([*scores.agree, *scores.differ])
    sums, _ = averages(values, np.full(values.size, 1 / values.size), n)
    distinct, inverse = np.unique(np.round(sums, 12), return_inverse=True)
    log_alpha = math.log(alpha)
    lower = np.array([chernoff.lower_limit(scores, float(x), n, log_alpha) for x in distinct])
    upper = np.array([upper_limit(scores, float(x), n, log_alpha) for x in distinct])
    assert np.all(np.diff(lower) >= -1e-9)
    for _ in range(40):
        _, law, mean = some_law(scores, rng)
        _, weights = averages(values, law, n)
        assert weights[lower[inverse] > mean + 1e-9].sum() <= alpha
        assert weights[upper[inverse] < mean - 1e-9].sum() <= alpha


@given(st.sampled_from(LINEAR), st.floats(0.0, 1.0), st.integers(1, 10**7), st.floats(-500, -1))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_limits_invert_the_tail(scores: Scores, where: float, n: int, log_alpha: float) -> None:
    average = scores.lowest + where * (scores.highest - scores.lowest)
    limit = chernoff.lower_limit(scores, average, n, log_alpha)
    assert scores.lowest_mean <= limit <= scores.highest_mean
    if scores.lowest_mean < limit < scores.highest_mean:
        assert limit <= average
        assert -n * rate(scores, limit, average) <= log_alpha
        beyond = min(scores.highest_mean, limit + 1e-6 * (scores.highest - scores.lowest))
        assert -n * rate(scores, beyond, average) > log_alpha


def test_limits_are_never_tighter_than_exact_ones() -> None:
    scores = Scores.of_linear(1.0, 0.0, 0.0)
    for k in (0, 30, 50):
        for log_alpha in (math.log(0.05), -80.0, -70_000.0):
            limit = chernoff.lower_limit(scores, k / 50, 50, log_alpha)
            assert 0.0 <= limit <= binomial.lower_limit(k, 50, log_alpha) * (1 + 1e-9)
            limit = upper_limit(scores, k / 50, 50, log_alpha)
            assert binomial.upper_limit(k, 50, log_alpha) * (1 - 1e-9) <= limit <= 1.0


# --- what is refused ---------------------------------------------------------------------------


def test_senseless_arguments_are_refused() -> None:
    scores = Scores.of_linear(1.0, -1.0, 0.0, largest_difference=0.1)
    with pytest.raises(ValueError, match="threshold"):
        chernoff.contract_sample_size(scores, 0.1, 0.01, -5.0, -5.0)
    with pytest.raises(ValueError, match="threshold"):
        chernoff.contract_sample_size(scores, -0.2, 0.01, -5.0, -5.0)
    with pytest.raises(ValueError, match="beyond"):
        chernoff.contract_sample_size(scores, 0.05, 0.03, -5.0, -5.0)
    with pytest.raises(ValueError, match="tolerance"):
        chernoff.contract_sample_size(scores, 0.0, 0.0, -5.0, -5.0)
    with pytest.raises(ValueError, match="difference"):
        Scores((0.0,), (1.0,), 0.0)
    with pytest.raises(ValueError, match="score"):
        Scores((), (1.0,))
