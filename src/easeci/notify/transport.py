"""Where mail goes, from one setting: a mail server, or a file.

    smtp+starttls://user:password@host:587     smtps://user:password@host:465
    smtp://host:25                             mbox:///path/to/file

``?from=address`` names the sender and ``?ca=/path/to/ca.pem`` an authority of one's own. The
setting holds a password, so no error and no ``repr`` shows any part of it.
"""

from __future__ import annotations

import re
import socket
import ssl
from email.message import EmailMessage
from pathlib import Path
from typing import Protocol
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from easeci.errors import UsageError
from easeci.notify.address import parse_address
from easeci.notify.failure import NotSent
from easeci.notify.mbox import MboxFile
from easeci.notify.smtp import Credentials, Security, SmtpServer

__all__ = ["NotSent", "Transport", "transport_from"]

SETTING = "EASECI_SMTP_URL"
_PORTS = {Security.NONE: 25, Security.STARTTLS: 587, Security.TLS: 465}
_FORMS = (
    f"Set {SETTING} to smtp+starttls://user:password@host:587, smtps://user:password@host:465, "
    "smtp://host:25 or mbox:///path/to/file."
)
_ENCODE = (
    "Characters such as @ : / ? # % in a user name or password are written as %40 %3A %2F %3F "
    "%23 %25."
)


class Transport(Protocol):
    """Takes a message over, or raises NotSent."""

    @property
    def sender(self) -> str:
        """The address that messages come from."""

    @property
    def where(self) -> str:
        """Where messages go, for people to read, without secrets."""

    def send(self, email: EmailMessage) -> None:
        """Send a message to the one recipient of its To header."""


def transport_from(url: str | None, sender: str | None = None) -> Transport:
    """The transport that a setting names. No connection is made yet.

    The sender is the first that is given of: ``?from=``, ``sender``, the user name if it is an
    address (many servers allow no other), and easeci at this machine.
    """
    if not url:
        raise UsageError("no way to send mail is set", hint=_FORMS)
    parts = _split(url)
    options = _options(parts)
    if parts.scheme == "mbox":
        return _mbox(parts, options, sender)
    return _smtp(parts, options, sender)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise _malformed("it is not a URL", _ENCODE) from None
    if not url.isprintable() or " " in url:
        raise _malformed("it has spaces or control characters in it", _ENCODE)
    if parts.scheme not in {"mbox", *Security}:
        raise _malformed("it begins with none of the known schemes", _FORMS)
    if "#" in url:
        raise _malformed("it has a # in it", _ENCODE)
    return parts


def _options(parts: SplitResult) -> dict[str, str]:
    allowed = {"from"} if parts.scheme in ("mbox", Security.NONE) else {"from", "ca"}
    try:
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        pairs = [("", "")]
    options = dict(pairs)
    if set(options) - allowed or len(options) < len(pairs) or not all(options.values()):
        known = " and ".join(f"?{name}=" for name in sorted(allowed))
        raise _malformed(f"after its ? only {known} can stand, once", _ENCODE)
    return options


def _mbox(parts: SplitResult, options: dict[str, str], sender: str | None) -> MboxFile:
    path = Path(_decoded(parts.path))
    if parts.netloc or not path.is_absolute():
        raise _malformed(
            "a file needs its whole path", "As in mbox:///home/me/mail: three slashes."
        )
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(
            f"mail can't be written to {path}",
            hint="It must name a file in a folder that is there.",
        )
    return MboxFile(path, _sender(options, sender, None))


def _smtp(parts: SplitResult, options: dict[str, str], sender: str | None) -> SmtpServer:
    security = Security(parts.scheme)
    if parts.path not in ("", "/"):
        raise _malformed("nothing can follow the port", _ENCODE)
    host, port = _host_and_port(parts)
    credentials = _credentials(parts)
    if credentials is not None and security is Security.NONE:
        raise UsageError(
            f"{SETTING} would send a password without protection",
            hint="Use smtp+starttls:// (mostly port 587) or smtps:// (mostly port 465).",
        )
    server = SmtpServer(
        host=host,
        port=port or _PORTS[security],
        security=security,
        sender=_sender(options, sender, None if credentials is None else credentials.user),
        credentials=credentials,
        ca=Path(options["ca"]) if "ca" in options else None,
    )
    _require_authority(server)
    return server


def _host_and_port(parts: SplitResult) -> tuple[str, int | None]:
    try:
        host = (parts.hostname or "").encode("idna").decode("ascii")
        port = parts.port
    except ValueError:  # its text quotes what might be a part of the password
        raise _malformed("its host or port makes no sense", _ENCODE) from None
    if not re.fullmatch(r"[A-Za-z0-9._:-]+", host) or port == 0:
        raise _malformed("its host or port makes no sense", _ENCODE)
    return host, port


def _credentials(parts: SplitResult) -> Credentials | None:
    if "@" not in parts.netloc:
        return None
    user, password = _decoded(parts.username or ""), _decoded(parts.password or "")
    if not user or not password:
        raise _malformed("a user name and a password go together", _ENCODE)
    for text in (user, password):
        if not (text.isascii() and text.isprintable()):
            raise _malformed("a login can only have printable ASCII characters", _ENCODE)
    return Credentials(user, password)


def _decoded(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise _malformed("its %-codes are not UTF-8", _ENCODE) from None


def _require_authority(server: SmtpServer) -> None:
    """Refuse a wrong file of certificates now, not when the first message is due."""
    if server.ca is None:
        return
    try:
        server.tls_context()
    except (OSError, ssl.SSLError):
        raise UsageError(
            f"?ca= of {SETTING} names no file of certificates (PEM): {server.ca}"
        ) from None


def _sender(options: dict[str, str], sender: str | None, user: str | None) -> str:
    if "from" in options:
        return parse_address(options["from"])
    if sender:
        return parse_address(sender)
    for candidate in (user, f"easeci@{socket.gethostname()}"):
        try:
            return parse_address(candidate or "")
        except UsageError:
            continue
    return "easeci@localhost"


def _malformed(why: str, hint: str) -> UsageError:
    return UsageError(f"{SETTING} can't be understood: {why}", hint=hint)
