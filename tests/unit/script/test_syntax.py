"""The tree of a condition, and its canonical spelling."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from hypothesis import given

from easeci.script import parse_condition, unparse
from easeci.script.syntax import (
    Condition,
    Expression,
    Negation,
    Number,
    Operation,
    Operator,
    Variable,
    unparse_expression,
)
from tests.strategies import conditions, expressions


@given(conditions)
def test_parse_undoes_unparse(condition: Condition) -> None:
    """parse ∘ unparse is the identity on trees."""
    assert parse_condition(unparse(condition)) == condition


VALUES = {"n": Fraction(3, 7), "o": Fraction(2, 5), "d": Fraction(-5, 3)}


def value_of(expression: Expression) -> Fraction:
    match expression:
        case Number():
            return Fraction(expression.literal) / (100 if expression.percent else 1)
        case Variable():
            return VALUES[expression.name]
        case Negation():
            return -value_of(expression.operand)
        case Operation():
            left, right = value_of(expression.left), value_of(expression.right)
            if expression.operator is Operator.ADD:
                return left + right
            return left - right if expression.operator is Operator.SUBTRACT else left * right


@given(expressions)
def test_the_spelling_of_an_expression_has_its_value(expression: Expression) -> None:
    """Python reads the canonical spelling and finds the value that the tree has."""
    literal = re.compile(r"([0-9.]+)(%?)")
    text = literal.sub(
        lambda found: f"(F('{found[1]}') / {100 if found[2] else 1})",
        unparse_expression(expression),
    )
    assert eval(text, {"F": Fraction, **VALUES}) == value_of(expression)


def test_a_percentage_is_a_hundredth() -> None:
    assert Number(Decimal("2.50"), percent=True).value == Decimal("0.025")
