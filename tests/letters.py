"""Letters to send in tests."""

from __future__ import annotations

from datetime import UTC, datetime
from email.message import EmailMessage

from easeci.notify import Letter

SENDER = "easeci@example.org"
RECIPIENT = "third@example.org"
DATE = datetime(2024, 2, 29, 12, 30, tzinfo=UTC)


def a_letter(number: int = 1, recipient: str = RECIPIENT, text: str = "Passed.\n") -> Letter:
    """A short letter with a subject of its own."""
    return Letter(f"letter-{number}", recipient, f"Number {number}", text, "<p>Passed.</p>\n")


def an_email(number: int = 1, recipient: str = RECIPIENT, text: str = "Passed.\n") -> EmailMessage:
    """The same as a message ready to be sent."""
    return a_letter(number, recipient, text).as_email(SENDER, DATE)
