"""What a developer is shown is a function of what was disclosed."""

from __future__ import annotations

from easeci.ledger.disclosure import disclose, disclosed_row, disclosed_status
from easeci.ledger.events import TestsetRetired
from easeci.ledger.reasons import BudgetUsed, ByHand
from easeci.ledger.signals import Signal
from easeci.ledger.state import State
from easeci.script import Adaptivity
from easeci.verdict.logic import Result
from tests.cases import each_case
from tests.histories import History, verdict


def shown(state: State) -> str:
    return repr([disclosed_row(state, s) for s in state.submissions]) + repr(
        disclosed_status(state)
    )


def test_under_none_a_pass_a_fail_and_a_wait_look_the_same() -> None:
    """Byte for byte, at every length of the history."""
    for steps in range(1, 5):
        views = set()
        for answer in (True, False, None):
            history = History.begun(adaptivity="none -> a@b.org")
            for name in "1234"[: steps - 1]:
                history.commit(name, False, signal="accepted")
            history.commit("9", answer, signal="accepted")
            if answer is not None and steps == 4:
                history.add(TestsetRetired(1, BudgetUsed()))
            views.add(shown(history.state))
        assert len(views) == 1


@each_case("adaptivity", [Adaptivity.FULL, Adaptivity.FIRST_CHANGE])
def test_otherwise_the_signal_is_the_verdict(adaptivity: Adaptivity) -> None:
    assert disclose(adaptivity, True) is Signal.PASS
    assert disclose(adaptivity, False) is Signal.FAIL
    assert disclose(adaptivity, None) is Signal.PENDING


def test_no_count_and_no_outcome_is_shown() -> None:
    """Two histories with the same signals look the same, whatever they rest on."""
    history = History.begun().commit("1", False)
    other = History.begun().commit("1", False)
    index = next(i for i, e in enumerate(other.events) if e.kind == "Decided")
    from easeci.ledger.events import Decided

    other.events[index] = Decided(
        1, 1, False, verdict(result=Result.UNKNOWN, labels=12345).document()
    )
    assert shown(history.state) == shown(other.state)
    assert "12345" not in shown(other.state)


def test_what_waits_is_pending_and_what_comes_too_late_is_dropped() -> None:
    from easeci.ledger.events import Built, Submitted

    history = History.begun().commit("1", None)
    history.add(Submitted(2, "2" * 40, "", "main", True, 1), Built(2, "f", "0" * 64, "x"))
    state = history.state
    assert [disclosed_row(state, s).signal for s in state.submissions] == ["pending", "pending"]
    history.add(TestsetRetired(1, ByHand("by hand")))
    state = history.state
    assert disclosed_row(state, state.submissions[1]).signal is Signal.DROPPED
