"""Sends the letters that the ledger has queued, as soon as they are due.

A letter is queued in one transaction with what it tells. After each attempt to send it, the result
is recorded, and a letter that was sent is not sent again. If the process is killed between the
server's answer and that record, the letter is sent once more with the same Message-ID, so that mail
programs can drop the second copy.
"""

from __future__ import annotations

import os

from easeci.errors import UsageError
from easeci.ledger.events import Delivery, MessageTried
from easeci.ledger.state import Message
from easeci.notify import NotSent, Transport, is_due, transport_from
from easeci.script import Adaptivity, Script
from easeci.service.mail.compose import letter_of
from easeci.service.project import Project, utc_now
from easeci.times import parse_time

SMTP_VARIABLE = "EASECI_SMTP_URL"


def needs_transport(script: Script) -> bool:
    """Whether a script can make letters necessary."""
    return script.adaptivity is Adaptivity.NONE or script.email is not None


def require_transport(script: Script) -> None:
    """Refuse, before a step is spent, a script whose letters could not be sent."""
    if needs_transport(script):
        configured_transport()


def configured_transport() -> Transport:
    """The way to send mail that the environment names, or an error that says how to name one."""
    url = os.environ.get(SMTP_VARIABLE)
    if not url:
        raise UsageError(
            f"the script names an address, but no way to send mail is set: {SMTP_VARIABLE}",
            hint=f"Set it, such as {SMTP_VARIABLE}=smtp+starttls://user:password@host:587, or "
            "mbox:///path/to/a/file to read the letters there.",
        )
    return transport_from(url)


def deliver(project: Project, *, now_or_never: bool = False) -> None:
    """Send what is due, and record failures without raising them.

    A developer's command must not end differently because a letter could not be sent.
    """
    due = [m for m in project.state.messages if _wants_sending(m, now_or_never)]
    if not due:
        return
    try:
        transport = configured_transport()
    except UsageError:
        return
    for message in due:
        project.append(_try(project, transport, message))


def _wants_sending(message: Message, now_or_never: bool) -> bool:
    if message.sent:
        return False
    if now_or_never or message.last_at is None:
        return True
    if message.outcome is Delivery.REFUSED:
        return False
    return is_due(
        message.attempts,
        parse_time(message.last_at),
        parse_time(utc_now()),
    )


def _try(project: Project, transport: Transport, message: Message) -> MessageTried:
    letter = letter_of(project, message)
    try:
        queued = parse_time(message.queued_at)
        transport.send(letter.as_email(transport.sender, queued))
    except NotSent as problem:
        outcome = Delivery.REFUSED if problem.permanent else Delivery.FAILED
        return MessageTried(message.number, outcome, problem.reason)
    return MessageTried(message.number, Delivery.SENT, "")
