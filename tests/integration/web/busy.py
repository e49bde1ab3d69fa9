"""A server with few connections, and requests that are not whole."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Semaphore

import httpx
import pytest

from easeci.service.access.tokens import Visitor
from tests.repositories import Workplace
from tests.sites import Here, Visit
from tests.waiting import PATIENCE

MOST = 12
"""The connections that this server has."""
GET = b"GET /sign-in HTTP/1.1\r\nHost: localhost\r\n\r\n"


@dataclass
class HeldUp:
    """Requests that the server has begun, and does not answer before it may go on."""

    go_on: Event = field(default_factory=Event)
    begun: Semaphore = field(default_factory=lambda: Semaphore(0))

    def wait_for(self, count: int) -> None:
        """Until so many more requests have begun."""
        assert all(self.begun.acquire(timeout=PATIENCE) for _ in range(count))


@dataclass
class Busy:
    place: Workplace
    here: Here
    owner: Visit

    @contextmanager
    def connected(self) -> Iterator[socket.socket]:
        url = httpx.URL(self.here.address)
        assert url.port is not None
        with socket.create_connection((url.host, url.port), timeout=PATIENCE) as line:
            yield line

    @contextmanager
    def held_up(self) -> Iterator[HeldUp]:
        """The server answers nobody until ``go_on`` is set."""
        held_up, find = HeldUp(), self.here.site.visitors.find

        def slowly(session: str | None) -> Visitor | None:
            held_up.begun.release()
            assert held_up.go_on.wait(PATIENCE)
            return find(session)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(self.here.site.visitors, "find", slowly)
            yield held_up

    @property
    def owners(self) -> tuple[str, ...]:
        """What makes a request the owner's; the cookie's name is by the port that is asked for."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.owner.client.cookies.items())
        host = httpx.URL(self.here.address).netloc.decode()
        return (f"Host: {host}", f"Cookie: {cookies}", "Sec-Fetch-Site: same-origin")


def post(path: str, length: int, *more: str) -> bytes:
    """The head of a form."""
    kind = "Content-Type: application/x-www-form-urlencoded"
    lines = [f"POST {path} HTTP/1.1", f"Content-Length: {length}", kind, *more]
    return "\r\n".join([*lines, "", ""]).encode()


def until_closed(line: socket.socket, drop: bytes) -> bytes:
    """What is answered until the other side hangs up, while one more drop comes now and then."""
    line.settimeout(0.02)
    answer, end = b"", time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            line.sendall(drop)
            part = line.recv(65536)
            if not part:
                return answer
            answer += part
        except TimeoutError:
            continue
        except (BrokenPipeError, ConnectionResetError):
            return answer
    raise AssertionError("it still waits")
