"""What happens next: steps are begun, decided and answered in the order of their charges."""

from __future__ import annotations

import pytest

from easeci.ledger.events import (
    BaselineBuilt,
    BaselineSet,
    Built,
    Charged,
    Decided,
    Event,
    SealedRunFailed,
    Signalled,
    Submitted,
    TestsetRetired,
    TurnCame,
)
from easeci.ledger.fold import fold
from easeci.ledger.reasons import BudgetUsed, FirstChange
from easeci.ledger.signals import Signal
from easeci.ledger.state import Step
from easeci.ledger.turns import next_events
from easeci.script import Estimator
from easeci.verdict.logic import Result
from easeci.verdict.result import Verdict
from tests.histories import History, added, recorded

BASELINE = "b" * 40
NOW = "2026-11-16T12:00:00Z"


def charged(number: int, *after: Event) -> list[Event]:
    """A commit that is charged as the step of its number, and what became of its run."""
    submitted = Submitted(number, str(number) * 40, "", "main", True, 1, model=f"m{number}")
    return [submitted, Charged(number, number), *after]


def built(number: int) -> Built:
    return Built(number, "f", "0" * 64, f"fingerprint {number}")


def begun(**keys: str) -> History:
    """A testset with a baseline that is built."""
    history = History.begun(**keys)
    return history.add(BaselineBuilt(1, BASELINE, "f", "0" * 64, "old", "l", "1" * 64, model="old"))


def play(history: History, passed: bool | None, now: str = NOW) -> list[Event]:
    """Everything that happens without a build, if every test ends like this."""

    def verdict_of(_: Step) -> Verdict:
        result = {None: Result.UNKNOWN, True: Result.TRUE, False: Result.FALSE}[passed]
        return Verdict(Estimator.SEQUENTIAL, result, passed, (), 100, 0, ())

    happened: list[Event] = []
    while True:
        state = fold(recorded([*history.events, *happened]))
        testset = state.active_testset
        events = [] if testset is None else next_events(state, testset, now, verdict_of)
        if not events:
            return happened
        happened += events


def kinds(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in events]


def test_a_step_is_begun_decided_and_answered() -> None:
    events = play(begun().add(*charged(1, built(1))), True)
    assert kinds(events) == ["TurnCame", "Decided", "Signalled"]
    assert events[0] == TurnCame(1, 1, BASELINE, 0, "old")
    assert events[-1] == Signalled(1, Signal.PASS)


def test_a_step_waits_for_the_one_before_it() -> None:
    """Also if its program has failed: the answer comes in its turn."""
    history = begun().add(*charged(1, built(1)), *charged(2, SealedRunFailed(2, "exit code 3")))
    assert kinds(play(history, None)) == ["TurnCame"]
    events = play(history, True)
    assert [e for e in events if isinstance(e, Signalled)] == [
        Signalled(1, Signal.PASS),
        Signalled(2, Signal.FAIL),
    ]
    assert TurnCame(1, 2, "1" * 40, 0, "m1") in events  # compared with the one that passed


def test_a_run_that_has_not_ended_holds_up_those_behind_it() -> None:
    history = begun().add(*charged(1), *charged(2, built(2)))
    assert play(history, True) == []


def test_the_first_commit_is_adopted_where_there_is_no_baseline() -> None:
    history = History()
    history.add(added(), *charged(1, built(1)))
    events = play(history, None)
    assert events == [
        Decided(1, 1, passed=True, verdict=None),
        BaselineSet("1" * 40, "adopted"),
        Signalled(1, Signal.BASELINE),
    ]


@pytest.mark.parametrize(("mode", "passed"), [("fp-free", True), ("fn-free", False)])
def test_the_first_change_ends_the_testset_and_no_step_after_it_is_tested(
    mode: str, passed: bool
) -> None:
    history = begun(adaptivity="firstChange", mode=mode)
    history.add(*charged(1, built(1)), *charged(2, built(2)))
    events = play(history, passed)
    assert events[-1] == TestsetRetired(1, FirstChange(passed))
    assert not any(isinstance(event, TurnCame) and event.step == 2 for event in events)


