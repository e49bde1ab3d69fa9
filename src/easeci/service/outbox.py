"""The outbox as the owner sees it: every letter, and a way to try all of them now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from easeci.service.commits.advance import catch_up
from easeci.service.mail.delivery import configured_transport, deliver
from easeci.service.project import Project


@dataclass(frozen=True)
class Posted:
    """A letter of the outbox and how it stands."""

    number: int
    about: str
    recipient: str
    testset: int
    step: int | None
    queued_at: str
    attempts: int
    outcome: str | None
    reason: str


def outbox(project: Project) -> list[Posted]:
    """Every letter, sent or not."""
    return [
        Posted(
            number=message.number,
            about=message.about,
            recipient=message.recipient,
            testset=message.testset,
            step=message.step,
            queued_at=message.queued_at,
            attempts=message.attempts,
            outcome=message.outcome,
            reason=message.last_reason,
        )
        for message in project.state.messages
    ]


def send_all(project: Project, waiting: Callable[[], None] | None = None) -> list[Posted]:
    """Try every letter that is not sent yet, due or not, and refused ones too."""
    with project.exclusive(waiting):
        if any(not message.sent for message in project.state.messages):
            configured_transport()
        deliver(project, now_or_never=True)
        catch_up(project)
        return outbox(project)
