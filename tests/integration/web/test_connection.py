"""How long a connection waits for a request, and for which it does not."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Event

import httpx
import pytest

from easeci.web import connection
from easeci.web.addresses import parse_proxies
from easeci.web.connection import MOST_OF_ONE_ADDRESS
from easeci.web.server import MOST_AT_ONCE
from tests.integration.web.busy import GET, Busy, post, until_closed
from tests.sites import Running, Visit, serving_here
from tests.waiting import PATIENCE, wait_until


@pytest.mark.parametrize(
    ("sent", "drop", "answered"),
    [
        (b"", b"", b""),
        (b"GET /sign-in HTTP/1.1\r\nX-Long: ", b"x", b""),
        (GET + b"GET /sign-in HTTP/1.1\r\nX-Long: ", b"x", b"HTTP/1.1 200"),
        (post("/sign-in", 4000, "Host: localhost"), b"x", b""),
        (post("/testsets/1/retire", 4000, "Host: localhost"), b"x", b"HTTP/1.1 401"),
    ],
    ids=["nothing", "head", "next head", "body", "body that was refused"],
)
def test_half_a_request_is_not_waited_for_forever(
    busy: Busy, monkeypatch: pytest.MonkeyPatch, sent: bytes, drop: bytes, answered: bytes
) -> None:
    """Nor does a byte now and then keep the connection."""
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(connection, "BODY_SECONDS", 0.3)
    with busy.connected() as line:
        line.sendall(sent)
        answer = until_closed(line, drop)
    assert answer[: len(b"HTTP/1.1 200")] == answered


def test_a_few_requests_ahead_are_answered_in_their_order(busy: Busy) -> None:
    with busy.connected() as line:
        line.sendall(GET * 9 + GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        answer = until_closed(line, b"")
    assert answer.count(b"HTTP/1.1 200") == 10


def test_a_slow_but_steady_upload_takes_as_long_as_it_takes(
    busy: Busy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Longer than one may be silent."""
    monkeypatch.setattr(connection, "HEAD_SECONDS", 2.0)
    monkeypatch.setattr(connection, "BODY_SECONDS", 2.0)
    monkeypatch.setattr(connection, "LEAST_BYTES", 5)
    body = b"reason=".ljust(200, b"x")
    with busy.connected() as line:
        line.sendall(post("/testsets/1/retire", len(body), *busy.owners))
        for start in range(0, len(body), 5):
            line.sendall(body[start : start + 5])
            time.sleep(0.06)
        answer = line.recv(100)
    assert answer.startswith(b"HTTP/1.1 400")  # nobody said that they were sure


