"""Evidence against a hypothesis about the mean of a score."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from easeci.evidence.bets import PROOF_AIMS
from easeci.evidence.hypothesis import MOST_ROWS, Hypothesis, evidence_against
from easeci.script import Score
from tests.cases import each_case
from tests.measures import alphabet_of, clause_of

GAIN = Score.linear(Fraction(1), Fraction(-1), Fraction(0))


def test_evidence_is_bounded_by_what_a_single_row_says() -> None:
    evidence = evidence_against(Hypothesis.of(GAIN, 0.02, 0.01), PROOF_AIMS, 10_000, 500, 12.0)
    start = evidence.after(np.zeros((1, 5)))[0]
    assert -5.0 < start < math.log(1.0 + 1e-9)


def expected_evidence(hypothesis: Hypothesis, law: list[float], size: int) -> float:
    """The mean of the evidence over all testsets of this size, by enumeration of their counts."""
    by_differing = [
        evidence_against(hypothesis, PROOF_AIMS, size, differing, 99.0)
        for differing in range(size + 1)
    ]
    total = 0.0
    for counts in product(range(size + 1), repeat=5):
        if sum(counts) == size:
            ways = math.factorial(size) / math.prod(math.factorial(count) for count in counts)
            chance = ways * math.prod(p**count for p, count in zip(law, counts, strict=True))
            seen = np.array([counts], float)
            evidence = by_differing[sum(counts[2:])].after(seen)[0]
            total += chance * math.exp(evidence) if chance else 0.0
    return total


@each_case("bound", [0.1, -0.1, 0.0])
@each_case("d", [0.1, 0.35, 0.7, 1.0])
def test_evidence_is_at_most_one_on_average_if_the_hypothesis_is_true(
    bound: float, d: float
) -> None:
    """Where the models differ counts alone, and d is not known: true for every d."""
    law = [(1 - d) / 2, (1 - d) / 2, (d + bound) / 2, (d - bound) / 2, 0.0]
    for shift in (0.0, 0.05 if d > 0.1 else 0.0):
        lower = [*law[:2], law[2] - shift, law[3] + shift, 0.0]
        assert expected_evidence(Hypothesis.of(GAIN, bound, 0.05), lower, 6) <= 1.0 + 1e-9


def test_evidence_of_a_single_accuracy_is_fair_and_grows_where_it_should() -> None:
    """Exactly at the hypothesis the mean is 1; beyond it the mean is larger."""
    new = Score.linear(Fraction(1), Fraction(0), Fraction(0))
    at, beyond = [0.4, 0.3, 0.2, 0.1, 0.0], [0.5, 0.1, 0.3, 0.1, 0.0]
    assert expected_evidence(Hypothesis.of(new, 0.6, 0.05), at, 6) == pytest.approx(1.0, abs=1e-9)
    assert expected_evidence(Hypothesis.of(new, 0.6, 0.05), beyond, 6) > 1.2


# -- ratios

TABLES: dict[str, Callable[[int, int, int], Fraction]] = {
    "precision(k) > 0.7 +/- 0.1": lambda f, _, y: f * (y - Fraction(7, 10)),
    "recall(k) > 0.7 +/- 0.1": lambda f, _, y: y * (f - Fraction(7, 10)),
    "f1(k) > 0.7 +/- 0.1": lambda f, _, y: 2 * f * y - Fraction(7, 10) * (f + y),
    "n.recall(k) - o.recall(k) > 0.1 +/- 0.1": lambda f, g, y: y * (f - g - Fraction(1, 10)),
}


@each_case("condition", list(TABLES))
def test_the_table_of_each_measure(condition: str) -> None:
    """f, g and y say whether the new model, the old one and the label are the class."""
    clause = clause_of(condition)
    hypothesis = Hypothesis.of(clause.score, float(clause.threshold), 0.1)
    assert hypothesis.outright
    assert hypothesis.bound == 0.0
    for one, entry in zip(alphabet_of(clause.score).shown, hypothesis.rows[0][0], strict=True):
        f, g, y = (int(place == 0) for place in (one.new, one.old, one.label))
        assert entry == TABLES[condition](f, g, y)


def test_examples_on_which_a_ratio_is_0_change_nothing() -> None:
    clause = clause_of("recall(k) > 0.7 +/- 0.1")
    evidence = evidence_against(Hypothesis.of(clause.score, 0.7, 0.1), PROOF_AIMS, 9, 9, 5.0)
    counts = np.array([float(one.label == 1) for one in alphabet_of(clause.score).shown])
    assert evidence.after(1000.0 * counts[None, :])[0] == pytest.approx(0.0, abs=1e-9)


def test_rows_cover_all_values_of_the_second_ratio() -> None:
    """In each row, the first is compared with the upper end and the second with the lower one."""
    score = clause_of("n.precision(k) - o.precision(k) > 0.1 +/- 0.1").score
    hypothesis = Hypothesis.of(score, 0.1, 0.4)
    rows = len(hypothesis.rows)
    assert rows == 20
    assert score.subtracted is not None
    for row, (both, alone, other) in enumerate(hypothesis.rows):
        low, high = Fraction(row, rows), Fraction(row + 1, rows)
        first, second = score.ratio.table(high + Fraction(1, 10)), score.subtracted.table(low)
        assert both == tuple(x - y for x, y in zip(first, second, strict=True))
        assert alone == first
        assert other == tuple(-y for y in second)
    assert len(Hypothesis.of(score, 0.1, 1e-6).rows) == MOST_ROWS


def test_two_classes_have_several_weights() -> None:
    """Nobody knows which of two classes is rarer; each pair of weights has its own bets."""
    score = clause_of("recall(k) - recall(b) > 0 +/- 0.1").score
    (first, *others) = Hypothesis.of(score, 0.0, 0.4).rows[3]
    assert len(others) == 6
    assert all(table != first for table in others)


def test_a_hypothesis_that_no_law_can_have_is_refuted_by_one_example() -> None:
    """ "n / o is at most 0" if n is ever 1: its table has no negative entry."""
    score = clause_of("n / o > 1 +/- 0.1").score
    evidence = evidence_against(Hypothesis.of(score, 0.0, 0.1), PROOF_AIMS, 9, 9, 5.0)
    assert evidence.after(np.array([[1.0, 0, 0, 0, 0]]))[0] > 20.0
    assert evidence.after(np.array([[0.0, 9, 0, 9, 9]]))[0] == pytest.approx(0.0, abs=1e-9)


def test_an_empty_slice_has_no_evidence() -> None:
    for bound in (0.1, 0.0, -0.1):
        evidence = evidence_against(Hypothesis.of(GAIN, bound, 0.05), PROOF_AIMS, 0, 0, 5.0)
        assert evidence.after(np.zeros((1, 5)))[0] <= 1e-9
