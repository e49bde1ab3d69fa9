"""Mail by SMTP: one connection and one recipient per message.

What a failure means depends on when it happens. Before the final dot is sent, the server can't have
accepted the message. After the server's answer, it is known. In between it is not known, and
``NotSent.certain`` is False. Certificates are always verified, and nothing falls back to plain
text.
"""

from __future__ import annotations

import re
import smtplib
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from enum import StrEnum
from pathlib import Path

from easeci.notify.failure import NotSent
from easeci.notify.letter import one_line

_LONGEST_REASON = 300
_GOODBYE_SECONDS = 5.0
_LOGIN_CODES = (530, 534, 535, 538)  # "log in first", "not like this": RFC 4954


class Security(StrEnum):
    """How a connection is protected."""

    NONE = "smtp"
    STARTTLS = "smtp+starttls"
    TLS = "smtps"


@dataclass(frozen=True)
class Credentials:
    """The login at a mail server."""

    user: str
    password: str = field(repr=False)


@dataclass(frozen=True)
class SmtpServer:
    """A mail server.

    ``answer_seconds`` is how long to wait for the answer to a complete message. If the client gives
    up too early, messages arrive twice (RFC 5321, 4.5.3.2.6).
    """

    host: str
    port: int
    security: Security
    sender: str
    credentials: Credentials | None = None
    ca: Path | None = None
    timeout_seconds: float = 30.0
    answer_seconds: float = 180.0

    @property
    def where(self) -> str:
        """The server, for messages."""
        return f"the mail server {self.host}:{self.port}"

    def send(self, email: EmailMessage) -> None:
        """Send a message; NotSent if the server did not confirm that it has it."""
        with self._session() as session:
            _deliver(session, self, email)

    def tls_context(self) -> ssl.SSLContext:
        """How certificates are verified: by the system's authorities, or by ``ca``."""
        return ssl.create_default_context(cafile=None if self.ca is None else str(self.ca))

    @contextmanager
    def _session(self) -> Iterator[smtplib.SMTP]:
        """A connection, protected and logged in. An error while it is closed does not matter."""
        with _not_sent(self.where):
            session = self._connect()
        try:
            with _not_sent(self.where):
                session.ehlo_or_helo_if_needed()
                if self.security is Security.STARTTLS:
                    session.starttls(context=self.tls_context())
                    session.ehlo_or_helo_if_needed()
            if self.credentials is not None:
                self._log_in(session, self.credentials)
            yield session
            _limit(session, _GOODBYE_SECONDS)
            with suppress(smtplib.SMTPException, OSError):
                session.quit()
        finally:
            session.close()

    def _connect(self) -> smtplib.SMTP:
        name, seconds = _own_name(), self.timeout_seconds
        if self.security is Security.TLS:
            context = self.tls_context()
            return smtplib.SMTP_SSL(self.host, self.port, name, timeout=seconds, context=context)
        return smtplib.SMTP(self.host, self.port, name, timeout=seconds)

    def _log_in(self, session: smtplib.SMTP, credentials: Credentials) -> None:
        """A refusal is not permanent: the next attempt may use the right password."""
        try:
            session.login(credentials.user, credentials.password)
        except smtplib.SMTPAuthenticationError as error:
            answer = _words(error.smtp_code, error.smtp_error)
            raise NotSent(f"{self.where} refuses the user name or password: {answer}") from None
        except smtplib.SMTPServerDisconnected:
            raise NotSent(f"{self.where} closed the connection at the login") from None
        except smtplib.SMTPException:
            raise NotSent(f"{self.where} offers no login that could be used") from None
        except OSError:
            raise NotSent(f"the connection to {self.where} broke at the login") from None


