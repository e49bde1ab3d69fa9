"""Where walks stop: against exact formulas of Brownian motion, and against the evidence itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

from easeci.evidence.bets import FUTILITY_AIMS, PROOF_AIMS
from easeci.evidence.cells import CODE_OF
from easeci.evidence.clause_test import Goal
from easeci.evidence.hypothesis import evidence_against
from easeci.plan.stopping import Boundaries, ScoreLaw, boundary
from easeci.script import Mode
from easeci.script.outcomes import CELLS, DIFFERING
from tests.cases import each_case
from tests.scripts import script

LABELS = np.geomspace(1.0, 4000.0, 120)


def cdf(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


@each_case(("drift", "slope"), [(0.1, 0.0), (0.0, 0.0), (-0.02, 0.0), (0.05, 0.03), (0.02, -0.1)])
def test_one_straight_boundary_is_crossed_as_the_exact_law_says(drift: float, slope: float) -> None:
    """The first passage of a Brownian motion over a line is inverse Gaussian."""
    height, deviation = 12.0, 1.3
    upper = height + slope * LABELS
    found = Boundaries(LABELS, upper, np.full(len(LABELS), -np.inf))
    proven = found.endings(np.array(drift), np.array(deviation)).proven
    for m, probability in zip(LABELS[:-1:10], proven[:-1:10], strict=True):
        relative, scale = drift - slope, deviation * math.sqrt(m)
        reflected = math.exp(2.0 * relative * height / deviation**2)
        exact = cdf((relative * m - height) / scale) + reflected * cdf(
            (-relative * m - height) / scale
        )
        assert probability == pytest.approx(exact, abs=0.01)


@each_case("drift", [-0.06, -0.02, 0.0, 0.03])
def test_between_two_boundaries_a_walk_ends_as_the_exact_law_says(drift: float) -> None:
    """A Brownian motion between −15 and 10: above or below to .01, after how long to 12%."""
    top, bottom, deviation = 10.0, 15.0, 1.0
    found = Boundaries(LABELS, np.full(len(LABELS), top), np.full(len(LABELS), -bottom))
    ends = found.endings(np.array(drift), np.array(deviation))
    if drift == 0.0:
        exact = bottom / (top + bottom)
    else:
        down, up = math.exp(2.0 * drift * bottom), math.exp(-2.0 * drift * top)
        exact = (1.0 - 1.0 / down) / (1.0 - up / down)
    assert ends.proven[-1] == pytest.approx(exact, abs=0.01)
    duration = top * bottom if drift == 0.0 else (exact * top - (1.0 - exact) * bottom) / drift
    found_duration = 1.0 + 0.5 * float((ends.open[1:] + ends.open[:-1]) @ np.diff(LABELS))
    assert found_duration == pytest.approx(duration, rel=0.12)
    assert ends.proven[-1] + ends.other[-1] == pytest.approx(1.0)
    assert (np.diff(ends.proven) >= -1e-12).all()
    assert (np.diff(ends.open) <= 1e-12).all()


def test_where_boundaries_meet_every_walk_has_ended() -> None:
    upper, lower = 20.0 + 0.0 * LABELS, -20.0 + 0.1 * LABELS
    ends = Boundaries(LABELS, upper, lower).endings(np.array([0.0, 0.05]), np.array([1.0, 1.0]))
    assert (ends.open[:, LABELS >= 400.0] <= 1e-9).all()
    assert (ends.open[:, LABELS < 50.0] > 0.5).all()


def differing_law(*shares: float) -> ScoreLaw:
    """The law of n − o where the models differ: new right, old right, both wrong."""
    codes = tuple(int(CODE_OF[cell]) for cell in DIFFERING)
    return ScoreLaw(np.array([1.0, -1.0, 0.0]), np.array(shares), codes, CELLS.outcomes)


def test_a_boundary_is_where_the_evidence_reaches_its_target() -> None:
    """At the boundary the evidence of a two-valued score is its target; also of futility."""
    clause = script("n - o > 0.02 +/- 0.01").clauses[0]
    goal = Goal.of(clause, Mode.FP_FREE)
    law = differing_law(0.5, 0.5, 0.0)
    labels = np.geomspace(10.0, 1600.0, 40)
    for hypothesis, aims, score in (
        (goal.proof, PROOF_AIMS, law),
        (goal.futility, FUTILITY_AIMS, -law),
    ):
        evidence = evidence_against(hypothesis, aims, 20_000, 1600, 12.0)
        found = boundary(evidence, 12.0, score, labels)
        reachable = labels >= 60.0
        high, low = (labels + found) / 2.0, (labels - found) / 2.0
        counts = np.zeros((len(labels), CELLS.outcomes))
        ends = law.outcomes if score is law else law.outcomes[1::-1]
        counts[:, ends[0]], counts[:, ends[1]] = high, low
        assert evidence.after(counts[reachable]) == pytest.approx(12.0, abs=0.8)


def test_a_target_out_of_reach_has_no_boundary() -> None:
    goal = Goal.of(script("n - o > 0.02 +/- 0.01").clauses[0], Mode.FP_FREE)
    evidence = evidence_against(goal.proof, PROOF_AIMS, 1000, 80, 500.0)
    found = boundary(evidence, 500.0, differing_law(0.5, 0.5, 0.0), np.geomspace(1.0, 80.0, 9))
    assert np.isinf(found).all()


def test_jumps_over_a_boundary() -> None:
    """Steps of 1 land half a step beyond on average; steps of .1 up and .9 down are not alike."""
    assert differing_law(0.5, 0.5, 0.0).overshoot == pytest.approx(0.5)
    law = ScoreLaw(np.array([1.0, 0.0]), np.array([0.9, 0.1]), (0, 1), CELLS.outcomes)
    assert law.overshoot == pytest.approx(0.05)
    assert (-law).overshoot == pytest.approx(0.45)


def test_a_target_that_stands_before_the_first_label_ends_every_walk() -> None:
    """A proof comes first if both stand: then futility has nothing to stop."""
    start, nowhere = np.full(len(LABELS), -np.inf), np.full(len(LABELS), np.inf)
    mean, deviation = np.array([-0.5, 0.5]), np.ones(2)
    assert (Boundaries(LABELS, start, nowhere).endings(mean, deviation).proven == 1.0).all()
    assert (Boundaries(LABELS, start, -nowhere).endings(mean, deviation).proven == 1.0).all()
    assert (Boundaries(LABELS, nowhere, nowhere).endings(mean, deviation).other == 1.0).all()
    never = Boundaries(LABELS, nowhere, -nowhere).endings(mean, deviation)
    assert (never.open[:, :-1] == 1.0).all()
    assert (never.other[:, -1] == 1.0).all()
