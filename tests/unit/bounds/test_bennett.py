"""Bennett's inequality against exact tails, and its rate function."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from easeci.bounds import Bennett
from easeci.bounds.bennett import inverse_rate, rate
from tests.cases import each_case


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
