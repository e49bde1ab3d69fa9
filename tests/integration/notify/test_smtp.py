"""Mail by SMTP, against a real server that refuses, drops the connection, hangs and comes back."""

from __future__ import annotations

import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path
from urllib.parse import quote

import pytest

from easeci.notify import NotSent, Transport, transport_from
from easeci.notify.smtp import SmtpServer
from tests.letters import DATE, SENDER, a_letter, an_email
from tests.mail import HOST, PASSWORD, USER, Authority, Fault, MailServer, free_port
from tests.waiting import PATIENCE

LOGIN = f"{quote(USER, safe='')}:{quote(PASSWORD, safe='')}@"
SENDER_PROGRAM = """
import sys
from easeci.notify import transport_from
from tests.letters import an_email
transport_from(sys.argv[1]).send(an_email())
"""


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def server() -> Iterator[MailServer]:
    with MailServer() as running:
        yield running


def plain(server: MailServer, **changes: float) -> SmtpServer:
    transport = transport_from(f"smtp://{HOST}:{server.port}?from={SENDER}")
    assert isinstance(transport, SmtpServer)
    return replace(transport, **changes)  # type: ignore[arg-type]


def failure(transport: Transport, email: EmailMessage | None = None) -> NotSent:
    with pytest.raises(NotSent) as caught:
        transport.send(email or an_email())
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert PASSWORD not in str(caught.value)
    return caught.value


def test_a_message_arrives_as_it_was_written(server: MailServer) -> None:
    text = "Größer.\n.\n..\nFrom here\n" + "Zeile " * 40 + "\n"
    letter = replace(a_letter(text=text), subject="Δ ≥ 2 % 模型")
    plain(server).send(letter.as_email(SENDER, DATE))
    (received,) = server.acknowledged
    assert (received.sender, received.recipient) == (SENDER, letter.recipient)
    body = received.email.get_body(("plain",))
    assert body is not None
    assert body.get_content().replace("\r\n", "\n") == text
    assert received.email["Subject"] == letter.subject
    assert received.email["Message-ID"] == letter.as_email(SENDER, DATE)["Message-ID"]


TEMPORARY = {
    Fault.REFUSE_SENDER: "refuses the sender: 550 no such sender",
    Fault.GREYLIST: "refuses the recipient: 451 4.7.1 come back later",
    Fault.LOGIN_FIRST: "refuses the recipient: 530",
    Fault.DELAY_MESSAGE: "refuses the message: 452",
    Fault.DROP_AT_EHLO: "closed the connection",
    Fault.DROP_AT_MAIL: "closed the connection",
    Fault.DROP_AT_RCPT: "closed the connection",
    Fault.HANG_AT_RCPT: "does not answer in time",
}
PERMANENT = {
    Fault.REFUSE_RECIPIENT: "refuses the recipient: 550 5.1.1 no such user",
    Fault.REFUSE_MESSAGE: "refuses the message: 554",
}


@pytest.mark.parametrize("fault", TEMPORARY)
def test_what_may_pass_is_temporary_and_certain(server: MailServer, fault: Fault) -> None:
    server.faults.append(fault)
    hangs = fault is Fault.HANG_AT_RCPT
    error = failure(plain(server, timeout_seconds=0.4 if hangs else PATIENCE))
    assert TEMPORARY[fault] in error.reason
    assert (error.permanent, error.certain) == (False, True)
    assert not server.received
    plain(server).send(an_email())
    assert len(server.received) == 1


@pytest.mark.parametrize("fault", PERMANENT)
def test_what_is_refused_for_good_is_permanent(server: MailServer, fault: Fault) -> None:
    server.faults.append(fault)
    error = failure(plain(server))
    assert PERMANENT[fault] in error.reason
    assert (error.permanent, error.certain) == (True, True)


@pytest.mark.parametrize("fault", [Fault.DROP_AFTER_DOT, Fault.HANG_AFTER_DOT])
def test_silence_after_the_message_is_uncertain(server: MailServer, fault: Fault) -> None:
    """The one case in which a message may come twice: then under the same Message-ID."""
    server.faults.append(fault)
    error = failure(plain(server, answer_seconds=0.4))
    assert "may have arrived" in error.reason
    assert (error.permanent, error.certain) == (False, False)
    plain(server).send(an_email())
    first, second = server.received
    assert [first.acknowledged, second.acknowledged] == [False, True]
    assert first.email["Message-ID"] == second.email["Message-ID"]


def test_a_connection_that_ends_within_a_message_is_told_from_one_after_it(
    server: MailServer,
) -> None:
    """A message too large for the buffers on the way can't have been sent to its end."""
    server.faults.append(Fault.DROP_IN_DATA)
    email = an_email()
    email.clear_content()
    email.set_content("A long line of text.\n" * 500_000, cte="7bit")
    error = failure(plain(server), email)
    assert (error.permanent, error.certain) == (False, True)
    assert not server.received


