"""Where mail goes, from one setting that holds a password."""

from __future__ import annotations

import socket
import traceback
from pathlib import Path

import pytest

from easeci.errors import UsageError
from easeci.notify import transport_from
from easeci.notify.mbox import MboxFile
from easeci.notify.smtp import Security, SmtpServer
from tests.cases import each_case
from tests.mail import Authority

SECRET = "s3cr3t"


def server_from(url: str, sender: str | None = None) -> SmtpServer:
    transport = transport_from(url, sender)
    assert isinstance(transport, SmtpServer)
    return transport


@each_case(
    ("url", "host", "port", "security"),
    [
        ("smtp://mail", "mail", 25, Security.NONE),
        ("smtp://[::1]:2525/", "::1", 2525, Security.NONE),
        ("smtp+starttls://mail.example.org", "mail.example.org", 587, Security.STARTTLS),
        ("smtps://müller.example", "xn--mller-kva.example", 465, Security.TLS),
        ("SMTPS://u:p@mail:4650", "mail", 4650, Security.TLS),
    ],
)
def test_every_form_is_understood(url: str, host: str, port: int, security: Security) -> None:
    server = server_from(url)
    assert (server.host, server.port, server.security) == (host, port, security)


def test_credentials_are_decoded_and_never_shown() -> None:
    server = server_from("smtp+starttls://me%40example.org:%40%3A%2F%3F%23%25@mail")
    assert server.credentials is not None
    assert (server.credentials.user, server.credentials.password) == ("me@example.org", "@:/?#%")
    hidden = server_from(f"smtps://user:{SECRET}@mail")
    assert SECRET not in repr(hidden) + str(hidden) + hidden.where


def test_the_sender_is_the_first_there_is() -> None:
    assert server_from("smtps://a%40b.org:p@mail?from=ci%40c.org", "x@d.org").sender == "ci@c.org"
    assert server_from("smtps://a%40b.org:p@mail", "x@d.org").sender == "x@d.org"
    assert server_from("smtps://a%40b.org:p@mail").sender == "a@b.org"
    expected = f"easeci@{socket.gethostname()}"
    assert server_from("smtps://user:p@mail").sender in (expected, "easeci@localhost")


def test_a_file_is_named_by_its_whole_path(tmp_path: Path) -> None:
    box = transport_from(f"mbox://{tmp_path}/my%20mail?from=ci@example.org")
    assert box == MboxFile(tmp_path / "my mail", "ci@example.org")
    for url in (f"mbox://{tmp_path}", f"mbox://{tmp_path}/missing/box", "mbox://box", "mbox:box"):
        with pytest.raises(UsageError):
            transport_from(url)


@each_case("url", [None, ""])
def test_nothing_set_is_refused_with_the_forms_there_are(url: str | None) -> None:
    with pytest.raises(UsageError, match="no way to send mail is set") as caught:
        transport_from(url)
    assert "smtp+starttls://user:password@host:587" in str(caught.value)


@each_case(
    "url",
    [
        f"smtp://user:{SECRET}@mail",
        f"user:{SECRET}@mail:587",
        f"{SECRET}://mail",
        f"http://user:{SECRET}@mail",
        f"smtps://user:{SECRET}/x@mail",
        f"smtps://user:{SECRET}#x@mail",
        f"smtps://user:{SECRET}?x@mail",
        f"smtps://user:{SECRET}[x@mail",
        f"smtps://user:{SECRET}%ff@mail",
        f"smtps://user:{SECRET}%00@mail",
        f"smtps://user:{SECRET}%C3%A4@mail",
        f"smtps://user:{SECRET}\n@mail",
        f"smtps://user:{SECRET}℀@mail",
        f"smtps://:{SECRET}@mail",
        f"smtps://{SECRET}@mail",
        f"smtps://user:{SECRET}@",
        f"smtps://user:{SECRET}@mail:port",
        f"smtps://user:{SECRET}@mail:0",
        f"smtps://user:{SECRET}@mail:99999",
        f"smtps://user:{SECRET}@ma il",
        f"smtps://user:{SECRET}@{'a' * 64}.org",
        f"smtps://user:{SECRET}@mail/path",
        f"smtps://user:{SECRET}@mail?form=a@b.org",
        f"smtps://user:{SECRET}@mail?from=a@b.org&from=c@d.org",
        f"smtps://user:{SECRET}@mail?from=",
        f"smtps://user:{SECRET}@mail?from=a%0Ab@c.org",
        f"smtps://user:{SECRET}@mail?ca=/missing/ca.pem",
        f"smtps://user:{SECRET}@mail?{SECRET}",
        "smtp://mail?ca=/missing/ca.pem",
    ],
)
def test_what_is_malformed_is_refused_without_showing_the_password(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        transport_from(url)
    shown = "".join(
        traceback.TracebackException.from_exception(caught.value).format_exception_only()
    )
    assert SECRET not in shown + str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_an_authority_is_read_when_it_is_set(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    assert server_from(f"smtps://mail?ca={authority.file}").ca == authority.file
    broken = tmp_path / "broken.pem"
    broken.write_text("not a certificate")
    for path in (broken, tmp_path / "missing.pem"):
        with pytest.raises(UsageError, match="names no file of certificates"):
            server_from(f"smtps://mail?ca={path}")
