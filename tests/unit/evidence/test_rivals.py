"""The new model against several earlier ones: ranks, and the walk over all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from easeci.evidence.cells import Code
from easeci.evidence.clause_test import Goal, SequentialTest, Targets
from easeci.evidence.codes import Codes
from easeci.evidence.endings import Ending
from easeci.evidence.facts import Facts, Known
from easeci.evidence.labelled import LabelledTestset
from easeci.evidence.rivals import RivalsTest, RivalsWalk
from easeci.script import Mode
from tests.cases import each_case
from tests.measures import clause_of

TARGETS = Targets(8.0, 8.0, 8.0)


def rivals(gains: list[float], size: int = 3000, seed: int = 0) -> Facts:
    """A new model that is right on 7 of 10, and earlier ones that are worse by these gains."""
    random = np.random.default_rng(seed)
    new = random.random(size) < 0.7
    columns = []
    for gain in gains:
        chance = np.where(new, 1.0 - max(gain, 0.0) / 0.7 - 0.05, max(-gain, 0.0) / 0.3 + 0.117)
        old = random.random(size) < chance
        differ = np.where(new, Code.NEW_RIGHT, Code.OLD_RIGHT)
        agree = np.where(new, Code.AGREE_RIGHT, Code.AGREE_WRONG)
        columns.append(np.where(new == old, agree, differ).astype(np.uint8))
    return Facts(columns[0], rivals=tuple(columns))


def walk_on(facts: Facts, rank: int, mode: Mode = Mode.FP_FREE) -> RivalsWalk:
    goal = Goal.of(clause_of(f"n - top({rank}) > 0 +/- 0.05"), mode)
    return RivalsTest(goal, TARGETS).walk(LabelledTestset(facts))


@each_case(
    ("gains", "rank", "proven"),
    [
        ([0.2, 0.2, 0.2], 1, True),
        ([0.2, -0.2, 0.2], 1, False),
        ([0.2, -0.2, 0.2], 2, True),
        ([0.2, -0.2, -0.2], 2, False),
        ([0.2, -0.2, -0.2], 3, True),
        ([0.2, -0.2], 5, True),
        ([-0.2, -0.2], 5, False),
    ],
)
def test_all_but_some_earlier_models_must_be_worse(
    gains: list[float], rank: int, proven: bool
) -> None:
    """With fewer models than the rank, one of them must be worse. fn-free asks the same."""
    facts = rivals(gains)
    assert walk_on(facts, rank).ending is (Ending.PROVEN if proven else Ending.FUTILE)
    other = walk_on(facts, rank, Mode.FN_FREE).ending
    assert other is (Ending.FUTILE if proven else Ending.PROVEN)


def test_one_earlier_model_is_tested_like_the_old_one() -> None:
    """The same ending after as many labels, and the same curves."""
    facts = rivals([0.1])
    walk = walk_on(facts, 1)
    testset = LabelledTestset(facts)
    goal = Goal.of(clause_of("n - o > 0 +/- 0.05"), Mode.FP_FREE)
    single = SequentialTest.on(goal, TARGETS, testset).walk(testset)
    assert (walk.ending, walk.labels) == (single.ending, single.labels)
    for mine, other in zip(walk.curves(40), single.curves(40), strict=True):
        assert mine.evidence == pytest.approx(other.evidence)
    score = clause_of("n - top(1) > 0 +/- 0.05").score
    found = walk.seen(score, 40, -5.0).interval
    assert found == pytest.approx(single.seen(goal.score, 40, -5.0).interval)


def by_definition(facts: Facts, rank: int, after: int) -> float:
    """ln of the rank-th smallest evidence, divided by the rank, after some labels of the walk."""
    goal = Goal.of(clause_of("n - o > 0 +/- 0.05"), Mode.FP_FREE)
    stacked = np.stack(facts.rivals)
    places = np.flatnonzero((stacked >= 2).any(axis=0))[:after]
    found = []
    for codes in facts.rivals:
        test = SequentialTest.of(goal, TARGETS, len(codes), int(np.count_nonzero(codes >= 2)))
        used: Codes = codes[places]
        counts = np.bincount(used, minlength=5)[:5].astype(float)
        found.append(float(test.proof.after(counts[None, :])[0]))
    return sorted(found)[rank - 1] - math.log(rank)


@each_case("rank", [1, 2, 3])
def test_evidence_is_that_of_the_rank_divided_by_it(rank: int) -> None:
    facts = rivals([0.1, 0.0, -0.05])
    walk = walk_on(facts, rank)
    for after in (0, 1, 50, 200):
        assert walk.course(np.array([after]))[0][0] == pytest.approx(
            by_definition(facts, rank, after)
        )


@each_case("seed", range(6))
@each_case(("rank", "target"), [(1, 2.0), (2, 4.0), (3, 8.0)])
def test_the_first_end_is_found_in_whatever_block_it_is(
    seed: int, rank: int, target: float
) -> None:
    """The same as by looking at every label."""
    facts = rivals([0.04, 0.03, 0.0, 0.05], size=4000, seed=seed)
    goal = Goal.of(clause_of(f"n - top({rank}) > 0.02 +/- 0.02"), Mode.FP_FREE)
    at_hand = np.random.default_rng(seed).random(len(facts)) < 0.5 if seed % 2 else None
    walk = RivalsTest(goal, Targets(target, target, target)).walk(LabelledTestset(facts, at_hand))
    every = np.arange(len(walk.track.positions) + 1)
    proof, futility = (curve >= target for curve in walk.course(every))
    moments = walk.track.moments()
    futile = np.flatnonzero(futility if moments is None else futility & moments)
    proven = np.flatnonzero(proof)
    last = len(every) - 1
    first, stop = (int(found[0]) if len(found) else last + 1 for found in (proven, futile))
    expected = (Ending.PROVEN, first) if first <= stop else (Ending.FUTILE, stop)
    if min(first, stop) > last:
        expected = (Ending.EXHAUSTED, last)
    assert (walk.ending, walk.labels) == expected


def test_labels_are_asked_for_where_any_model_differs_until_one_is_missing() -> None:
    facts = rivals([0.02, 0.02], size=400)
    differ = np.flatnonzero((np.stack(facts.rivals) >= 2).any(axis=0))
    missing = int(differ[20])
    testset = LabelledTestset(facts)
    goal = Goal.of(clause_of("n - top(1) > 0 +/- 0.05"), Mode.FP_FREE)
    test = RivalsTest(goal, Targets(50.0, 50.0, 50.0))
    assert test.walk(testset).ending is Ending.EXHAUSTED
    np.testing.assert_array_equal(test.walk(testset).track.positions, differ)
    shown = testset.facts.known_at(missing)
    hidden = tuple(
        Code.DIFFER_UNLABELLED if code >= 2 else Code.AGREE_UNLABELLED for code in shown.rivals
    )
    testset.put(missing, Known(hidden[0], 0, hidden))
    open_walk = test.walk(testset)
    assert (open_walk.ending, open_walk.labels) == (Ending.OPEN, 20)
    testset.put(missing, shown)
    assert test.walk(testset).ending is Ending.EXHAUSTED


def test_a_rank_needs_earlier_models() -> None:
    with pytest.raises(ValueError, match="earlier models"):
        walk_on(Facts(np.zeros(3, np.uint8)), 1)
