"""The tree of a condition, and its canonical spelling."""

from __future__ import annotations

from hypothesis import given

from easeci.script import parse_condition, unparse
from easeci.script.syntax import Condition
from tests.strategies import conditions


@given(conditions)
def test_parse_undoes_unparse(condition: Condition) -> None:
    """parse ∘ unparse is the identity on trees."""
    assert parse_condition(unparse(condition)) == condition
