"""A letter of the outbox, and what became of it so far."""

from __future__ import annotations

from dataclasses import dataclass

from easeci.ledger.chain import Head
from easeci.ledger.events import Delivery
from easeci.ledger.reasons import StepsLeftWarning, Topic, UndecidedWarning


@dataclass
class Message:
    """A letter and what became of it. ``head`` is the record that queued it."""

    number: int
    topic: Topic
    recipient: str
    testset: int
    step: int | None
    queued_at: str
    head: Head
    attempts: int = 0
    last_at: str | None = None
    last_reason: str = ""
    outcome: Delivery | None = None

    @property
    def about(self) -> str:
        """The topic in one word: verdict, alarm or warning."""
        warning = isinstance(self.topic, StepsLeftWarning | UndecidedWarning)
        return "warning" if warning else self.topic.KIND

    @property
    def sent(self) -> bool:
        """Whether a mail server has taken it over."""
        return self.outcome is Delivery.SENT
