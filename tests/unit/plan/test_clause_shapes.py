"""Shapes of clauses, against the values that scores have."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from easeci.plan.clause_shapes import (
    conditional_binomial,
    difference_of_accuracies,
    exact_obstacle,
    known_difference,
    single_variable,
    upper_bound_of_difference,
)
from easeci.script import Score, compile_condition, parse_condition
from easeci.script.outcomes import Cell, ExampleAlphabet
from tests.cases import each_case

COEFFICIENTS = [Fraction(c) for c in (-2, -1, 0, 1, 2)]


def test_shapes_are_multiples_in_every_cell() -> None:
    """A score has a shape exactly if it is that multiple of n − o, n, o or d in all five cells."""
    for coefficients in product(COEFFICIENTS, repeat=3):
        score = Score.linear(*coefficients)
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


@each_case(
    ("text", "trials", "successes"),
    [
        ("precision(k) > 0.5", "new is k", "new is k and label is k"),
        ("recall(k) > 0.5", "label is k", "new is k and label is k"),
        ("o.recall(k) > 0.5", "label is k", "old is k and label is k"),
        ("2 * precision(k) < 0.5", "new is k", "new is k and label is k"),
        ("1 - recall(k) < 0.5", "label is k", "new is k and label is k"),
    ],
)
def test_shares_are_conditional_binomials(text: str, trials: str, successes: str) -> None:
    """Precision and recall count their successes among their own trials."""
    (clause,) = compile_condition(parse_condition(f"{text} +/- 0.1"))
    found = conditional_binomial(clause.score)
    assert found is not None
    alphabet = clause.score.alphabet
    assert isinstance(alphabet, ExampleAlphabet)
    truth = [
        {
            f"{side} is {'k' if getattr(one, side) == 0 else 'not k'}"
            for side in ("new", "old", "label")
        }
        for one in alphabet.shown
    ]
    for outcome, facts in enumerate(truth):
        assert (outcome in found.trials) == (set(trials.split(" and ")) <= facts)
        assert (outcome in found.successes) == (set(successes.split(" and ")) <= facts)
    assert exact_obstacle([clause]) is None


@each_case(
    "text",
    [
        "f1(k) > 0.5",
        "n / o > 1",
        "n.recall(k) - o.recall(k) > 0",
        "n.precision(k) - o.precision(k) > 0",
        "auc(k) > 0.5",
        "n - top(2) > 0",
        "n[x=1] - o[x=1] > 0",
    ],
)
def test_other_measures_are_not(text: str) -> None:
    (clause,) = compile_condition(parse_condition(f"{text} +/- 0.1"))
    assert conditional_binomial(clause.score) is None
    assert exact_obstacle([clause]) is clause
    assert difference_of_accuracies(clause.score) is None
    assert single_variable(clause.score) is None
    assert upper_bound_of_difference(clause) is None


def test_every_example_of_a_slice_is_a_trial() -> None:
    (clause,) = compile_condition(parse_condition("n[x=1] > 0.5 +/- 0.1"))
    found = conditional_binomial(clause.score)
    assert found is not None
    assert len(found.trials) == len(Cell)
    assert found.scale == 1
