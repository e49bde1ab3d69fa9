"""Which letters an answer or an end gives rise to."""

from __future__ import annotations

from dataclasses import replace

from easeci.evidence.endings import Ending
from easeci.ledger.events import Decided, MessageQueued
from easeci.ledger.mail_rules import Letters
from easeci.ledger.reasons import (
    AlarmLetter,
    BudgetUsed,
    ByHand,
    StepsLeftWarning,
    UndecidedWarning,
    VerdictLetter,
)
from easeci.verdict.logic import Result
from tests.cases import each_case
from tests.histories import CLAUSE, History, verdict

BY_HAND = ByHand("by hand")


def test_letters_are_numbered_behind_those_that_there_are() -> None:
    history = History.begun()
    history.add(MessageQueued(1, AlarmLetter(BY_HAND), "a@b.org", 1, None))
    letters = Letters(history.state, 1)
    (verdict,) = letters.verdict("c@d.org", 1)
    (alarm,) = letters.alarm("a@b.org", BudgetUsed())
    assert (verdict.message, alarm.message) == (2, 3)
    assert (verdict.topic, verdict.recipient, verdict.step) == (VerdictLetter(), "c@d.org", 1)
    assert alarm.topic == AlarmLetter(BudgetUsed())


def test_without_an_address_there_is_no_letter() -> None:
    letters = Letters(History.begun().state, 1)
    assert letters.alarm(None, BY_HAND) == []
    assert letters.verdict(None, 1) == []


def test_a_warning_when_two_steps_are_left() -> None:
    state = History.begun(email="o@b.org", steps="4").commit("1", False).commit("2", False).state
    letters = Letters(state, 1)
    (warning,) = letters.warnings(state.testsets[1], 2)
    assert (warning.topic, warning.recipient) == (StepsLeftWarning(2), "o@b.org")
    assert Letters(state, 1).warnings(state.testsets[1], 1) == []


def all_unknown(*ends: str) -> History:
    """Eight commits that were found Unknown, with clauses that ended so."""
    history = History.begun(email="o@b.org", steps="32")
    for name in "12345678":
        history.commit(name, False)
    clauses = tuple(replace(CLAUSE, ended=Ending(end)) for end in ends)
    found = verdict(result=Result.UNKNOWN, clauses=clauses).document()
    for index, event in enumerate(history.events):
        if isinstance(event, Decided):
            history.events[index] = Decided(1, event.step, False, found)
    return history


@each_case("ends", [("exhausted",), ("futile", "exhausted"), ()])
def test_a_warning_when_most_commits_are_undecided_and_only_once(ends: tuple[str, ...]) -> None:
    history = all_unknown(*ends)
    state = history.state
    (warning,) = Letters(state, 1).warnings(state.testsets[1], 8)
    assert warning.topic == UndecidedWarning(8, 8)
    history.add(warning)
    again = history.state
    assert Letters(again, 1).warnings(again.testsets[1], 9) == []


def test_no_warning_for_commits_that_were_given_up() -> None:
    """That they are not clearly better is what the test found, and no larger testset finds more."""
    state = all_unknown("futile", "open").state
    assert Letters(state, 1).warnings(state.testsets[1], 8) == []
