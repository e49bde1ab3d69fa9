"""The walk of a clause whose share of a class is known from a labelled prefix."""

from __future__ import annotations

import math

import numpy as np
import pytest

from easeci.bounds import binomial
from easeci.evidence.cells import Code
from easeci.evidence.clause_test import Goal, Targets
from easeci.evidence.codes import Flags
from easeci.evidence.endings import Ending
from easeci.evidence.facts import Facts
from easeci.evidence.labelled import LabelledTestset
from easeci.evidence.levels import StepLevels
from easeci.evidence.shared_prefix import Prefix, PrefixTest, PrefixWalk, ShareGoal
from easeci.script import Mode
from easeci.verdict.sequential import decide_sequentially
from tests.cases import each_case
from tests.measures import Shown, alphabet_of, clause_of, detector, value_of

CLAUSE = clause_of("n.recall(k) - o.recall(k) > -0.05 +/- 0.05")
SCORE = CLAUSE.score
LAW = detector(SCORE, 0.2, (0.8, 0.02), (0.75, 0.02))
LEVEL = math.log(0.001)
PREFIX = Prefix(2000, LEVEL, 0.1)


def drawn(size: int = 20_000, seed: int = 0) -> Facts:
    outcomes = np.random.default_rng(seed).choice(15, size, p=LAW).astype(np.uint8)
    return Shown(alphabet_of(SCORE)).facts(outcomes)


def labelled_up_to(facts: Facts, end: int) -> Facts:
    missing = np.where(facts.cells >= 2, Code.DIFFER_UNLABELLED, Code.AGREE_UNLABELLED)
    cells = np.where(np.arange(len(facts)) < end, facts.cells, missing).astype(np.uint8)
    return Facts(cells, facts.classes)


def walk_on(facts: Facts, at_hand: Flags | None = None) -> PrefixWalk:
    goal = Goal.of(CLAUSE, Mode.FP_FREE)
    targets = Targets(-LEVEL, -LEVEL, -LEVEL)
    return PrefixTest(goal, targets, PREFIX).walk(LabelledTestset(facts, at_hand))


@each_case("at_hand", [False, True])
@each_case("end", [0, 1, 1500, 1999])
def test_nothing_ends_within_the_prefix(end: int, at_hand: bool) -> None:
    """Whether its labels were at hand or not; all labels of the prefix are asked for at once."""
    facts = labelled_up_to(drawn(), end)
    hand = np.arange(len(facts)) < end if at_hand else None
    walk = walk_on(facts, hand)
    assert walk.ending is Ending.OPEN
    assert walk.labels == end
    levels = StepLevels(LEVEL, LEVEL, LEVEL)
    verdict = decide_sequentially(
        [CLAUSE], Mode.FP_FREE, levels, facts, at_hand=hand, prefixes={CLAUSE: PREFIX}
    )
    assert verdict.passed is None
    assert verdict.wanted == tuple(range(end, 2000))


def test_the_prefix_is_labelled_everywhere_and_the_rest_only_where_one_model_predicts_k() -> None:
    facts = drawn()
    walk = walk_on(facts)
    assert walk.ending is Ending.PROVEN
    used = walk.track.positions[: walk.labels]
    np.testing.assert_array_equal(used[:2000], np.arange(2000))
    assert facts.classes is not None
    only_one = (facts.classes.new == 0) != (facts.classes.old == 0)
    assert only_one[used[2000:]].all()
    assert walk.labels < 3000


def test_examples_are_counted_behind_the_prefix() -> None:
    """The bound depends on the prefix, so its examples must not count as evidence of d."""
    facts = drawn()
    walk = walk_on(facts)
    assert facts.classes is not None
    behind = ((facts.classes.new == 0) != (facts.classes.old == 0))[2000:]
    assert walk.test.examples == 18_000
    assert walk.test.relevant == np.count_nonzero(behind)


