"""Hoeffding's inequality against exact tails, beside Bennett's."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from easeci.bounds import Bennett, Hoeffding
from tests.cases import each_case


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
