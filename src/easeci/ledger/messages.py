"""A letter of the outbox, and what became of it so far."""

from __future__ import annotations

from dataclasses import dataclass

from easeci.ledger.chain import Head


@dataclass
class Message:
    """A letter and what became of it. ``head`` is the record that queued it."""

    number: int
    about: str
    recipient: str
    testset: int
    step: int | None
    reason: str
    queued_at: str
    head: Head
    attempts: int = 0
    last_at: str | None = None
    last_reason: str = ""
    outcome: str | None = None

    @property
    def sent(self) -> bool:
        return self.outcome == "sent"
