"""Events of version 1, which recorded reasons as sentences."""

from __future__ import annotations

import json

import pytest

from easeci.errors import InfrastructureError
from easeci.ledger.chain import Record
from easeci.ledger.events import MessageQueued, TestsetRetired, parse_event
from easeci.ledger.fold import apply_record
from easeci.ledger.reasons import (
    AlarmLetter,
    BudgetUsed,
    ByHand,
    FirstChange,
    Retirement,
    StepsLeftWarning,
    Topic,
    UndecidedWarning,
    VerdictLetter,
)
from easeci.ledger.state import State
from tests.histories import History

USED = "all its steps are used"
FIRST_PASS = "its first pass, and firstChange ends there"
FIRST_FAIL = "its first fail, and firstChange ends there"


def retired_text(sentence: str) -> str:
    return json.dumps({"testset": 1, "reason": sentence})


def queued_text(about: str, sentence: str) -> str:
    fields = {"message": 1, "recipient": "a@b.org", "testset": 1, "step": None}
    return json.dumps(fields | {"about": about, "reason": sentence})


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        (USED, BudgetUsed()),
        (FIRST_PASS, FirstChange(passed=True)),
        (FIRST_FAIL, FirstChange(passed=False)),
        ("by hand", ByHand("by hand")),
        ("", ByHand("")),
    ],
)
def test_why_a_testset_was_retired(sentence: str, reason: Retirement) -> None:
    assert parse_event("TestsetRetired", 1, retired_text(sentence)) == TestsetRetired(1, reason)
    queued = parse_event("MessageQueued", 1, queued_text("alarm", sentence))
    assert queued == MessageQueued(1, AlarmLetter(reason), "a@b.org", 1, None)


@pytest.mark.parametrize(
    ("about", "sentence", "topic"),
    [
        ("verdict", "", VerdictLetter()),
        ("warning", "2 steps are left", StepsLeftWarning(2)),
        ("warning", "8 of 15 commits were undecided", UndecidedWarning(8, 15)),
    ],
)
def test_what_a_letter_is_about(about: str, sentence: str, topic: Topic) -> None:
    queued = parse_event("MessageQueued", 1, queued_text(about, sentence))
    assert queued == MessageQueued(1, topic, "a@b.org", 1, None)


def test_a_warning_that_version_1_never_wrote_is_damage() -> None:
    with pytest.raises(InfrastructureError, match="damaged"):
        parse_event("MessageQueued", 1, queued_text("warning", "the sky is falling"))


def folded(history: History, sentence: str) -> State:
    """The state after a testset was retired with this sentence, and its alarm was queued."""
    state = history.state
    assert state.head is not None
    texts = (
        ("TestsetRetired", retired_text(sentence)),
        ("MessageQueued", queued_text("alarm", sentence)),
    )
    for number, (kind, text) in enumerate(texts, start=state.head.number + 1):
        apply_record(state, Record(number, "2026-11-16T01:00:00Z", kind, 1, text, "c"))
    return state


@pytest.mark.parametrize(
    ("keys", "answers", "sentence", "reason"),
    [
        ({"steps": "2"}, (True, False), USED, BudgetUsed()),
        ({"steps": "3"}, (True, False), USED, ByHand(USED)),
        ({"steps": "2"}, (True, None), USED, ByHand(USED)),
        ({"steps": "2"}, (), USED, ByHand(USED)),
        ({"adaptivity": "firstChange"}, (False, True), FIRST_PASS, FirstChange(passed=True)),
        ({"adaptivity": "firstChange"}, (False, False), FIRST_PASS, ByHand(FIRST_PASS)),
        ({"adaptivity": "firstChange"}, (False, None), FIRST_PASS, ByHand(FIRST_PASS)),
        ({"adaptivity": "full"}, (False, True), FIRST_PASS, ByHand(FIRST_PASS)),
        (
            {"adaptivity": "firstChange", "mode": "fn-free"},
            (True, False),
            FIRST_FAIL,
            FirstChange(passed=False),
        ),
        ({}, (), FIRST_FAIL, ByHand(FIRST_FAIL)),
    ],
)
def test_an_owner_may_have_written_a_sentence_of_ours(
    keys: dict[str, str], answers: tuple[bool | None, ...], sentence: str, reason: Retirement
) -> None:
    """The steps show who retired the testset, and the alarm has the same reason."""
    history = History.begun(**keys)
    for name, passed in enumerate(answers, start=1):
        history.commit(str(name), passed)
    state = folded(history, sentence)
    assert state.testsets[1].retired == reason
    assert [message.topic for message in state.messages] == [AlarmLetter(reason)]