@contextmanager
def _not_sent(where: str) -> Iterator[None]:
    """Turn errors before the server has the message into NotSent: it may be sent again."""
    try:
        yield
    except ssl.SSLCertVerificationError as error:
        raise NotSent(
            f"the certificate of {where} is not trusted: {error.verify_message} "
            "(?ca=/path/to/ca.pem names an authority of your own)"
        ) from None
    except smtplib.SMTPNotSupportedError:
        raise NotSent(f"{where} offers no STARTTLS, and mail does not go unprotected") from None
    except (smtplib.SMTPServerDisconnected, TimeoutError) as error:
        late = isinstance(error.__context__ or error, TimeoutError)  # smtplib calls both the same
        why = "does not answer in time" if late else "closed the connection"
        raise NotSent(f"{where} {why}") from None
    except smtplib.SMTPResponseException as error:
        raise NotSent(f"{where} answers {_words(error.smtp_code, error.smtp_error)}") from None
    except (smtplib.SMTPException, OSError) as error:
        why = one_line(getattr(error, "strerror", None) or type(error).__name__, _LONGEST_REASON)
        raise NotSent(f"{where} can't be reached: {why}") from None


def _deliver(session: smtplib.SMTP, server: SmtpServer, email: EmailMessage) -> None:
    sender, recipient = _bare(email, "From"), _bare(email, "To")
    options = _mail_options(session, server.where, sender + recipient)
    content = _content(email, utf8=bool(options))
    with _not_sent(server.where):
        code, answer = session.mail(sender, options)
        # Settings decide which senders are allowed, so a refusal here is never permanent.
        _require(code, (250,), answer, f"{server.where} refuses the sender", lasting=False)
        code, answer = session.rcpt(recipient)
        _require(code, (250, 251, 252), answer, f"{server.where} refuses the recipient")
        code, answer = session.docmd("DATA")
        _require(code, (354,), answer, f"{server.where} refuses the message")
        session.send(content)
    _finish(session, server)


def _finish(session: smtplib.SMTP, server: SmtpServer) -> None:
    """Send the final dot and wait for the answer to it."""
    try:
        _limit(session, server.answer_seconds)
        session.send(b".\r\n")
        code, answer = session.getreply()
    except (smtplib.SMTPException, OSError):
        code, answer = 0, b""
    if code // 100 not in (2, 4, 5):
        raise NotSent(
            f"the connection to {server.where} broke before it confirmed the message, which may "
            "have arrived",
            certain=False,
        )
    _require(code, (code,) if code < 300 else (), answer, f"{server.where} refuses the message")


def _limit(session: smtplib.SMTP, seconds: float) -> None:
    if session.sock is not None:
        session.sock.settimeout(seconds)


def _require(
    code: int, wanted: tuple[int, ...], answer: bytes, refused: str, *, lasting: bool = True
) -> None:
    if code in wanted:
        return
    permanent = lasting and 500 <= code < 600 and code not in _LOGIN_CODES
    raise NotSent(f"{refused}: {_words(code, answer)}", permanent=permanent)


def _mail_options(session: smtplib.SMTP, where: str, addresses: str) -> tuple[str, ...]:
    if addresses.isascii():
        return ()
    if not session.has_extn("smtputf8"):
        raise NotSent(
            f"{where} takes no address with letters beyond ASCII (it offers no SMTPUTF8)",
            permanent=True,
        )
    return ("SMTPUTF8", "BODY=8BITMIME")


def _content(email: EmailMessage, *, utf8: bool) -> bytes:
    content = email.as_bytes(policy=SMTPUTF8 if utf8 else SMTP)
    content = re.sub(rb"(?m)^\.", b"..", content)  # a line of one dot would end the message
    return content if content.endswith(b"\r\n") else content + b"\r\n"


def _bare(email: EmailMessage, header: str) -> str:
    """The one address of a header."""
    (address,) = email[header].addresses
    return str(address.addr_spec)


def _words(code: int, answer: bytes | str) -> str:
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    return one_line(f"{code} {text}" if code > 0 else "nothing that is SMTP", _LONGEST_REASON)


def _own_name() -> str:
    """The name that we greet with.

    Asking for the full name may wait for a slow name server, and it is not needed: an address in
    brackets is always valid.
    """
    name = socket.gethostname()
    return name if re.fullmatch(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+", name) else "[127.0.0.1]"
