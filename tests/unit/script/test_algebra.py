"""Values of expressions, against exact arithmetic in each of the five cells."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from easeci.script import compile_condition, parse_condition
from easeci.script.algebra import Terms, evaluate, parts_of
from easeci.script.outcomes import CELLS
from easeci.script.problem import Problem
from easeci.script.syntax import Condition, Expression
from tests.cases import each_case
from tests.strategies import conditions, plain_expressions
from tests.unit.script.test_resolve import message_of
from tests.unit.script.test_syntax import value_at


@settings(max_examples=200, deadline=None)
@given(plain_expressions)
def test_an_expression_has_its_value_in_every_cell(expression: Expression) -> None:
    """On data of one cell only, where all means are that cell's values: as Python computes it."""
    try:
        value = evaluate(expression, Terms(CELLS))
    except Problem as problem:
        assert problem.message
        return
    for number, shown in enumerate(CELLS.shown):
        at = {"n": shown.new_right, "o": shown.old_right, "d": shown.differ}
        parts = parts_of(value, CELLS).items()
        if any(below[number] == 0 for below, _ in parts):
            continue
        found = value.constant + sum(above[number] / below[number] for below, above in parts)
        try:
            assert found == value_at(expression, at)
        except ZeroDivisionError:
            continue


@settings(max_examples=200, deadline=None)
@given(conditions)
def test_any_condition_compiles_or_is_a_problem(condition: Condition) -> None:
    """Nothing but a Problem is raised, and the text of every clause compiles to the same clause."""
    try:
        clauses = compile_condition(condition, ("fraud", "a-b"))
    except Problem as problem:
        assert problem.message
        return
    for clause in clauses:
        assert compile_condition(parse_condition(clause.text)) == (clause,)


@each_case(
    ("text", "fragments"),
    [
        ("n / d > 1", ["denominator 'd' can be 0: the models may agree everywhere", "column 5"]),
        ("n / (d + o) > 1", ["denominator 'd + o' can be 0", "Divide by n, o"]),
        ("d / n > 1", ["d cannot be mixed with a ratio", "clause of its own"]),
        ("n / o - d > 1", ["d cannot be mixed with a ratio"]),
        ("d - recall(fraud) > 0.5", ["d cannot be mixed with a ratio"]),
        ("n / (o - 0.5) > 1", ["'o - 0.5' can be negative or 0", "or 1 - o"]),
        ("n / (n - o) > 1", ["'n - o' can be negative or 0", "n - 1.1 * o > 0 +/- 0.01"]),
        ("n / -o < 1", ["'-o' can be negative or 0"]),
        ("n / 0 > 1", ["this divides by 0", "column 5"]),
        ("n / (o - o) > 1", ["this divides by 0"]),
        ("n / n / (n / n - 1) > 1", ["can be negative or 0"]),
        (
            "n.precision(fraud) / o.precision(fraud) > 1",
            ["not a ratio of two means", "n.precision(fraud) - o.precision(fraud) > 0 +/- 0.01"],
        ),
        ("recall(fraud) / recall(legit) > 1", ["shares of different examples"]),
        ("recall(fraud) / n > 1", ["shares of different examples"]),
        ("recall(fraud) * n > 1", ["'recall(fraud) * n' is not linear", "constants only"]),
        ("n.auc(fraud) / o.auc(fraud) > 1", ["cannot be part of a ratio", "a difference"]),
        ("n / top(5) > 1", ["'top(5)' cannot be part of a ratio"]),
    ],
)
def test_a_ratio_that_is_not_one_of_means_is_refused(text: str, fragments: list[str]) -> None:
    message = message_of(f"{text} +/- 0.01")
    for fragment in fragments:
        assert fragment in message


@each_case(
    ("one", "other"),
    [
        ("n / o", "(2 * n) / (o + o)"),
        ("n / o - 1", "(n - o) / o"),
        ("n.recall(a) / o.recall(a)", "(n.recall(a) * 3) / (3 * o.recall(a))"),
        ("n - o", "n.accuracy - o.accuracy"),
        ("f1(a) / 2", "0.5 * n.f1(a)"),
    ],
)
def test_equal_expressions_have_the_same_tables(one: str, other: str) -> None:
    (first,), (second,) = (
        compile_condition(parse_condition(f"{text} > 0.1 +/- 0.01")) for text in (one, other)
    )
    bounds = (first.threshold, second.threshold)
    tables = [
        clause.score.ratio.table(b) for clause, b in zip((first, second), bounds, strict=True)
    ]
    assert tables[0] == tables[1]


def test_a_clause_without_measures_is_refused() -> None:
    with pytest.raises(Problem, match="does not depend on"):
        compile_condition(parse_condition("recall(a) - recall(a) > 0.1 +/- 0.1"))
