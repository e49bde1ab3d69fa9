"""No answer for nothing tells where sealed examples lie: lives of an adversary, with δ = 0.1.

Each attack lives 40 times, and 200 times among the long tests. The examples of each life are drawn
anew; the developer does the same in each life as long as the answers are the same.

* *Rate.* The test fails if more lives have a wrong pass than a rate of exactly δ would give with
  probability 1 in 1,000. With 14 cases at either number of lives, a false alarm has probability
  below .014 for each if every rate were δ; the adversary here wins none of them, and the seeds are
  fixed.
* *View.* Two lives with the same disclosed bits show their developer the same at every moment. This
  holds exactly: there is no false alarm.

The same lives by an older rule break both.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy import stats

from tests.guarantee.adversary import (
    Ask,
    Search,
    by_crash,
    by_same_predictions,
    by_spelling,
    by_unchanged,
    by_undeclared_class,
    by_waiting,
)
from tests.guarantee.life import Hole, Life, World

DELTA = 0.1
EXAMPLES = 300
SAMPLE = np.random.default_rng(1_000_000).random(20)
KEYS = {
    "condition": "n - o > 0 +/- 0.01",
    "reliability": "0.9",
    "mode": "fp-free",
    "adaptivity": "full",
    "steps": "32",
    "estimator": "sequential",
}
CONDITIONS = ("n - o > 0 +/- 0.01", "n - o > -0.01 +/- 0.01")
LONG = pytest.param(200, marks=pytest.mark.long)
HOW_MANY = pytest.mark.parametrize("lives", [40, LONG])
FEWER = pytest.mark.parametrize("lives", [20, LONG])
"""Enough to see a rule that does not hold."""


def most_wrong(lives: int) -> int:
    """A rate of δ gives more wrong passes than this with probability at most 1 in 1,000."""
    return int(stats.binom.isf(0.001, lives, DELTA))


@dataclass(frozen=True)
class Attack:
    """An attack: how the developer asks, for each of the two conditions, and the older rule."""

    searches: tuple[Search, Search]
    hole: Hole | None
    keys: dict[str, str] = field(default_factory=dict)
    closed_by: dict[str, str] = field(default_factory=dict)
    """Keys of the script that close the hole, where it is a matter of the script."""
    labelled: bool = True

    def live(self, which: int, lives: int, *, closed: bool) -> list[Life]:
        """So many lives under one of the two conditions."""
        keys = KEYS | {"condition": CONDITIONS[which]} | self.keys
        if closed:
            keys |= self.closed_by
        lived = []
        for seed in range(lives):
            world = World(
                examples=np.random.default_rng(seed).random(EXAMPLES),
                keys=tuple(keys.items()),
                sample=SAMPLE,
                labelled=self.labelled,
                hole=None if closed else self.hole,
            )
            life = Life(world)
            self.searches[which].run(life)
            lived.append(life)
        return lived


def search_by(ask: Ask, width: float, wins: tuple[int, int], **more: int) -> tuple[Search, Search]:
    """The search under either condition; they need different numbers of wins."""
    first, second = (Search(ask, width, count, **more) for count in wins)
    return first, second


ATTACKS = {
    "the same predictions as the baseline": Attack(
        search_by(by_same_predictions, 0.3, (16, 12)), Hole.SAME_PREDICTIONS
    ),
    "unchanged on a known sample": Attack(
        search_by(by_unchanged, 0.3, (16, 12), patience=70), Hole.SEALED_UNCHANGED
    ),
    "unchanged, and always tested": Attack(
        search_by(by_unchanged, 0.3, (16, 12)), Hole.SEALED_UNCHANGED, {"unchanged": "test"}
    ),
    "failed builds": Attack(search_by(by_crash, 1.0, (13, 10)), Hole.FREE_FAILURE),
    "undeclared classes": Attack(search_by(by_undeclared_class, 1.0, (13, 10)), Hole.FREE_REFUSAL),
    "classes that no label has": Attack(search_by(by_spelling, 0.3, (16, 12)), Hole.LABEL_REFUSAL),
    "waiting": Attack(
        search_by(by_waiting, 1.0, (11, 9), attempts=1),
        hole=None,
        keys={"adaptivity": "firstChange", "steps": "64"},
        closed_by={"disclose": "1d"},
        labelled=False,
    ),
}
EACH = pytest.mark.parametrize(
    "attack", ATTACKS.values(), ids=[n.replace(" ", "-") for n in ATTACKS]
)
WHICH = pytest.mark.parametrize("which", [0, 1], ids=["c=0", "c=-.01"])


def views_by_bits(lived: list[Life]) -> dict[str, set[tuple[tuple[str, str], ...]]]:
    """Everything that developers saw, in all lives with the same disclosed bits."""
    views = defaultdict(set)
    for life in lived:
        views[life.bits].add(tuple(life.seen))
    return dict(views)


@EACH
@WHICH
@HOW_MANY
def test_wrong_passes_are_as_rare_as_promised(attack: Attack, which: int, lives: int) -> None:
    """At most the promised share of lives has a wrong pass; equal bits come with equal views."""
    lived = attack.live(which, lives, closed=True)
    assert sum(life.wrong_pass for life in lived) <= most_wrong(lives)
    assert all(len(views) == 1 for views in views_by_bits(lived).values())


@EACH
@WHICH
@FEWER
def test_the_older_rule_breaks_the_promise(attack: Attack, which: int, lives: int) -> None:
    """The test above can fail: most lives have a wrong pass, and views tell more than the bits."""
    lived = attack.live(which, lives, closed=False)
    assert sum(life.wrong_pass for life in lived) > max(most_wrong(lives), 3 * lives // 4)
    assert any(len(views) > 1 for views in views_by_bits(lived).values())
