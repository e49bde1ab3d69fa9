"""A busy server: which requests it waits for, which it does not, and what it says then."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Event
from typing import Any

import httpx
import pytest

from easeci.service.planning.explore import explore
from easeci.service.project import open_project
from easeci.web import connection, explorer, server
from easeci.web import site as sites
from tests.repositories import Workplace
from tests.sites import Here, Visit, held, serving_here, visitor, waiting_project
from tests.waiting import PATIENCE, wait_until

MOST = 12
"""The connections that this server has."""
GET = b"GET /sign-in HTTP/1.1\r\nHost: localhost\r\n\r\n"


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

    @property
    def owners(self) -> tuple[str, ...]:
        """What makes a request the owner's; the cookie's name is by the port that is asked for."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.owner.client.cookies.items())
        host = httpx.URL(self.here.address).netloc.decode()
        return (f"Host: {host}", f"Cookie: {cookies}", "Sec-Fetch-Site: same-origin")


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Busy]:
    place = waiting_project(tmp_path_factory.mktemp("busy"), classes="[low, high]")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "MOST_AT_ONCE", MOST)
        with serving_here(place.repository) as here:
            yield Busy(place, here, visitor(here, place.repository, "owner"))


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


def test_the_number_of_connections_is_limited(busy: Busy) -> None:
    """Further visitors are told to come later, until a connection is free."""
    with ExitStack() as lines:
        for _ in range(MOST - 1):
            lines.enter_context(busy.connected())
        assert busy.owner.get("/").status_code == 503
    wait_until(lambda: busy.owner.get("/").status_code == 200)


def test_a_plan_that_was_typed_over_is_not_calculated(
    busy: Busy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one plan is calculated, only the newest request of a visitor waits for its turn."""
    begun, go, calculated = Event(), Event(), []

    def slowly(fields: Mapping[str, str]) -> object:
        calculated.append(fields["steps"])
        begun.set()
        assert go.wait(PATIENCE)
        return explore(fields)

    def plan(steps: int) -> httpx.Response:
        return busy.owner.get(f"/plan?condition=n+%3E+0.5+%2B%2F-+0.1&steps={steps}")

    monkeypatch.setattr(explorer, "explore", slowly)
    asked: list[object] = []

    def has_asked() -> bool:
        last = [*busy.here.site.newest_only._newest.values()]
        return bool(last) and last != asked[-1:]

    with ThreadPoolExecutor(3) as threads:
        answers = []
        for steps in (1, 2, 3):
            answers.append(threads.submit(plan, steps))
            wait_until(has_asked)
            asked += busy.here.site.newest_only._newest.values()
        assert begun.wait(PATIENCE)
        go.set()
        first, second, third = (answer.result() for answer in answers)
    assert (first.status_code, second.status_code, third.status_code) == (200, 204, 200)
    assert second.content == b""
    assert calculated == ["1", "3"]
    assert "steps: 3" in third.text


def test_a_form_is_refused_while_a_build_has_the_project(
    busy: Busy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the owner's: nothing was done, it says so, and sent again later it is done."""
    monkeypatch.setattr(sites, "PATIENCE_SECONDS", 0.05)
    one = b"id,label\n" + b"\n".join(busy.place.labels.read_bytes().splitlines()[1:2])
    forms: tuple[tuple[str, Any, dict[str, str]], ...] = (
        ("/testsets", {"examples": ("e.csv", busy.place.examples.read_bytes())}, {}),
        ("/testsets/1/labels", {"labels": ("l.csv", one)}, {}),
        ("/testsets/1/retire", None, {"sure": "yes", "reason": "too old"}),
        ("/testsets/1/release", None, {}),
    )
    with held(busy.place):
        for path, files, fields in forms:
            answer = busy.owner.send(path, files=files, **fields)
            assert answer.status_code == 503, path
            assert "Another command is at work on the project, such as a build" in answer.text
            assert sites.LATER in answer.text
        assert "too old" in busy.owner.post("/testsets/1/retire", sure="yes", reason="too old").text
    testset = open_project(busy.place.repository).state.latest_testset
    assert testset is not None
    assert (testset.labels, testset.retired) == (0, None)
    assert "1 added" in busy.owner.send("/testsets/1/labels", files=forms[1][1]).text
