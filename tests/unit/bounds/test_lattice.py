"""Tails of sums of scores −1, 0 and +1, by a sum over points of a circle."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.bounds import trinomial
from easeci.bounds.lattice import LatticeWalk, log_envelope, log_tail, tail_between
from tests.cases import each_case


@given(st.integers(20, 4_000), st.floats(0.05, 0.5), st.floats(-0.9, 0.5), st.floats(0.5, 8.0))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_the_envelope_is_above_the_tails_of_every_larger_size(
    n: int, q: float, skew: float, deviations: float
) -> None:
    """At ⌈share·N⌉, which certifies the contract; and tight, where the tail is small."""
    mean = skew * q
    share = mean + deviations * math.sqrt((q - mean * mean) / n)
    if share >= 0.95 or n * (share - mean) < 2.0:
        return
    bound = log_envelope(n, share, mean, q, q)
    for larger in (n, n + 1, n + 7, n + n // 3, 3 * n):
        assert trinomial.tail(larger, math.ceil(share * larger), mean, q) <= bound + 1e-9
    if deviations > 2.0:
        assert bound <= trinomial.tail(n, math.floor(share * n), mean, q) + 1e-9


def enumerated_tail(n: int, k: int, mean: float, nonzero: float) -> float:
    """P(S >= k) by one convolution for each score."""
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, [(nonzero - mean) / 2, 1 - nonzero, (nonzero + mean) / 2])
    return float(law[n + k :].sum())


@each_case(("n", "k", "mean"), [(1, 0, -0.2), (2, 1, 0.1), (12, 4, 0.1), (40, 3, -0.05)])
def test_a_tail_stays_within_the_bounds_of_its_cell(n: int, k: int, mean: float) -> None:
    """Between two values of q the tail lies within its parabolas, by enumeration on a grid."""
    low, high = 0.3, 0.35
    walk = LatticeWalk(*(np.array([float(part)]) for part in (n, k, mean)))
    cell = tail_between(walk, np.array([low]), np.array([high]))
    scale = math.exp(float(cell.log_scale[0]))
    bend = scale * float(cell.curvature[0]) / 2.0
    for q in np.linspace(low, high, 11):
        tail = enumerated_tail(n, k, mean, q)
        for value, slope, start in (
            (cell.at_low, cell.slope_low, low),
            (cell.at_high, cell.slope_high, high),
        ):
            line = scale * float(value[0] + slope[0] * (q - start))
            assert abs(tail - line) <= bend * (q - start) ** 2 + 1e-10


@each_case(("mean", "nonzero"), [(0.1, 0.3), (-0.25, 0.25), (0.4, 0.4), (0.0, 1.0)])
def test_tails_of_every_total_are_those_of_an_enumeration(mean: float, nonzero: float) -> None:
    """Also at the ends of the range, and where one of the scores can't happen."""
    totals = np.arange(-9.0, 10.0)
    shape = np.ones_like(totals)
    found = np.exp(log_tail(LatticeWalk(9.0 * shape, totals, mean * shape), nonzero * shape))
    expected = [enumerated_tail(9, int(k), mean, nonzero) for k in totals]
    np.testing.assert_allclose(found, expected, atol=1e-11)
