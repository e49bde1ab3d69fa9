"""Every measure keeps its promises at the threshold, by seeded simulation.

Walks never stop early, so it is the largest evidence along the whole testset that counts. Half of
them have skipped labels, chosen by somebody who knows the truth. With fixed seeds a test always has
the same answer. Of other seeds it would fail, for a right engine, at most one in a thousand.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from easeci.evidence.shared_prefix import Prefix
from easeci.script import Mode, Score
from easeci.script.outcomes import Outcome
from easeci.script.score import Blocks
from tests.cases import each_case
from tests.guarantee.measured_worlds import BlockWorld, ExampleWorld, RivalWorld, World
from tests.measures import clause_of, detector, law_of, most_errors, value_of

ALPHA, BETA = 0.2, 0.2
FUTILITY = 0.95 * BETA
"""A part of β is for testsets that end too early."""


def cells_world(condition: str, size: int = 600, members: float = 1.0) -> World:
    """A new model that is right on few examples, or on most."""
    clause = clause_of(condition)
    low = law_of(clause.score, lambda o: [0.2, 0.2, 0.05, 0.5, 0.05][_cell(o)])
    high = law_of(clause.score, lambda o: [0.4, 0.01, 0.57, 0.01, 0.01][_cell(o)])
    return ExampleWorld(clause, size, low, high, members=members)


def _cell(outcome: Outcome) -> int:
    if outcome.differ and not outcome.new_right and not outcome.old_right:
        return 4
    return [(1, 1), (0, 0), (1, 0), (0, 1)].index((outcome.new_right, outcome.old_right))


def found_world(
    condition: str,
    share: float = 0.3,
    size: int = 800,
    *,
    prefix: int = 0,
    members: float = 1.0,
    old: tuple[float, float] = (0.5, 0.05),
) -> World:
    """A model that finds few or most of a class, against one that finds half of it."""
    clause = clause_of(condition)
    laws = (detector(clause.score, share, rates, old) for rates in ((0.05, 0.25), (0.97, 0.004)))
    low, high = sorted(laws, key=lambda law: value_of(clause.score, law))
    level = Prefix(prefix, math.log(0.02), share) if prefix else None
    return ExampleWorld(clause, size, low, high, level, members)


def two_classes_world() -> World:
    """One model that finds class k more often than class b, or less often."""
    clause = clause_of("recall(k) - recall(b) > 0.1 +/- 0.2")

    def chance(outcome: Outcome, found: tuple[float, ...]) -> float:
        rate = (0.3, 0.2, 0.5)[outcome.label]
        hit = found[outcome.label]
        return 0.0 if outcome.differ else rate * (hit if outcome.new_right else 1.0 - hit)

    low = law_of(clause.score, lambda o: chance(o, (0.1, 0.9, 1.0)))
    high = law_of(clause.score, lambda o: chance(o, (0.95, 0.1, 1.0)))
    return ExampleWorld(clause, 800, low, high)


def block_world(shape: tuple[int, int], share: float, *, gain: bool = False) -> World:
    old = Fraction(-1 if gain else 0)
    blocks = Blocks("k", *shape, Fraction(1), old)
    score = Score.of_blocks(blocks, "auc")
    threshold = Fraction("0.1") if gain else Fraction("0.7")
    base = clause_of("n > 0.7 +/- 0.1")
    clause = replace(base, score=score, threshold=threshold, tolerance=Fraction("0.1"))
    return BlockWorld(clause, 900, share, gain)


def rival_world(rank: int, rivals: int, bound: str = "0.05") -> World:
    return RivalWorld(clause_of(f"n - top({rank}) > {bound} +/- 0.1"), 200, rivals)


MIXED = "n - o - precision(k) > -0.4 +/- 0.07"
WORLDS = {
    "ratio": cells_world("n / o > 1.1 +/- 0.1"),
    "precision": found_world("precision(k) > 0.7 +/- 0.1"),
    "recall": found_world("recall(k) > 0.6 +/- 0.1"),
    "recall of a rare class": found_world("recall(k) > 0.6 +/- 0.15", 0.02, 4000),
    "f1 of a rare class": found_world("f1(k) > 0.5 +/- 0.15", 0.02, 4000),
    "recalls, above": found_world("n.recall(k) - o.recall(k) > 0.1 +/- 0.1"),
    "recalls, below": found_world("n.recall(k) - o.recall(k) > -0.1 +/- 0.1"),
    "recalls, below, prefix": found_world(
        "n.recall(k) - o.recall(k) > -0.15 +/- 0.05", 0.3, 1600, prefix=400
    ),
    "recalls, above, prefix": found_world(
        "n.recall(k) - o.recall(k) > 0.1 +/- 0.1", 0.1, 1600, prefix=400
    ),
    "recall, prefix": found_world("recall(k) > 0.5 +/- 0.15", 0.3, 1600, prefix=600),
    "precisions": found_world("n.precision(k) - o.precision(k) > -0.3 +/- 0.2"),
    "f1s": found_world("n.f1(k) - o.f1(k) > -0.1 +/- 0.2"),
    "a mean and a ratio": found_world(MIXED, size=500, old=(0.2, 0.3)),
    "two classes": two_classes_world(),
    "slice": cells_world("n[age>=65] > 0.6 +/- 0.15", 1500, 0.05),
    "recall in a slice": found_world("recall(k)[lang=de] > 0.5 +/- 0.2", size=1500, members=0.06),
    "auc 2x2": block_world((2, 2), 0.5),
    "auc 1x9": block_world((1, 9), 0.1),
    "auc, gain": block_world((2, 2), 0.5, gain=True),
    "top 1": rival_world(1, 3),
    "top 2": rival_world(2, 4),
    "top 2, below": rival_world(2, 3, "-0.1"),
    "top 3, all": rival_world(3, 3),
}
MODES = list(Mode)


def check(world: World, runs: int) -> None:
    for mode in MODES:
        proofs = world.wrong_proofs(mode, ALPHA, runs)
        assert proofs <= most_errors(runs, ALPHA + world.extra), (mode, "proofs", proofs)
        futile = world.wrong_futility(mode, BETA, runs)
        assert futile <= most_errors(runs, FUTILITY + world.extra), (mode, "futile", futile)


SLOW = {"a mean and a ratio", "two classes", *(name for name in WORLDS if "top" in name)}


@each_case("name", list(WORLDS))
def test_errors_at_the_threshold_are_as_rare_as_promised(name: str) -> None:
    """Both modes: wrong proofs at c, and walks that are futile where a proof is promised."""
    check(WORLDS[name], 4 if name in SLOW else 8 if "prefix" in name else 12)


@pytest.mark.long
@pytest.mark.parametrize("name", list(WORLDS))
def test_errors_at_the_threshold_are_as_rare_as_promised_in_many_runs(name: str) -> None:
    check(WORLDS[name], 60 if name in SLOW else 200 if "prefix" in name else 500)


@each_case("name", list(WORLDS))
def test_each_side_of_the_zone_is_recognised(name: str) -> None:
    """These testsets are long enough that the tests above would notice an error."""
    proofs, futile = WORLDS[name].right_endings(ALPHA, 5)
    assert proofs >= 3
    assert futile >= 3
