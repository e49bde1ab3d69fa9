"""A letter of the outbox."""

from __future__ import annotations

from easeci.ledger.events import Delivery, MessageQueued, MessageTried
from easeci.ledger.reasons import (
    AlarmLetter,
    ByHand,
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
