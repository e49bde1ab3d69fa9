"""The tree of a condition, and its canonical spelling."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from hypothesis import assume, given

from easeci.script import parse_condition, unparse
from easeci.script.syntax import (
    Clause,
    Comparison,
    Condition,
    Expression,
    Measure,
    Negation,
    Number,
    Operation,
    Operator,
    spelt,
    unparse_expression,
)
from tests.cases import each_case
from tests.strategies import conditions, expressions, plain_expressions


@given(conditions)
def test_parse_undoes_unparse(condition: Condition) -> None:
    """parse ∘ unparse is the identity on trees."""
    assert parse_condition(unparse(condition)) == condition


OPERATIONS: dict[Operator, Callable[[Fraction, Fraction], Fraction]] = {
    Operator.ADD: operator.add,
    Operator.SUBTRACT: operator.sub,
    Operator.MULTIPLY: operator.mul,
    Operator.DIVIDE: operator.truediv,
}
VALUES = {"n": Fraction(3, 7), "o": Fraction(2, 5), "d": Fraction(-5, 3)}


def value_at(expression: Expression, values: Mapping[str, Fraction | int]) -> Fraction:
    """The value of an expression of n, o and d, computed from its tree."""
    match expression:
        case Number():
            return Fraction(expression.literal) / (100 if expression.percent else 1)
        case Measure():
            return Fraction(values[expression.name])
        case Negation():
            return -value_at(expression.operand, values)
        case Operation():
            left, right = (value_at(x, values) for x in (expression.left, expression.right))
            return OPERATIONS[expression.operator](left, right)


@given(plain_expressions)
def test_the_spelling_of_an_expression_has_its_value(expression: Expression) -> None:
    """Python reads the canonical spelling and finds the value that the tree has."""
    literal = re.compile(r"([0-9.]+)(%?)")
    text = literal.sub(
        lambda found: f"(F('{found[1]}') / {100 if found[2] else 1})",
        unparse_expression(expression),
    )
    try:
        value = value_at(expression, VALUES)
    except ZeroDivisionError:
        assume(condition=False)
    assert eval(text, {"F": Fraction, **VALUES}) == value


@given(expressions)
def test_measures_are_listed_and_replaced_everywhere(expression: Expression) -> None:
    """Every measure is listed from left to right, and a change reaches each of them once."""
    clause = Clause(expression, Comparison.LESS, Negation(expression), Number(Decimal(1)))
    assert len(clause.measures) % 2 == 0
    changed = clause.with_measures(lambda one: replace(one, name=f"x{one.name}"))
    assert [one.name for one in changed.measures] == [f"x{m.name}" for m in clause.measures]
    assert changed.with_measures(lambda one: replace(one, name=one.name[1:])) == clause


@each_case(
    ("word", "text"),
    [
        ("de", "de"),
        ("a-b_c.2", "a-b_c.2"),
        ("-1", "-1"),
        ("ünder", "ünder"),
        ("very bad", '"very bad"'),
        ("*", '"*"'),
        ("", '""'),
        ('say "no"', r'"say \"no\""'),
        ("a\\b", r'"a\\b"'),
    ],
)
def test_a_word_has_quotes_only_if_it_needs_them(word: str, text: str) -> None:
    assert spelt(word) == text


def test_a_percentage_is_a_hundredth() -> None:
    assert Number(Decimal("2.50"), percent=True).value == Decimal("0.025")
