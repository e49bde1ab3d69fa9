"""Levels as published."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from easeci.evidence.levels import log_level, log_of
from easeci.script import Adaptivity


@pytest.mark.parametrize(
    ("adaptivity", "histories"),
    [(Adaptivity.NONE, 5), (Adaptivity.FIRST_CHANGE, 5), (Adaptivity.FULL, 32)],
)
def test_levels_add_up_to_delta(adaptivity: Adaptivity, histories: int) -> None:
    level = math.exp(log_level(Fraction(1, 100), adaptivity, 5))
    assert level * histories == pytest.approx(0.01)


def test_tiny_probabilities_have_logarithms() -> None:
    assert log_of(Fraction(1, 10**400)) == pytest.approx(-400 * math.log(10))
    assert log_level(Fraction(1, 10_000), Adaptivity.FULL, 10**6) < -600_000
