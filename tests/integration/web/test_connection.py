"""How long a connection waits for a request, and for which it does not."""

from __future__ import annotations

import time
from threading import Event

import pytest

from easeci.web import connection
from tests.integration.web.busy import GET, Busy, post, until_closed
from tests.waiting import PATIENCE


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
    looked = Event()
    find = busy.here.site.visitors.find

    def slowly(session: str | None) -> object:
        assert looked.wait(PATIENCE)
        return find(session)

    monkeypatch.setattr(busy.here.site.visitors, "find", slowly)
    body = b"reason=".ljust(200_000, b"x")
    with busy.connected() as line:
        line.sendall(post("/testsets/1/retire", len(body), *busy.owners) + body[:150_000])
        time.sleep(0.4)
        looked.set()
        line.sendall(body[150_000:])
        answer = line.recv(100)
    assert answer.startswith(b"HTTP/1.1 400")