def test_the_last_step_ends_the_testset() -> None:
    events = play(begun(steps="1").add(*charged(1, built(1))), False)
    assert events[-1] == TestsetRetired(1, BudgetUsed())


def test_before_the_tick_decisions_go_on_and_no_signal_is_given() -> None:
    history = begun(disclose="24h").add(*charged(1, built(1)), *charged(2, built(2)))
    events = play(history, True)
    assert kinds(events) == ["TurnCame", "Decided"] * 2
    assert events[2] == TurnCame(1, 2, "1" * 40, 0, "m1")
    later = play(history, True, "2026-11-17T00:00:01Z")
    assert [e.submission for e in later if isinstance(e, Signalled)] == [1, 2]


def test_under_first_change_nothing_is_tested_after_a_change_that_waits_for_its_tick() -> None:
    history = begun(disclose="24h", adaptivity="firstChange")
    history.add(*charged(1, built(1)), *charged(2, built(2)))
    assert kinds(play(history, True)) == ["TurnCame", "Decided"]


@pytest.mark.parametrize(("mode", "signal"), [("fp-free", Signal.FAIL), ("fn-free", Signal.PASS)])
def test_at_its_tick_an_undecided_step_is_unknown(mode: str, signal: Signal) -> None:
    history = begun(disclose="24h", mode=mode).add(*charged(1, built(1)))
    assert kinds(play(history, None)) == ["TurnCame"]
    _, decided, signalled = play(history, None, "2026-11-17T00:00:01Z")
    assert isinstance(decided, Decided)
    assert decided.at_tick
    assert signalled == Signalled(1, signal)


@pytest.mark.parametrize(("mode", "signal"), [("fp-free", Signal.FAIL), ("fn-free", Signal.PASS)])
def test_at_its_tick_a_run_that_has_not_ended_is_unknown(mode: str, signal: Signal) -> None:
    """It has no predictions, so it becomes neither the real nor the public baseline."""
    history = begun(disclose="24h", mode=mode).add(*charged(1))
    assert play(history, None) == []
    events = play(history, None, "2026-11-17T00:00:01Z")
    assert events[1:] == [
        Decided(1, 1, signal is Signal.PASS, verdict=None, at_tick=True),
        Signalled(1, signal),
    ]
    state = fold(recorded([*history.events, *events]))
    assert state.baseline == state.public_baseline == BASELINE
    assert state.interrupted(state.testsets[1]) == []


def test_at_its_tick_a_first_commit_that_has_not_ended_is_not_adopted() -> None:
    history = History()
    history.add(added(disclose="24h", mode="fn-free"), *charged(1))
    events = play(history, None, "2026-11-17T00:00:01Z")
    assert events[1:] == [
        Decided(1, 1, passed=False, verdict=None, at_tick=True),
        Signalled(1, Signal.FAIL),
    ]


def test_who_was_adopted_is_public_only_with_its_signal() -> None:
    """Whether it was the first or the second commit tells whether the first has failed."""
    for first in (built(1), SealedRunFailed(1, "exit code 3")):
        both = (*charged(1, first), *charged(2, built(2)))
        history = History().add(added(disclose="24h"), *both)
        state = fold(recorded([*history.events, *play(history, False)]))
        assert state.baseline is not None
        assert (state.public_baseline, state.testsets[1].public_model) == (None, None)
        later = play(history, False, "2026-11-17T00:00:01Z")
        told = fold(recorded([*history.events, *later]))
        assert told.public_baseline == told.baseline
        assert told.testsets[1].public_model in ("m1", "m2")


def test_an_adopted_baseline_has_the_model_that_was_tested() -> None:
    """Also if its commit was submitted again, with other mounted files, before its turn came."""
    again = Submitted(2, "1" * 40, "", "main", True, 1, model="other weights")
    history = History().add(added(), *charged(1), again, Charged(2, 2), built(1))
    state = fold(recorded([*history.events, *play(history, None)]))
    testset = state.testsets[1]
    assert testset.real_model == testset.public_model == "m1"
