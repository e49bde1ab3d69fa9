"""The laws that plans assume for classes and blocks, against what they claim."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from easeci.plan.measured_clause import MeasuredClause
from easeci.plan.outcome_laws import (
    block_law,
    cells_law,
    law_at,
    lift,
    shares_of,
    value_of,
)
from easeci.script import Mode, Score
from easeci.script.outcomes import Cell, ExampleAlphabet
from easeci.script.score import Blocks
from tests.cases import each_case
from tests.scripts import script


def score_of(condition: str, **keys: object) -> Score:
    return script(condition, **keys).clauses[0].score


@each_case("shares", [(), (0.1,), (0.02,), (0.5,), (0.3, 0.6), (0.1, 0.2, 0.05)])
def test_a_lift_keeps_the_cells(shares: tuple[float, ...]) -> None:
    """Every row is a law, on outcomes of its own cell, and labels have their shares."""
    alphabet = ExampleAlphabet.of(tuple("abc"[: len(shares)]))
    matrix = lift(alphabet, shares)
    assert np.allclose(matrix.sum(axis=1), 1.0)
    assert (matrix >= 0.0).all()
    for row, cell in zip(matrix, Cell, strict=True):
        for chance, one in zip(row, alphabet.shown, strict=True):
            assert not chance or (one.new_right, one.old_right, one.differ) == cell.value
        for label, share in enumerate(shares):
            shown = sum(p for p, one in zip(row, alphabet.shown, strict=True) if one.label == label)
            assert math.isclose(shown, share, abs_tol=1e-12)


@each_case(("share", "accuracy"), list(product((0.02, 0.1, 0.5), (0.3, 0.84, 0.99))))
def test_precision_recall_and_f1_are_the_accuracy(share: float, accuracy: float) -> None:
    for name in ("precision", "recall", "f1"):
        score = score_of(f"{name}(a) > 0.5 +/- 0.1")
        law = cells_law(accuracy, accuracy, 0.1) @ lift(ExampleAlphabet.of(("a",)), (share,))
        assert math.isclose(value_of(score, law), accuracy, rel_tol=0.03)


@each_case(
    "condition",
    [
        "recall(a) > 0.8 +/- 0.02",
        "o.precision(a) < 0.3 +/- 0.02",
        "n.f1(a) - o.f1(a) > 0.1 +/- 0.02",
        "n.recall(a) - o.precision(b) > -0.2 +/- 0.05",
        "n / o > 1.3 +/- 0.05",
        "n + o > 1.7 +/- 0.05",
        "auc(a) > 0.9 +/- 0.02",
        "n.auc(a) - o.auc(a) > -0.05 +/- 0.02",
        "n[x=1] - o[x=1] > 0.3 +/- 0.1",
    ],
)
@each_case("mode", Mode)
def test_a_law_has_the_score_that_is_asked_for(condition: str, mode: Mode) -> None:
    made = script(condition, mode=mode)
    clause = made.clauses[0]
    score = clause.greater.score if mode is Mode.FP_FREE else -clause.greater.score
    threshold = clause.greater.threshold if mode is Mode.FP_FREE else -clause.greater.threshold
    for place in (0, 1, 2):
        value = float(threshold + place * clause.tolerance)
        law = law_at(score, value, shares_of(made, score), 0.1)
        assert math.isclose(law.sum(), 1.0, abs_tol=1e-12)
        assert (law >= 0.0).all()
        assert math.isclose(value_of(score, law), value, abs_tol=1e-6)


KINDS = ("precision(k)", "recall(k)", "f1(k)", "precision(b)", "recall(b)", "f1(b)")
TERMS = ["n", "o", *(f"{model}.{kind}" for model in "no" for kind in KINDS)]


@each_case("mode", Mode)
def test_a_law_has_any_difference_of_two_measures(mode: Mode) -> None:
    """Of one model or of two: a plan promises sensitivity at c + 2ε, so it must size for that."""
    check_differences("> 0.02", mode, "k: 2%, b: 30%")


@pytest.mark.long
@each_case("expected", ["k: 10%, b: 10%", "k: 2%, b: 30%"])
@each_case("mode", Mode)
@each_case("relation", ["> 0.02", "> -0.1", "< 0.1", "< 0"])
def test_a_law_has_any_of_many_differences(relation: str, mode: Mode, expected: str) -> None:
    check_differences(relation, mode, expected)


def check_differences(relation: str, mode: Mode, expected: str) -> None:
    for first, second in permutations(TERMS, 2):
        condition = f"{first} - {second} {relation} +/- 0.02"
        made = script(condition, mode=mode, expected=expected)
        clause = MeasuredClause.of(made, made.clauses[0])
        law = clause.law(clause.goal.clear)
        assert math.isclose(law.sum(), 1.0, abs_tol=1e-9)
        assert (law >= 0.0).all()
        value = value_of(clause.score, law)
        assert math.isclose(value, clause.goal.clear, abs_tol=1e-9), condition


def test_a_tilted_law_keeps_the_shares_of_labels() -> None:
    score = score_of("recall(a) - precision(a) > 0.1 +/- 0.02")
    assert isinstance(score.alphabet, ExampleAlphabet)
    for value in (-0.3, 0.0, 0.14, 0.6):
        law = law_at(score, value, (0.1,), 0.1)
        labels = np.array([one.label for one in score.alphabet.shown])
        assert math.isclose(value_of(score, law), value, abs_tol=1e-9)
        assert math.isclose(law[labels == 0].sum(), 0.1, abs_tol=1e-9)


def test_shares_change_where_they_must() -> None:
    """If a tenth of the labels are a, recall(a) − precision(a) is at most 0.9."""
    score = score_of("recall(a) - precision(a) > 0.9 +/- 0.02")
    assert math.isclose(value_of(score, law_at(score, 0.94, (0.1,), 0.1)), 0.94, abs_tol=1e-9)


def test_an_impossible_value_gets_the_nearest_law() -> None:
    """2PR/(P + R) − P is at most 3 − √8."""
    score = score_of("f1(a) - precision(a) > 0.1 +/- 0.02")
    nearest = value_of(score, law_at(score, 0.5, (0.1,), 0.1))
    assert math.isclose(nearest, 3.0 - math.sqrt(8.0), abs_tol=1e-4)


def test_expected_shares_are_used_then_declared_classes_then_a_tenth() -> None:
    assert shares_of(
        script("f1(a) > 0.5 +/- 0.1", expected="a: 2%"), score_of("f1(a) > 0.5 +/- 0.1")
    ) == (0.02,)
    declared = script("f1(a) > 0.5 +/- 0.1", classes=["a", "b", "c", "d"])
    assert shares_of(declared, declared.clauses[0].score) == (0.25,)
    plain, auc = script("f1(a) > 0.5 +/- 0.1"), script("auc(a) > 0.5 +/- 0.1")
    assert shares_of(plain, plain.clauses[0].score) == (0.1,)
    assert shares_of(auc, auc.clauses[0].score) == (0.5,)


@pytest.mark.parametrize(("positives", "negatives"), [(2, 2), (1, 9), (9, 1), (1, 1)])
def test_the_law_of_a_block_is_that_of_drawn_blocks(positives: int, negatives: int) -> None:
    """Against 200,000 drawn blocks, and the mean is the AUC."""
    blocks = Blocks("a", positives, negatives, Fraction(1), Fraction(0))
    auc = 0.9
    law = block_law(blocks, auc, auc)
    values = np.array([float(value) for value in blocks.values])
    assert math.isclose(law @ values, auc, abs_tol=1e-6)
    draw = np.random.default_rng(5)
    shift = math.sqrt(2.0) * 1.2815515655446004  # the quantile of 0.9
    above = draw.normal(shift, size=(200_000, positives, 1))
    below = draw.normal(size=(200_000, 1, negatives))
    shares = (above > below).mean(axis=(1, 2))
    drawn = np.array([np.isclose(shares, value).mean() for value in values])
    assert np.abs(law - drawn).max() < 0.005


def test_two_models_of_a_block_keep_their_aucs() -> None:
    blocks = Blocks("a", 2, 2, Fraction(1), Fraction(-1))
    law = block_law(blocks, 0.9, 0.85)
    values = np.array([float(value) for value in blocks.values])
    assert math.isclose(law @ values, 0.05, abs_tol=1e-6)
    assert math.isclose(law.sum(), 1.0)


def test_scores_that_no_accuracies_change_are_at_their_ends() -> None:
    """pass@3 − n is 0 if all trials are alike; a law at another value must exist for plans."""
    (clause,) = script("pass@3 - n > 0.1 +/- 0.05", scorer="exact", trials=5).clauses
    for value in (-0.3, 0.0, 0.1, 0.2):
        law = law_at(clause.score, value, (), 0.1)
        assert law.min() >= 0.0
        assert math.isclose(law.sum(), 1.0)
        assert math.isclose(value_of(clause.score, law), value, abs_tol=1e-9)
