"""The incomplete beta function in logarithms, also beyond the range of floats."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from easeci.bounds import binomial
from easeci.bounds.beta import SMALLEST_TRUSTED, log_incomplete_beta
from tests.cases import each_case


def summed_log_tail(k: int, n: int, p: float) -> float:
    """ln P(X >= k) by adding up terms relative to the first, for k above the mean."""
    first = (
        math.lgamma(n + 1)
        - math.lgamma(k + 1)
        - math.lgamma(n - k + 1)
        + k * math.log(p)
        + (n - k) * math.log1p(-p)
    )
    term, total = 1.0, 1.0
    for i in range(k, n):
        term *= (n - i) / (i + 1) * p / (1 - p)
        total += term
        if term < 1e-18:
            break
    return first + math.log(total)


@each_case(
    ("k", "n", "p"),
    [
        (1500, 2000, 1e-5),
        (2000, 2000, 0.1),
        (60_000, 100_000, 0.5),
        (1, 10, 1e-300),
        (500, 1000, 0.0625),
        (5_900, 10_000, 0.5),
    ],
)
def test_tails_beyond_the_range_of_floats(k: int, n: int, p: float) -> None:
    expected = summed_log_tail(k, n, p)
    assert float(binomial.log_sf(k - 1, n, p)) == pytest.approx(expected, rel=1e-12, abs=1e-8)


def test_the_two_ways_to_a_tail_meet() -> None:
    """The tail has no jump where the continued fraction begins: second differences stay smooth."""
    for n in (10_000, 1_000_000, 10_000_000):
        sd = math.sqrt(n * 0.21)
        k = np.arange(int(0.3 * n + 34 * sd), int(0.3 * n + 39 * sd), max(1, int(sd / 100)))
        values = binomial.log_sf(k, n, 0.3)
        assert (values > math.log(1e-280)).any()
        assert (values < math.log(1e-280)).any()
        assert np.ptp(np.diff(values, 2)) < 1e-5


def exact_logarithm(a: int, b: int, x: Fraction) -> float:
    """ln I_x(a, b) in whole numbers: at least a of a + b − 1 coins with P(heads) = x show heads."""
    n = a + b - 1
    tail = sum((math.comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(a, n + 1)), Fraction(0))
    if tail > Fraction(1, 2):
        return math.log1p(-float(1 - tail))
    return math.log(tail.numerator) - math.log(tail.denominator)


@each_case(("a", "b"), [(1, 1), (1, 9), (9, 1), (4, 7), (40, 3), (3, 40), (150, 150)])
@each_case("x", [Fraction(1, 1000), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)])
def test_whole_numbers_agree_with_sums_of_fractions(a: int, b: int, x: Fraction) -> None:
    """Near 0, near 1, and where the continued fraction takes over."""
    expected = exact_logarithm(a, b, x)
    found = float(log_incomplete_beta(a, b, float(x)))
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-15)


def test_the_cases_reach_the_continued_fraction() -> None:
    assert exact_logarithm(150, 150, Fraction(1, 1000)) < math.log(SMALLEST_TRUSTED)


def test_at_the_ends_all_or_nothing_is_left() -> None:
    np.testing.assert_array_equal(log_incomplete_beta(3, 4, [0.0, 1.0]), [-math.inf, 0.0])
