"""The outbox: every letter, and how it stands."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from easeci.ledger.events import Delivery, MessageQueued, MessageTried
from easeci.ledger.reasons import AlarmLetter, ByHand
from easeci.service.outbox import outbox
from tests.histories import History


def test_letters_stay_in_the_outbox_after_they_are_sent() -> None:
    """Each has the number of its attempts and what became of the last one."""
    topic = AlarmLetter(ByHand("by hand"))
    history = History.begun().add(
        MessageQueued(1, topic, "a@example.org", 1, None),
        MessageQueued(2, topic, "b@example.org", 1, None),
        MessageTried(1, Delivery.FAILED, "greylisted"),
        MessageTried(1, Delivery.SENT, ""),
        MessageTried(2, Delivery.REFUSED, "no such address"),
    )
    project: Any = SimpleNamespace(state=history.state)
    first, second = outbox(project)
    assert (first.recipient, first.attempts, first.outcome) == ("a@example.org", 2, "sent")
    assert (second.attempts, second.outcome, second.reason) == (1, "refused", "no such address")