def test_an_upload_that_the_server_does_not_read_on_is_not_cut_off(
    busy: Busy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it looks up who is asking, nothing more is taken than fits its buffer."""
    monkeypatch.setattr(connection, "BODY_SECONDS", 0.1)
    body = b"reason=".ljust(200_000, b"x")
    with busy.held_up() as held_up, busy.connected() as line:
        line.sendall(post("/testsets/1/retire", len(body), *busy.owners) + body[:150_000])
        time.sleep(0.4)
        held_up.go_on.set()
        line.sendall(body[150_000:])
        answer = line.recv(100)
    assert answer.startswith(b"HTTP/1.1 400")


HALF = b"GET /sign-in HTTP/1.1\r\nHost: localhost\r\nX-Long: "
HALF_FORM = post("/sign-in", 4000, "Host: localhost") + b"token="
REFUSED_FORM = post("/testsets/1/labels", 4000, "Host: localhost") + b"x" * 50


@contextmanager
def flood(address: str, source: str, count: int, sent: bytes) -> Iterator[list[socket.socket]]:
    """So many connections from one address of this machine, each with a part of a request."""
    url = httpx.URL(address)
    assert url.port is not None
    with ExitStack() as lines:
        held = []
        for _ in range(count):
            line = socket.create_connection((url.host, url.port), PATIENCE, (source, 0))
            held.append(lines.enter_context(line))
            with suppress(ConnectionError):  # closed at once
                line.sendall(sent)
        yield held


def still_open(lines: list[socket.socket]) -> int:
    """How many the server has not closed; what it answered is dropped."""
    return sum(map(_is_open, lines))


def _is_open(line: socket.socket) -> bool:
    line.setblocking(False)
    try:
        while line.recv(65536):
            pass
    except BlockingIOError:
        return True
    except ConnectionError:
        pass
    return False


@pytest.mark.parametrize("source", ["127.0.0.1", pytest.param("127.0.0.2", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(HALF, id="head"),
        pytest.param(HALF_FORM, id="form", marks=pytest.mark.long),
        pytest.param(REFUSED_FORM, id="refused", marks=pytest.mark.long),
    ],
)
def test_one_client_does_not_lock_out_others(running: Running, source: str, sent: bytes) -> None:
    """420 half requests, more than the server has connections: people at other addresses get their
    pages meanwhile, and people at the very same address too."""
    visit = Visit(running.address)
    with flood(running.address, source, MOST_AT_ONCE + 20, sent) as lines:
        for _ in range(3):
            assert visit.get("/sign-in").status_code == 200
        wait_until(lambda: still_open(lines) <= MOST_OF_ONE_ADDRESS)


@pytest.mark.long
def test_clients_at_many_addresses_do_not_lock_out_others(running: Running) -> None:
    """When all connections are taken, those that wait for a request are closed first."""
    visit = Visit(running.address)
    with ExitStack() as floods:
        for number in range(6):
            floods.enter_context(flood(running.address, f"127.0.0.{number + 2}", 90, HALF))
        assert visit.get("/sign-in").status_code == 200


def test_an_upload_is_not_cut_off_for_others(busy: Busy, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest connection of its address, but it makes progress and the others do not."""
    monkeypatch.setattr(connection, "MOST_OF_ONE_ADDRESS", 5)
    begun, find = Event(), busy.here.site.visitors.find

    def noticed(session: str | None) -> object:
        begun.set()
        return find(session)

    monkeypatch.setattr(busy.here.site.visitors, "find", noticed)
    body = b"reason=".ljust(20_000, b"x")
    with busy.connected() as line:
        line.sendall(post("/testsets/1/retire", len(body), *busy.owners))
        assert begun.wait(PATIENCE)
        line.sendall(body[:15_000])
        with flood(busy.here.address, "127.0.0.1", 20, HALF) as lines:
            wait_until(lambda: still_open(lines) == 4)
            line.sendall(body[15_000:])
            answer = line.recv(100)
    assert answer.startswith(b"HTTP/1.1 400")


def test_if_none_can_be_spared_the_new_one_is_closed(
    busy: Busy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests that are being answered are never cut off. Other addresses are not concerned."""
    monkeypatch.setattr(connection, "MOST_OF_ONE_ADDRESS", 4)
    with (
        busy.held_up() as held_up,
        flood(busy.here.address, "127.0.0.2", 4, GET) as answered,
    ):
        held_up.wait_for(len(answered))
        with flood(busy.here.address, "127.0.0.2", 1, GET) as (refused,):
            assert until_closed(refused, b"") == b""
        with flood(busy.here.address, "127.0.0.1", 1, GET) as (other,):
            held_up.go_on.set()
            assert other.recv(100).startswith(b"HTTP/1.1 200")
        for line in answered:
            assert line.recv(100).startswith(b"HTTP/1.1 200")


def test_a_declared_proxy_carries_everybody(busy: Busy, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have as many connections as the server has."""
    monkeypatch.setattr(connection, "MOST_OF_ONE_ADDRESS", 4)
    proxies = parse_proxies(["127.0.0.3"])
    with (
        serving_here(busy.place.repository, proxies=proxies) as here,
        flood(here.address, "127.0.0.3", 6, GET) as carried,
    ):
        for line in carried:
            assert line.recv(100).startswith(b"HTTP/1.1 200")
        with flood(here.address, "127.0.0.2", 8, HALF) as limited:
            wait_until(lambda: still_open(limited) == 4)
            assert still_open(carried) == 6