def test_the_limits_of_the_share_are_exact_and_unsettled_labels_widen_them() -> None:
    facts = drawn()
    assert facts.classes is not None
    found = int(np.count_nonzero(facts.classes.label[:2000] == 0))
    walk = walk_on(facts)
    assert walk.share == (
        binomial.lower_limit(found, 2000, LEVEL),
        binomial.upper_limit(found, 2000, LEVEL),
    )
    skipped = np.arange(len(facts)) % 50 == 0
    hidden = np.where(facts.cells >= 2, Code.DIFFER_UNSETTLED, Code.AGREE_UNSETTLED)
    unsettled = Facts(np.where(skipped, hidden, facts.cells).astype(np.uint8), facts.classes)
    low, high = walk_on(unsettled).share
    assert low < walk.share[0] < walk.share[1] < high


@each_case(("bound", "used"), [(0.1, "high"), (-0.1, "low")])
def test_each_hypothesis_takes_the_limit_that_is_worse_for_it(bound: float, used: str) -> None:
    """ "mean ≤ b·p" with b > 0 is at its weakest at the upper limit of p, with b < 0 at the lower."""
    goal = ShareGoal(SCORE, bound, 0.02, (0.1, 0.3))
    assert goal.proof.bound == pytest.approx(bound * (0.3 if used == "high" else 0.1))
    assert goal.claim.bound == pytest.approx(-bound * (0.1 if used == "high" else 0.3))
    clear = bound + 0.04
    assert goal.futility.bound == pytest.approx(-clear * (0.1 if clear > 0 else 0.3))


def test_the_estimate_divides_by_the_share_of_the_class() -> None:
    """Near the truth, although only examples where the models differ have labels."""
    truth = value_of(SCORE, LAW)
    found = []
    for seed in range(8):
        walk = walk_on(drawn(seed=seed))
        estimate = walk.estimate(SCORE, walk.labels)
        assert estimate is not None
        assert walk.estimate(SCORE, 1999) is None
        low, high = walk.seen(SCORE, walk.labels, LEVEL).interval
        assert low <= truth <= high
        assert low <= estimate <= high
        found.append(estimate)
    # Walks stop where they look best, so the mean is a little too high.
    assert float(sum(found) / len(found)) == pytest.approx(truth, abs=0.05)


def test_a_testset_that_is_all_prefix_ends_without_a_proof() -> None:
    walk = walk_on(drawn(300))
    assert walk.ending is Ending.EXHAUSTED
    assert walk.labels == 300
    assert walk.estimate(SCORE, 300) is None
    assert walk.seen(SCORE, 300, LEVEL).interval == (-1.0, 1.0)


@each_case("condition", ["> -0.05 +/- 0.05", "> 0 +/- 0.05", "> 0.03 +/- 0.05"])
@each_case("mode", Mode)
def test_whoever_skips_labels_of_the_prefix_only_lowers_the_evidence(
    condition: str, mode: Mode
) -> None:
    """Whichever they are: somebody may know all later labels, and choose by them."""
    goal = Goal.of(clause_of(f"n.recall(k) - o.recall(k) {condition}"), mode)
    never = Targets(1e9, 1e9, 1e9)
    facts, random = drawn(6000), np.random.default_rng(4)
    test = PrefixTest(goal, never, PREFIX)
    honest = test.walk(LabelledTestset(facts))
    after = np.arange(2000, honest.labels, 40)
    known = honest.course(after)
    for share in (0.01, 0.1, 0.5, 1.0):
        skipped = (random.random(len(facts)) < share) & (np.arange(len(facts)) < 2000)
        for some in (skipped, skipped & (facts.cells >= 2), skipped & (facts.cells < 2)):
            unsettled = np.where(facts.cells >= 2, Code.DIFFER_UNSETTLED, Code.AGREE_UNSETTLED)
            cells = np.where(some, unsettled, facts.cells).astype(np.uint8)
            found = test.walk(LabelledTestset(Facts(cells, facts.classes))).course(after)
            for attacked, fair in zip(found, known, strict=True):
                assert (attacked <= fair + 1e-9).all()
