"""Shapes of clauses, against the values that scores have."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from easeci.plan.clause_shapes import (
    difference_of_accuracies,
    known_difference,
    single_variable,
    upper_bound_of_difference,
)
from easeci.script import Score, compile_condition, parse_condition
from easeci.script.cells import Cell
from tests.cases import each_case

COEFFICIENTS = [Fraction(c) for c in (-2, -1, 0, 1, 2)]


def test_shapes_are_multiples_in_every_cell() -> None:
    """A score has a shape exactly if it is that multiple of n − o, n, o or d in all five cells."""
    for coefficients in product(COEFFICIENTS, repeat=3):
        score = Score(*coefficients)
        scores = [score.of(cell) for cell in Cell]
        values = [cell.value for cell in Cell]
        factors = [c for c in COEFFICIENTS if c != 0]
        gains = [c for c in factors if scores == [c * (n - o) for n, o, _ in values]]
        assert difference_of_accuracies(score) == (gains[0] if gains else None)
        singles = [
            (i, c)
            for i in range(3)
            for c in factors
            if scores == [c * value[i] for value in values]
        ]
        assert single_variable(score) == (singles[0] if singles else None)


@each_case("text", ["d < 0.1", "2 * d < 0.2", "-d > -0.1", "0.3 > 3 * d", "n - n + d < 0.1"])
def test_an_upper_bound_is_found_in_every_spelling(text: str) -> None:
    (clause,) = compile_condition(parse_condition(f"{text} +/- 0.01"))
    assert upper_bound_of_difference(clause) == Fraction(1, 10)


@each_case("text", ["d > 0.1", "-d < -0.1", "n < 0.9", "d - n < 0.1", "n - o > 0.1"])
def test_other_clauses_bound_no_difference(text: str) -> None:
    (clause,) = compile_condition(parse_condition(f"{text} +/- 0.01"))
    assert upper_bound_of_difference(clause) is None


def test_the_least_bound_of_the_other_clauses_is_known() -> None:
    """A clause on d says nothing new about itself."""
    text = r"d < 0.2 +/- 0.1 /\ n - o > 0 +/- 0.1 /\ d < 0.4 +/- 0.1"
    clauses = compile_condition(parse_condition(text))
    found = [known_difference(clauses, clause) for clause in clauses]
    assert found == [Fraction(2, 5), Fraction(1, 5), Fraction(1, 5)]
    assert known_difference(clauses[:1], clauses[0]) is None
