"""The incomplete beta function in logarithms, also beyond the range of floats."""

from __future__ import annotations

import math

import numpy as np
import pytest

from easeci.bounds import binomial
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
