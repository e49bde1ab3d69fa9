"""Tails of sums of scores −1, 0 and +1, by a sum over points of a circle."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.bounds import trinomial
from easeci.bounds.lattice import log_envelope


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