def test_a_small_message_that_was_dropped_is_sent_again(server: MailServer) -> None:
    """It left as a whole, so nobody can know; that it is not there is seen only by the server."""
    server.faults.append(Fault.DROP_IN_DATA)
    assert not failure(plain(server)).permanent
    plain(server).send(an_email())
    assert len(server.received) == 1


def test_what_happens_after_the_answer_makes_no_difference(server: MailServer) -> None:
    server.faults.append(Fault.DROP_AT_QUIT)
    plain(server).send(an_email())
    assert len(server.acknowledged) == 1


def test_a_server_that_is_down_and_comes_back_gets_the_message_once() -> None:
    port = free_port()
    transport = transport_from(f"smtp://{HOST}:{port}")
    for _ in range(3):
        error = failure(transport)
        assert "can't be reached: Connection refused" in error.reason
        assert (error.permanent, error.certain) == (False, True)
    with MailServer(port=port) as server:
        transport.send(an_email())
        assert len(server.received) == 1


def test_a_process_killed_in_mid_dialogue_has_sent_nothing(server: MailServer) -> None:
    server.faults.append(Fault.HANG_AT_RCPT)
    program = [sys.executable, "-c", SENDER_PROGRAM, f"smtp://{HOST}:{server.port}"]
    with subprocess.Popen(program) as process:
        while not server.recipients:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert not server.received
    plain(server).send(an_email())
    assert len(server.received) == 1


@pytest.mark.parametrize("scheme", ["smtp+starttls", "smtps"])
def test_a_login_over_tls_with_a_trusted_certificate(authority: Authority, scheme: str) -> None:
    starttls = scheme != "smtps"
    with MailServer(tls=authority.context(), starttls=starttls, login=True) as server:
        url = f"{scheme}://{LOGIN}{HOST}:{server.port}?ca={authority.file}"
        transport_from(url).send(an_email())
        (received,) = server.acknowledged
        assert received.user == USER
        assert received.protected or not starttls


@pytest.mark.parametrize("scheme", ["smtp+starttls", "smtps"])
def test_a_certificate_that_is_not_trusted_ends_it_before_the_login(
    authority: Authority, tmp_path: Path, scheme: str
) -> None:
    starttls = scheme != "smtps"
    strangers = Authority(tmp_path)
    for context, ca in (
        (authority.context(), ""),
        (authority.context(), f"?ca={strangers.file}"),
        (authority.context("other.example"), f"?ca={authority.file}"),
    ):
        with MailServer(tls=context, starttls=starttls, login=True) as server:
            error = failure(transport_from(f"{scheme}://{LOGIN}{HOST}:{server.port}{ca}"))
            assert "certificate" in error.reason
            assert "not trusted" in error.reason
            assert (error.permanent, error.certain) == (False, True)
            assert not server.recipients


def test_a_wrong_password_is_said_and_can_be_mended(authority: Authority) -> None:
    with MailServer(tls=authority.context(), login=True) as server:
        at = f"{HOST}:{server.port}?ca={authority.file}"
        error = failure(transport_from(f"smtp+starttls://user:wr0ng@{at}"))
        assert "refuses the user name or password: 535" in error.reason
        assert "wr0ng" not in str(error)
        assert (error.permanent, error.certain) == (False, True)
        transport_from(f"smtp+starttls://{LOGIN}{at}").send(an_email())
        assert len(server.acknowledged) == 1


def test_without_starttls_nothing_is_sent(server: MailServer) -> None:
    """Whoever strips the offer of STARTTLS from the answer learns nothing."""
    error = failure(transport_from(f"smtp+starttls://{LOGIN}{HOST}:{server.port}"))
    assert "no STARTTLS" in error.reason
    assert not error.permanent
    assert not server.recipients


def test_a_server_without_a_login_is_said(authority: Authority) -> None:
    with MailServer(tls=authority.context()) as server:
        server.dialogue["auth_exclude_mechanism"] = ["LOGIN", "PLAIN"]
        url = f"smtp+starttls://{LOGIN}{HOST}:{server.port}?ca={authority.file}"
        assert "offers no login" in failure(transport_from(url)).reason


def test_an_address_beyond_ascii_goes_where_it_can() -> None:
    email = an_email(recipient="jörg@müller.example")
    with MailServer() as server:
        plain(server).send(email)
        (received,) = server.acknowledged
        assert received.recipient == "jörg@xn--mller-kva.example"
        assert "jörg@xn--mller-kva.example" in received.content.decode("utf-8")
    with MailServer(utf8=False) as server:
        with pytest.raises(NotSent, match="beyond ASCII") as caught:
            plain(server).send(email)
        assert caught.value.permanent
        plain(server).send(an_email(recipient="owner@müller.example"))
        assert server.acknowledged[0].recipient == "owner@xn--mller-kva.example"


def test_old_tls_is_not_spoken(authority: Authority) -> None:
    context = authority.context()
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    with MailServer(tls=context) as server:
        url = f"smtp+starttls://{HOST}:{server.port}?ca={authority.file}"
        assert not failure(transport_from(url)).permanent
        assert not server.recipients
