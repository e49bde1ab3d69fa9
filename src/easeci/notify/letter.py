"""A letter, and the e-mail that it is sent as. Pure.

The e-mail is the same at every attempt. Its Message-ID depends only on the letter's id and the
recipient, so that mail programs recognise a letter that arrives twice.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from easeci.notify.address import parse_address

# Nobody can own a name below .invalid (RFC 2606), so no other program has the same ids. The name
# of this machine would not do, because another machine may try a letter again.
ID_DOMAIN = "easeci.invalid"
_LONGEST_SUBJECT = 150


@dataclass(frozen=True)
class Letter:
    """One message to one recipient.

    ``message_id`` can be any text that is unique among all projects that ever write to the
    recipient: name the project's first commit in it, not only its name.
    """

    message_id: str
    recipient: str
    subject: str
    text: str
    html: str

    def __post_init__(self) -> None:
        parse_address(self.recipient)

    def as_email(self, sender: str, date: datetime) -> EmailMessage:
        """The e-mail. It is ASCII, except for an address that is not."""
        email = EmailMessage(policy=SMTP)
        # The id comes first, so that even the beginning of a message says which one it is.
        email["Message-ID"] = f"<{_mark(self.message_id, self.recipient)}@{ID_DOMAIN}>"
        email["From"] = _mailbox(sender, "easeci")
        email["To"] = _mailbox(self.recipient)
        email["Subject"] = one_line(self.subject, _LONGEST_SUBJECT)
        email["Date"] = format_datetime(date.astimezone(UTC))
        email["Auto-Submitted"] = "auto-generated"  # keeps vacation notices away (RFC 3834)
        email.set_content(_encodable(self.text), cte="quoted-printable")
        email.add_alternative(_encodable(self.html), subtype="html", cte="quoted-printable")
        # Python's own boundaries are drawn at random; a message must not change between tries.
        email.set_boundary(f"=_{_mark(self.message_id, self.text, self.html)}")
        return email


def one_line(text: str, longest: int) -> str:
    """A text as one line of printable characters: nothing in it can end a header."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _mailbox(address: str, name: str = "") -> Address:
    local, _, domain = parse_address(address).rpartition("@")
    return Address(display_name=name, username=local, domain=domain)


def _mark(*parts: str) -> str:
    text = "\0".join(parts)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:40]


def _encodable(text: str) -> str:
    """Without halves of surrogate pairs, which no encoding knows."""
    return text.encode("utf-8", "replace").decode("utf-8")
