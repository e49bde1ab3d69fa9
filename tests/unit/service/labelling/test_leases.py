"""Leases: a position has one holder, and a silent holder loses what it holds."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from easeci.service.labelling.leases import Leases

SECONDS = 60.0
HOLDERS = st.sampled_from(["a", "b", "c"])
POSITIONS = st.integers(0, 9)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_silent_holder_loses_everything_and_a_heard_one_nothing() -> None:
    clock = Clock()
    leases = Leases(clock, SECONDS)
    for holder in ("silent", "heard"):
        leases.renew(holder)
    assert leases.fill("silent", range(10), 2) == [0, 1]
    assert leases.fill("heard", range(10), 2) == [2, 3]
    clock.now += SECONDS
    leases.renew("heard")
    assert leases.held == {"silent": [0, 1], "heard": [2, 3]}, "a lease lasts its whole time"
    clock.now += 1
    leases.renew("heard")
    assert leases.held == {"heard": [2, 3]}
    assert leases.fill("heard", range(10), 3) == [2, 3, 0]


def test_a_holder_is_shown_what_it_holds_and_what_it_answered_last() -> None:
    leases = Leases(Clock(), SECONDS)
    leases.renew("a")
    leases.fill("a", range(10), 3)
    leases.end("a", 0)
    leases.end("a", 1)
    assert leases.shown("a") == {1, 2}
    assert leases.shown("unknown") == set()


def test_an_answer_frees_the_position_of_another_holder() -> None:
    """Somebody who was silent answers late, and another labeller has the example by now."""
    leases = Leases(Clock(), SECONDS)
    for holder in ("late", "other"):
        leases.renew(holder)
    leases.fill("other", [5], 1)
    leases.end("late", 5)
    assert leases.held == {}
    assert leases.shown("other") == leases.shown("late") == {5}, "both pages still show it"


def test_restored_leases_are_those_that_were_stored() -> None:
    leases = Leases(Clock(), SECONDS)
    stored = {"a": [4, 1], "b": [2]}
    leases.restore(stored)
    assert leases.held == stored


class AnyOrder(RuleBasedStateMachine):
    """Whatever holders do, no position has two of them."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.leases = Leases(self.clock, SECONDS)

    @rule(holder=HOLDERS, count=st.integers(0, 4))
    def fill(self, holder: str, count: int) -> None:
        self.leases.renew(holder)
        before = self.leases.held.get(holder, [])
        held = self.leases.fill(holder, range(10), count)
        assert held[: len(before)] == before[:count], "nothing is taken away"
        assert len(held) <= count

    @rule(holder=HOLDERS, position=POSITIONS)
    def give(self, holder: str, position: int) -> None:
        self.leases.renew(holder)
        self.leases.give(holder, position)
        assert self.leases.holds(holder, position)
        assert self.leases.held[holder][0] == position

    @rule(holder=HOLDERS, position=POSITIONS)
    def end(self, holder: str, position: int) -> None:
        self.leases.renew(holder)
        self.leases.end(holder, position)
        assert not any(self.leases.holds(name, position) for name in ("a", "b", "c"))

    @rule(holder=HOLDERS)
    def leave(self, holder: str) -> None:
        self.leases.leave(holder)
        assert holder not in self.leases.held

    @rule(kept=st.sets(POSITIONS), holder=st.none() | HOLDERS)
    def keep_only(self, kept: set[int], holder: str | None) -> None:
        self.leases.keep_only(kept.__contains__, holder)
        for name, positions in self.leases.held.items():
            assert holder not in (None, name) or set(positions) <= kept

    @rule(seconds=st.sampled_from([20.0, 50.0, 61.0]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds
        self.leases.let_lapse()

    @invariant()
    def a_position_has_one_holder(self) -> None:
        held = [position for positions in self.leases.held.values() for position in positions]
        assert len(held) == len(set(held))
        for name, positions in self.leases.held.items():
            assert all(self.leases.holds(name, position) for position in positions)


TestAnyOrder = AnyOrder.TestCase
