"""The tests of one clause: what they must prove, and where a walk ends."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from easeci.evidence.clause_test import Goal, SequentialTest, Targets
from easeci.evidence.endings import Ending
from easeci.evidence.labelled import LabelledTestset
from easeci.script import Mode, compile_condition, parse_condition
from easeci.script.outcomes import Cell
from tests.cases import each_case

TARGETS = Targets(proof=3.0, futility=2.0, claim=3.0)


def goal(text: str, mode: Mode = Mode.FP_FREE) -> Goal:
    (clause,) = compile_condition(parse_condition(text))
    return Goal.of(clause, mode)


@each_case(("mode", "sign"), [(Mode.FP_FREE, 1.0), (Mode.FN_FREE, -1.0)])
def test_the_proof_of_fn_free_is_the_mirror_image(mode: Mode, sign: float) -> None:
    """fp-free proves that Φ is above c, fn-free that it is below; < is > with both sides negated."""
    for text, c, coefficient in (("n > 0.25 +/- 0.1", 0.25, 1), ("n < 0.25 +/- 0.1", -0.25, -1)):
        found = goal(text, mode)
        assert (found.bound, float(found.score.new)) == (sign * c, sign * coefficient)
        assert found.clear == pytest.approx(found.bound + 0.2)
        assert (found.claim.bound, found.claim.entry(2)) == (
            -found.bound,
            -found.score.of(Cell.NEW_RIGHT),
        )


def test_a_promise_beyond_the_range_is_half_of_the_way() -> None:
    assert goal("n > 0.9 +/- 0.1").clear == pytest.approx(0.95)


@each_case("text", ["n - o > 0.05 +/- 0.05", "n > 0.6 +/- 0.1", "n - 1.1 * o < 0.1 +/- 0.1"])
@each_case("seed", range(4))
def test_a_walk_ends_at_the_first_label_that_reaches_a_target(text: str, seed: int) -> None:
    """Against a scan: the curves after each number of labels, and the first that is high enough."""
    laws = ([0.3, 0.1, 0.5, 0.05, 0.05], [0.2, 0.4, 0.1, 0.2, 0.1])
    codes = np.random.default_rng(seed).choice(5, 120, p=laws[seed % 2]).astype(np.uint8)
    test = SequentialTest.of(goal(text), TARGETS, len(codes), int((codes >= 2).sum()))
    walk = test.walk(LabelledTestset(codes))
    expected = (Ending.EXHAUSTED, len(walk.track.positions))
    for labels in range(len(walk.codes) + 1):
        proof, futility, _ = walk.curves(labels)
        if proof.evidence >= proof.target or futility.evidence >= futility.target:
            proven = proof.evidence >= proof.target
            expected = (Ending.PROVEN if proven else Ending.FUTILE, labels)
            break
    assert (walk.ending, walk.labels) == expected
    ends = [walk.curves(labels)[:2] for labels in (5, 10)]
    course = walk.course(np.array([5, 10]))
    np.testing.assert_allclose(course, [[end[i].evidence for end in ends] for i in (0, 1)])


def test_a_clause_on_d_has_the_evidence_of_an_exact_tail() -> None:
    """d < 1/4: −ln of the probability of so few differing examples at d = 1/4, in fractions."""
    for differing in range(13):
        test = SequentialTest.of(goal("d < 0.25 +/- 0.1"), TARGETS, 12, differing)
        tail = sum(
            math.comb(12, k) * Fraction(1, 4) ** k * Fraction(3, 4) ** (12 - k)
            for k in range(differing + 1)
        )
        codes = np.array([2] * differing + [5] * (12 - differing), np.uint8)
        walk = test.walk(LabelledTestset(codes))
        assert walk.curves(0)[0].evidence == pytest.approx(-math.log(tail), abs=1e-12)
        assert (walk.labels, walk.ending is Ending.PROVEN) == (0, -math.log(tail) >= 3.0)
