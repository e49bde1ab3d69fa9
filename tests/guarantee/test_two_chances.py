"""``auto`` is settled when a testset is sealed: all labels may arrive later, in the middle of a test.

An older rule decided by the sequential test as long as labels were missing, and by the exact one
when all were there. That gives a commit two chances of a wrong pass, each with probability δ.

The models of these lives differ on every example, and the new one is right on so many inputs that
its true gain is the threshold. A few labels come one by one, then all the others at once.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from easeci.script import Estimator
from tests.guarantee.life import RIGHT, WRONG, Hole, Life, Model, Piece, Points, World
from tests.guarantee.test_attacks import HOW_MANY, WHICH, most_wrong

KEYS = {
    "mode": "fp-free",
    "adaptivity": "firstChange",
    "steps": "1",
    "sensitivity": "0.999",
    "estimator": "auto",
}
CONDITIONS = ("n - o > 0 +/- 0.45", "n - o > -0.01 +/- 0.45")
RIGHT_SHARE = (0.5, 0.495)
"""How often the new model is right under either condition, so that n - o is its threshold."""


def live(points: Points, which: int, first: int, reliability: float, hole: Hole | None) -> Life:
    """A life of one step: the first labels come one by one, then all others."""
    keys = KEYS | {"condition": CONDITIONS[which], "reliability": str(reliability)}
    cut = RIGHT_SHARE[which]
    life = Life(World(points, tuple(keys.items()), cut=cut, hole=hole))
    assert life.testset.estimator is Estimator.SEQUENTIAL, "settled, because labels are missing"
    life.submit(Model(((Piece(0.0, cut), RIGHT), (Piece(cut, 1.0), WRONG))))
    for position in life.wanted()[:first]:
        life.add_labels([position])
        life.advance()
    if life.wanted():
        life.add_labels(range(len(points)))
        life.advance()
    assert life.bits in ("P", "F")
    assert life.wrong_pass == (life.bits == "P")
    return life


@pytest.mark.parametrize(
    ("named", "labelled", "settled"),
    [
        ("auto", True, Estimator.EXACT),
        ("auto", False, Estimator.SEQUENTIAL),
        ("sequential", True, Estimator.SEQUENTIAL),
        ("exact", False, Estimator.EXACT),
    ],
)
def test_a_life_decides_by_what_the_service_settles_on(
    named: str, labelled: bool, settled: Estimator
) -> None:
    """auto is exact only if every label comes with the testset; a named estimator stays."""
    keys = KEYS | {"condition": CONDITIONS[0], "reliability": "0.9", "estimator": named}
    life = Life(World(np.linspace(0.0, 0.9, 8), tuple(keys.items()), labelled=labelled))
    assert life.testset.estimator is settled


def chance_of_a_wrong_pass(which: int, size: int, reliability: float, hole: Hole | None) -> float:
    """Exactly: by the lives of all testsets of this size, each with its probability."""
    share, total = RIGHT_SHARE[which], 0.0
    for wins in product((True, False), repeat=size):
        points = np.where(wins, share / 2, (1 + share) / 2)
        if live(points, which, 4, reliability, hole).wrong_pass:
            total += share ** sum(wins) * (1 - share) ** (size - sum(wins))
    return total


ENUMERATED = pytest.mark.parametrize(
    ("which", "size", "reliability"),
    [(0, 8, 0.847), pytest.param(1, 10, 0.827, marks=pytest.mark.long)],
)
"""Levels at which the exact test alone uses almost all of δ."""


@ENUMERATED
def test_a_wrong_pass_has_no_more_than_the_promised_probability(
    which: int, size: int, reliability: float
) -> None:
    """Exact enumeration: there is no false alarm."""
    assert chance_of_a_wrong_pass(which, size, reliability, None) <= 1 - reliability


@ENUMERATED
def test_two_chances_break_the_promise(which: int, size: int, reliability: float) -> None:
    """The test above can fail: by the older rule the probability exceeds δ."""
    found = chance_of_a_wrong_pass(which, size, reliability, Hole.TWO_CHANCES)
    assert found > 1.05 * (1 - reliability)


@WHICH
@HOW_MANY
def test_wrong_passes_are_as_rare_as_promised_on_larger_testsets(which: int, lives: int) -> None:
    """A rate of exactly .1 gives a false alarm with probability 1 in 1,000, in each case."""
    points = np.random.default_rng(7).random((lives, 200))
    wrong = sum(live(row, which, 20, 0.9, None).wrong_pass for row in points)
    assert wrong <= most_wrong(lives)
