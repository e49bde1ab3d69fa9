"""Commits of a mix: drawn by its law, and every label that a verdict used is found again."""

from __future__ import annotations

import math

import numpy as np

from easeci.evidence.cells import Code
from easeci.plan.commit_mix import BOLD, MIXED
from easeci.simulation.mixed import (
    SharedLabels,
    draw_commit,
    draw_gains,
    right_after,
    used_labels,
)
from easeci.verdict.decide import decide
from tests.cases import each_case
from tests.scripts import script

EXAMPLES = 200_000


@each_case(("gain", "accuracy"), [(0.0, 0.7), (0.05, 0.7), (-0.05, 0.9), (0.02, 0.97), (0.0, 1.0)])
def test_a_drawn_commit_follows_the_law_of_its_mix(gain: float, accuracy: float) -> None:
    """Each cell within five standard deviations: one false alarm in 100,000 for 25 cells."""
    draw = np.random.default_rng(5)
    right = draw.random(EXAMPLES) < accuracy
    law = MIXED.law(np.array(gain), np.array(right.mean()))
    counts = np.bincount(draw_commit(right, gain, MIXED, draw), minlength=len(law))
    for count, share in zip(counts, law, strict=True):
        assert abs(count - EXAMPLES * share) <= 5.0 * math.sqrt(EXAMPLES * share * (1 - share)) + 1


def test_a_commit_changes_the_baseline_where_its_codes_say_so() -> None:
    draw = np.random.default_rng(6)
    right = draw.random(1000) < 0.7
    codes = draw_commit(right, 0.01, BOLD, draw)
    assert (right == np.isin(codes, [Code.AGREE_RIGHT, Code.OLD_RIGHT])).all()
    assert (right_after(codes) == np.isin(codes, [Code.AGREE_RIGHT, Code.NEW_RIGHT])).all()


def test_gains_are_those_of_the_mix() -> None:
    gains = draw_gains(MIXED, 20_000, np.random.default_rng(7))
    assert abs(gains.mean()) < 5 * 0.02 / math.sqrt(20_000)
    assert abs(gains.std() - 0.02) < 0.001
    assert np.abs(gains).max() == MIXED.largest


@each_case(
    "condition",
    [
        "n - o > 0.02 +/- 0.02",
        "n > 0.7 +/- 0.03",
        "n - 1.1 * o > 0 +/- 0.05",
        r"n - o > 0.02 +/- 0.02 /\ n > 0.7 +/- 0.03",
        r"n - o > 0.02 +/- 0.02 /\ d < 0.1 +/- 0.02",
        "d < 0.1 +/- 0.02",
    ],
)
@each_case("estimator", ["sequential", "exact", "hoeffding"])
def test_the_labels_that_a_verdict_used_are_as_many_as_it_says(
    condition: str, estimator: str
) -> None:
    """The verdict counts its labels in its own way; also with some labels at hand."""
    asked = script(condition, estimator=estimator, reliability=0.99, steps=4, adaptivity="full")
    draw = np.random.default_rng(8)
    right = draw.random(6000) < 0.7
    shared = SharedLabels(6000)
    before = 0
    for gain in draw_gains(MIXED, 4, draw):
        codes = draw_commit(right, float(gain), MIXED, draw)
        verdict = decide(asked, codes, "", at_hand=shared.known)
        assert np.count_nonzero(used_labels(verdict, codes)) == verdict.labels
        before += shared.add(verdict, codes, asked)
        assert before == np.count_nonzero(shared.known)
