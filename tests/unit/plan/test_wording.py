"""Numbers of a derivation: read back, they are what was written."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeci.plan.wording import count, exact, histories, probability, why_histories
from tests.scripts import script


@given(st.floats(-1e6, -1e-3))
def test_a_probability_is_readable_far_below_the_range_of_floats(log_value: float) -> None:
    """Mantissa and exponent give back the logarithm, and the mantissa has one digit in front."""
    mantissa, _, exponent = probability(log_value).partition("e")
    back = math.log(float(mantissa)) + int(exponent or 0) * math.log(10.0)
    assert back == pytest.approx(log_value, rel=1e-9, abs=6e-4)
    if exponent:
        assert 1.0 <= float(mantissa) <= 10.0


@given(st.decimals("0.0001", "2", places=8))
def test_a_constant_is_written_exactly(value: Decimal) -> None:
    assert Fraction(exact(Fraction(value))) == Fraction(value)
    assert "." not in exact(Fraction(3))


@given(st.integers(0, 10**12))
def test_a_count_has_groups_of_three_digits(number: int) -> None:
    groups = count(number).split(",")
    assert int("".join(groups)) == number
    assert all(len(group) == 3 for group in groups[1:])


def test_only_answers_that_developers_hear_double_the_histories() -> None:
    found = {}
    for kind in ("full", "firstChange", "none"):
        made = script("n > 0.5 +/- 0.1", adaptivity=kind, steps=32)
        found[kind] = histories(made)
        assert why_histories(made).startswith(f"{kind}: ")
    assert found == {"full": "2^32", "firstChange": "32", "none": "32"}
