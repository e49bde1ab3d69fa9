"""Reasons: recorded as a kind with details, read back the same, and said in words."""

from __future__ import annotations

import json
from typing import get_args

import pytest

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
    parse_retirement,
    parse_topic,
    reason_document,
)

RETIREMENTS: tuple[Retirement, ...] = (
    BudgetUsed(),
    FirstChange(passed=True),
    FirstChange(passed=False),
    ByHand("all its steps are used"),
    ByHand(""),
)
TOPICS: tuple[Topic, ...] = (
    VerdictLetter(),
    *(AlarmLetter(reason) for reason in RETIREMENTS),
    StepsLeftWarning(2),
    UndecidedWarning(8, 9),
)


def test_every_reason_comes_back_from_its_record() -> None:
    for reason in RETIREMENTS:
        assert parse_retirement(json.loads(json.dumps(reason_document(reason)))) == reason
    for topic in TOPICS:
        assert parse_topic(json.loads(json.dumps(reason_document(topic)))) == topic
    assert {type(reason) for reason in RETIREMENTS} == set(get_args(Retirement))
    assert {type(topic) for topic in TOPICS} == set(get_args(Topic))


def test_kinds_differ() -> None:
    kinds = [kind.KIND for kind in (*get_args(Retirement), *get_args(Topic))]
    assert len(set(kinds)) == len(kinds)


@pytest.mark.parametrize(
    "document",
    ["all its steps are used", None, {}, {"kind": "fate"}, {"kind": "first change"}, {"kind": 1}],
)
def test_an_unknown_reason_is_refused(document: object) -> None:
    with pytest.raises(ValueError, match="unknown"):
        parse_retirement(document)
    with pytest.raises(ValueError, match="unknown"):
        parse_topic(document)
    with pytest.raises(ValueError, match="unknown"):
        parse_topic({"kind": "alarm", "reason": document})
