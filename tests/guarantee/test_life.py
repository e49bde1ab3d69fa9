"""The lives of these tests are lives by the real rules; and failing programs, case by case.

The cases here compare two worlds that differ in one sealed example alone. Developers must see the
same in both, at every moment.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from easeci.evidence.cells import Code
from easeci.ledger.events import (
    Charged,
    Decided,
    SealedRunBegun,
    SealedRunFailed,
    StepShared,
)
from easeci.ledger.signals import Signal
from easeci.script import Script
from easeci.verdict.decide import decide
from tests.guarantee.adversary import Search, by_crash
from tests.guarantee.life import (
    CRASH,
    OTHER,
    RIGHT,
    UNDECLARED,
    WRONG,
    Hole,
    Life,
    Model,
    Piece,
    World,
)
from tests.scripts import script

EVENLY = (np.arange(300) + 0.5) / 300
KEYS = {
    "condition": "n - o > 0 +/- 0.05",
    "reliability": "0.9",
    "mode": "fp-free",
    "adaptivity": "full",
    "steps": "8",
    "estimator": "sequential",
}
SMALL = Piece(0.2, 0.2001)
"""No example lies in it, unless one is put there."""
BETTER = Model(((Piece(0.0, 0.15), RIGHT),))


def world(hit: bool = False, *, labelled: bool = True, **keys: str) -> World:
    """Evenly spread examples; ``hit`` says whether one of them lies in SMALL."""
    examples = EVENLY.copy()
    near = int(np.argmin(abs(examples - SMALL.start)))
    examples[near] = SMALL.start + 0.00005 if hit else SMALL.start - 0.00005
    return World(examples, tuple((KEYS | keys).items()), labelled=labelled)


def same_in_both(
    live: Callable[[Life], None], *, labelled: bool = True, **keys: str
) -> tuple[Life, Life]:
    """Live in both worlds, and require the same view."""
    hit, missed = (Life(world(hit, labelled=labelled, **keys)) for hit in (True, False))
    for life in (hit, missed):
        live(life)
        life.look_at_all()
    assert hit.seen == missed.seen
    return hit, missed


@pytest.mark.parametrize("answer", [CRASH, UNDECLARED, OTHER])
@pytest.mark.parametrize("adaptivity", ["full", "firstChange", "none"])
def test_developers_do_not_see_whether_a_program_failed(answer: int, adaptivity: str) -> None:
    """It fails on a sealed example, or differs there, or neither: the same charged answer."""
    told: list[Signal] = []

    def live(life: Life) -> None:
        told.append(life.submit(Model(((SMALL, answer),))))
        told.append(life.submit(Model(((SMALL, WRONG),))))

    lives = same_in_both(live, adaptivity=adaptivity)
    assert [life.testset.steps_used for life in lives] == [2, 2]
    assert set(told) == {Signal.ACCEPTED if adaptivity == "none" else Signal.FAIL}


def test_a_program_that_fails_is_charged_while_an_earlier_step_waits() -> None:
    """It is never superseded by a newer commit, and fails in its turn."""

    def live(life: Life) -> None:
        assert life.submit(BETTER) is Signal.PENDING
        assert life.submit(Model(((SMALL, CRASH),))) is Signal.PENDING
        assert life.submit(Model(((Piece(0.3, 0.31), OTHER),))) is Signal.PENDING
        life.look_at_all()
        life.label_wanted()

    for life in same_in_both(live, labelled=False):
        assert life.bits == "PFF"
        assert life.testset.steps_used == 3


def test_a_program_that_failed_is_not_run_again() -> None:
    """Free against the same baseline; charged against another, and the answer is the same."""

    def live(life: Life) -> None:
        failing = Model(((SMALL, CRASH),))
        assert life.submit(failing) is Signal.FAIL
        assert life.submit(failing) is Signal.FAIL
        assert life.testset.steps_used == 1
        assert life.submit(BETTER, candidate=True) is Signal.PASS
        assert life.submit(failing) is Signal.FAIL
        assert life.testset.steps_used == 3

    hit, missed = same_in_both(live)
    assert _kinds(hit).count(SealedRunBegun) == _kinds(missed).count(SealedRunBegun) == 2
    assert _kinds(hit).count(SealedRunFailed) == 2
    assert _kinds(missed).count(SealedRunFailed) == 0


def _kinds(life: Life) -> list[type]:
    return [type(event) for event in life.events]


def test_a_failed_program_waits_for_its_tick_like_any_other() -> None:
    def live(life: Life) -> None:
        assert life.submit(Model(((SMALL, CRASH),))) is Signal.PENDING
        assert life.submit(Model(((SMALL, OTHER),))) is Signal.PENDING
        life.label_wanted()
        life.look_at_all()
        assert life.look_again().signal is Signal.PENDING
        life.wait_for_tick()
        assert life.look_again().signal is Signal.FAIL

    same_in_both(live, disclose="1d")


def test_the_same_model_again_shares_its_step_and_the_baseline_is_free() -> None:
    life = Life(world())
    assert life.submit(Model()) is Signal.BASELINE
    model = Model(((SMALL, OTHER),))
    assert [life.submit(model), life.submit(model)] == [Signal.FAIL, Signal.FAIL]
    assert (_kinds(life).count(Charged), _kinds(life).count(StepShared)) == (1, 1)


def test_true_gains_and_wrong_passes_are_told_apart() -> None:
    """A pass of a better model is right; the same pass is wrong if its true gain is none."""
    life = Life(world())
    assert life.submit(BETTER) is Signal.PASS
    assert not life.wrong_pass
    crowded = World(EVENLY * 0.15, world().keys, labelled=True)  # not drawn from [0, 1) at all
    unlucky = Life(crowded)
    balanced = Model(((Piece(0.0, 0.15), RIGHT), (Piece(0.5, 0.65), WRONG)))
    assert unlucky.submit(balanced) is Signal.PASS
    assert unlucky.wrong_pass


def deciding(condition: str) -> Script:
    return script(condition, reliability="0.9", adaptivity="full", steps=8, estimator="sequential")


@pytest.mark.parametrize("condition", ["n - o > 0 +/- 0.05", "n - o > -0.01 +/- 0.05"])
def test_where_models_agree_does_not_matter_to_the_verdict(condition: str) -> None:
    """Lives share verdicts on testsets whose differing examples are the same, in the same order."""
    draw = np.random.default_rng(5)
    for _ in range(20):
        codes = draw.choice(np.array(list(Code)[:7], np.uint8), 80)
        at_hand = draw.random(80) < 0.3
        where = np.flatnonzero((codes >= Code.NEW_RIGHT) & (codes != Code.AGREE_UNLABELLED))
        packed, flags = np.full(80, Code.AGREE_UNLABELLED, np.uint8), np.zeros(80, bool)
        packed[: len(where)], flags[: len(where)] = codes[where], at_hand[where]
        mine = decide(deciding(condition), packed, "FF", at_hand=flags)
        real = decide(deciding(condition), codes, "FF", at_hand=at_hand)
        assert (mine.passed, mine.labels) == (real.passed, real.labels)
        assert tuple(where[list(mine.wanted)]) == real.wanted


def test_a_life_is_a_ledger_that_can_be_read_again() -> None:
    """The events of a life, recorded and folded, give the state that the life has."""
    life = Life(world())
    Search(by_crash, 0.2, 3).run(life)
    again = life.reread()
    assert again.submissions == life.state.submissions
    assert again.testsets[1].history == life.bits
    assert Decided in _kinds(life)


def test_holes_are_closed_unless_a_test_opens_one() -> None:
    assert world().hole is None
    opened = World(EVENLY, world().keys, labelled=True, hole=Hole.SAME_PREDICTIONS)
    assert Life(opened).submit(Model(((SMALL, OTHER),))) is Signal.BASELINE
