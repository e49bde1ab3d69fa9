"""A letter of the outbox."""

from __future__ import annotations

from typing import get_args

from easeci.ledger.events import Delivery, MessageQueued, MessageTried
from easeci.ledger.reasons import (
    AlarmLetter,
    ByHand,
    StepsLeftWarning,
    Topic,
    UndecidedWarning,
    VerdictLetter,
)
from tests.histories import History

BY_HAND = ByHand("by hand")


def test_a_letter_is_open_until_it_is_sent() -> None:
    history = History.begun()
    history.add(MessageQueued(1, AlarmLetter(BY_HAND), "a@b.org", 1, None))
    (message,) = history.state.messages
    assert not message.sent
    assert message.head == history.state.head
    history.add(MessageTried(1, Delivery.FAILED, "connection refused"))
    (message,) = history.state.messages
    assert (message.sent, message.attempts, message.last_reason) == (False, 1, "connection refused")
    history.add(MessageTried(1, Delivery.SENT, ""))
    (message,) = history.state.messages
    assert (message.sent, message.attempts) == (True, 2)


def test_every_topic_is_one_of_three_words() -> None:
    topics: tuple[Topic, ...] = (
        VerdictLetter(),
        AlarmLetter(BY_HAND),
        StepsLeftWarning(2),
        UndecidedWarning(8, 9),
    )
    assert {type(topic) for topic in topics} == set(get_args(Topic))
    history = History.begun()
    for number, topic in enumerate(topics, start=1):
        history.add(MessageQueued(number, topic, "a@b.org", 1, None))
    about = [message.about for message in history.state.messages]
    assert about == ["verdict", "alarm", "warning", "warning"]
