"""Evidence against a hypothesis about the mean of a score."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from easeci.evidence.bets import PROOF_AIMS
from easeci.evidence.hypothesis import Hypothesis, evidence_against
from easeci.script import Score
from tests.cases import each_case

GAIN = Score(Fraction(1), Fraction(-1), Fraction(0))


def test_evidence_is_bounded_by_what_a_single_row_says() -> None:
    evidence = evidence_against(Hypothesis(GAIN, 0.02, 0.01), PROOF_AIMS, 10_000, 500, 12.0)
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
        assert expected_evidence(Hypothesis(GAIN, bound, 0.05), lower, 6) <= 1.0 + 1e-9


def test_evidence_of_a_single_accuracy_is_fair_and_grows_where_it_should() -> None:
    """Exactly at the hypothesis the mean is 1; beyond it the mean is larger."""
    new = Score(Fraction(1), Fraction(0), Fraction(0))
    at, beyond = [0.4, 0.3, 0.2, 0.1, 0.0], [0.5, 0.1, 0.3, 0.1, 0.0]
    assert expected_evidence(Hypothesis(new, 0.6, 0.05), at, 6) == pytest.approx(1.0, abs=1e-9)
    assert expected_evidence(Hypothesis(new, 0.6, 0.05), beyond, 6) > 1.2
