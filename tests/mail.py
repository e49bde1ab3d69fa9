"""A real mail server on the loopback interface, with TLS and a login, that fails when told to."""

# ruff: noqa: ARG002, N802 - the names and arguments that aiosmtpd calls its hooks with

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import deque
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import trustme
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

HOST = "127.0.0.1"
USER, PASSWORD = "user@example.org", "p@ss:w/rd?#%"


class Fault(StrEnum):
    """What goes wrong with one connection."""

    REFUSE_SENDER = "MAIL is answered by 550"
    REFUSE_RECIPIENT = "RCPT is answered by 550"
    GREYLIST = "RCPT is answered by 451"
    LOGIN_FIRST = "RCPT is answered by 530"
    REFUSE_MESSAGE = "the message is answered by 554"
    DELAY_MESSAGE = "the message is answered by 452"
    DROP_AT_EHLO = "the connection ends at EHLO"
    DROP_AT_MAIL = "the connection ends at MAIL"
    DROP_AT_RCPT = "the connection ends at RCPT"
    DROP_IN_DATA = "the connection ends in the middle of the message"
    DROP_AFTER_DOT = "the connection ends after the message, before the answer"
    DROP_AT_QUIT = "the connection ends at QUIT, after the answer"
    HANG_AT_RCPT = "RCPT is never answered"
    HANG_AFTER_DOT = "the message is never answered"


@dataclass(frozen=True)
class Received:
    """A message that came in as a whole; ``acknowledged`` if the sender was told so."""

    sender: str
    recipient: str
    content: bytes
    acknowledged: bool
    protected: bool
    user: str | None

    @property
    def email(self) -> EmailMessage:
        """The message, parsed."""
        parsed = message_from_bytes(self.content, policy=default)
        assert isinstance(parsed, EmailMessage)
        return parsed


@dataclass
class Authority:
    """A certificate authority of our own: a file that trusts it, and certificates from it."""

    folder: Path
    ca: trustme.CA = field(default_factory=trustme.CA)

    @property
    def file(self) -> Path:
        """The file that trusts this authority."""
        path = self.folder / "ca.pem"
        self.ca.cert_pem.write_to_path(str(path))
        return path

    def context(self, *names: str) -> ssl.SSLContext:
        """The settings of a server with a certificate for these names."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.ca.issue_cert(*(names or (HOST,))).configure_cert(context)
        return context


class _Dialogue(SMTP):
    """One connection, with its fault."""

    fault: Fault | None = None
    greeted = False

    async def smtp_DATA(self, arg: str) -> None:
        if self.fault is not Fault.DROP_IN_DATA:
            await super().smtp_DATA(arg)
            return
        await self.push("354 go on")
        await self._reader.readuntil(b"\r\n")
        self.drop()

    async def smtp_QUIT(self, arg: str) -> None:
        if self.fault is Fault.DROP_AT_QUIT:
            self.drop()
            return
        await super().smtp_QUIT(arg)

    def drop(self) -> None:
        assert self.transport is not None
        (self._original_transport or self.transport).abort()  # type: ignore[attr-defined]


class MailServer(Controller):
    """Takes messages, but for the ``faults`` of the next connections, one for each.

    ``tls`` with ``starttls`` offers STARTTLS and requires it; without, all is TLS from the start.
    With ``login`` nothing goes without USER and PASSWORD.
    """

    def __init__(
        self,
        *,
        port: int | None = None,
        tls: ssl.SSLContext | None = None,
        starttls: bool = True,
        login: bool = False,
        utf8: bool = True,
    ) -> None:
        self.login = login
        self.faults: deque[Fault] = deque()
        self.received: list[Received] = []
        self.recipients: list[str] = []
        self.dialogue: dict[str, Any] = {
            "hostname": HOST,
            "enable_SMTPUTF8": utf8,
            "tls_context": tls if starttls else None,
            "require_starttls": starttls and tls is not None,
            "auth_require_tls": starttls,  # it does not see TLS that was there from the start
            "authenticator": _authenticate,
        }
        wrapped = None if starttls else tls
        super().__init__(self, hostname=HOST, port=port or free_port(), ssl_context=wrapped)

    @property
    def acknowledged(self) -> list[Received]:
        """The messages that the server confirmed."""
        return [message for message in self.received if message.acknowledged]

    def factory(self) -> _Dialogue:
        """One dialogue; the library calls this."""
        return _Dialogue(self, loop=self.loop, **self.dialogue)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.stop()

    async def handle_EHLO(
        self, server: _Dialogue, session: Session, envelope: Envelope, name: str, lines: list[str]
    ) -> list[str]:
        """Answer the greeting, or break as the fault says."""
        session.host_name = name
        if not server.greeted:
            server.greeted, server.fault = True, self.faults.popleft() if self.faults else None
        if server.fault is Fault.DROP_AT_EHLO:
            server.drop()
        return lines

    async def handle_MAIL(
        self,
        server: _Dialogue,
        session: Session,
        envelope: Envelope,
        address: str,
        options: list[str],
    ) -> str:
        """Answer the sender, or break as the fault says."""
        if server.fault is Fault.DROP_AT_MAIL:
            server.drop()
        if self.login and not session.authenticated:
            return "530 5.7.0 log in first"
        if server.fault is Fault.REFUSE_SENDER:
            return "550 no such sender"
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(
        self,
        server: _Dialogue,
        session: Session,
        envelope: Envelope,
        address: str,
        options: list[str],
    ) -> str:
        """Answer the recipient, or break as the fault says."""
        self.recipients.append(address)
        if server.fault is Fault.DROP_AT_RCPT:
            server.drop()
        if server.fault is Fault.HANG_AT_RCPT:
            await asyncio.sleep(600)
        answers = {
            Fault.REFUSE_RECIPIENT: "550 5.1.1 no such user",
            Fault.GREYLIST: "451 4.7.1 come back later",
            Fault.LOGIN_FIRST: "530 5.7.0 log in first",
        }
        if server.fault in answers:
            return answers[server.fault]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: _Dialogue, session: Session, envelope: Envelope) -> str:
        """Keep the message, or break as the fault says."""
        fault = server.fault
        if fault is Fault.REFUSE_MESSAGE:
            return "554 5.7.1 not like this"
        if fault is Fault.DELAY_MESSAGE:
            return "452 4.3.1 no room"
        silent = fault in (Fault.DROP_AFTER_DOT, Fault.HANG_AFTER_DOT)
        (recipient,) = envelope.rcpt_tos
        assert isinstance(envelope.content, bytes)
        login = session.auth_data.login if isinstance(session.auth_data, LoginPassword) else None
        self.received.append(
            Received(
                sender=envelope.mail_from or "",
                recipient=recipient,
                content=envelope.content,
                acknowledged=not silent,
                protected=session.ssl is not None,
                user=None if login is None else login.decode(),
            )
        )
        if fault is Fault.DROP_AFTER_DOT:
            server.drop()
        if fault is Fault.HANG_AFTER_DOT:
            await asyncio.sleep(600)
        return "250 OK"


def _authenticate(
    server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any
) -> AuthResult:
    right = isinstance(data, LoginPassword) and data == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=right, handled=False, auth_data=data)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
