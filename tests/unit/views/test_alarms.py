"""Alarms: which there are, and that developers never see one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from easeci.build.repository import Repository
from easeci.evidence.endings import Ending
from easeci.ledger.chain import Head
from easeci.ledger.events import (
    BaselineFailed,
    Decided,
    Delivery,
    MessageQueued,
    MessageTried,
    TestsetRetired,
)
from easeci.ledger.reasons import AlarmLetter, ByHand
from easeci.ledger.state import State
from easeci.verdict.logic import Result
from easeci.views.alarms import Alarm, AlarmKind, UntestedPushes, alarms
from easeci.views.status import status
from tests.histories import CLAUSE, History, verdict

NO_PUSHES = UntestedPushes()


def found(state: State, untested: UntestedPushes = NO_PUSHES) -> dict[AlarmKind, Alarm]:
    (testset,) = state.testsets.values()
    return {alarm.kind: alarm for alarm in alarms(state, testset, untested)}


def test_a_testset_that_was_just_added_gives_no_alarm() -> None:
    assert found(History.begun().state) == {}


@pytest.mark.parametrize("commits", [1, 2, 3])
def test_few_steps_are_an_alarm_from_two_on(commits: int) -> None:
    history = History.begun()
    for name in "123"[:commits]:
        history.commit(name, False)
    assert (AlarmKind.FEW_STEPS in found(history.state)) == (commits >= 2)


def test_a_testset_that_has_ended_asks_for_a_new_one_and_not_for_steps() -> None:
    alarm = found(History.begun().add(TestsetRetired(1, ByHand("by hand"))).state)
    assert set(alarm) == {AlarmKind.NEW_TESTSET}
    assert "by hand" in alarm[AlarmKind.NEW_TESTSET].message


def test_a_baseline_that_cannot_be_built_names_the_command_that_shows_why() -> None:
    failed = BaselineFailed(1, "b" * 40, "the program ended with exit code 1", "log", "0" * 64)
    alarm = found(History.begun().add(failed).state)[AlarmKind.BASELINE]
    assert "exit code 1" in alarm.message
    assert "`easeci log --owner --build baseline`" in alarm.hint


def test_pushes_that_are_not_tested_are_counted_and_some_are_named() -> None:
    state = History.begun().state
    commits = [letter * 40 for letter in "abcd"]
    (alarm,) = found(state, UntestedPushes(set_aside=commits)).values()
    assert alarm.kind is AlarmKind.SET_ASIDE
    assert "set aside: 4 (aaaaaaaaaa, bbbbbbbbbb, cccccccccc, …)" in alarm.message
    assert "`easeci watch --retry`" in alarm.hint
    (alarm,) = found(state, UntestedPushes(postponed=commits[:1])).values()
    assert alarm.kind is AlarmKind.POSTPONED
    assert "postponed: 1 (aaaaaaaaaa)" in alarm.message
    assert "`easeci watch --retry`" in alarm.hint


def test_letters_are_an_alarm_only_after_an_attempt_failed() -> None:
    history = History.begun()
    history.add(MessageQueued(1, AlarmLetter(ByHand("by hand")), "a@example.org", 1, None))
    assert found(history.state) == {}
    history.add(MessageTried(1, Delivery.FAILED, "refused by the server"))
    assert "refused by the server" in found(history.state)[AlarmKind.LETTERS].message
    history.add(MessageTried(1, Delivery.SENT, ""))
    assert found(history.state) == {}


def test_commits_that_are_mostly_undecided_are_an_alarm() -> None:
    history = History.begun(steps="20")
    for name in "12345678":
        history.commit(name, False)
    assert found(history.state) == {}
    exhausted = replace(CLAUSE, ended=Ending.EXHAUSTED)
    unknown = verdict(result=Result.UNKNOWN, clauses=(exhausted,)).document()
    for index, event in enumerate(history.events):
        if isinstance(event, Decided):
            history.events[index] = replace(event, verdict=unknown)
    assert "8 of 8" in found(history.state)[AlarmKind.UNDECIDED].message


def test_developers_see_no_alarm(tmp_path: Path) -> None:
    state = History.begun().commit("1", False).commit("2", False).state
    project: Any = SimpleNamespace(
        name="a model",
        state=state,
        head=Head(7, "beef" * 16),
        repository=Repository(tmp_path, None),
    )
    assert [a.kind for a in status(project, owner=True).alarms] == [AlarmKind.FEW_STEPS]
    assert status(project).alarms == ()
