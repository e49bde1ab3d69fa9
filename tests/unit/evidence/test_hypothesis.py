"""Evidence against a hypothesis about the mean of a score."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from easeci.evidence.bets import PROOF_AIMS
from easeci.evidence.hypothesis import Hypothesis, evidence_against
from easeci.script import Score

GAIN = Score(Fraction(1), Fraction(-1), Fraction(0))


def test_evidence_is_bounded_by_what_a_single_row_says() -> None:
    evidence = evidence_against(Hypothesis(GAIN, 0.02, 0.01), PROOF_AIMS, 10_000, 500, 12.0)
    start = evidence.after(np.zeros((1, 5)))[0]
    assert -5.0 < start < math.log(1.0 + 1e-9)
