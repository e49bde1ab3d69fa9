"""Connections count from the moment that they are accepted, also before their TLS handshake."""

from __future__ import annotations

import resource
import socket
import ssl
import time
from asyncio.constants import SSL_HANDSHAKE_TIMEOUT
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
import trustme

from easeci.web.addresses import parse_proxies
from easeci.web.listener import Listener
from tests.repositories import Workplace
from tests.sites import serving
from tests.waiting import PATIENCE


@contextmanager
def few_descriptors() -> Iterator[int]:
    """Programs that are started meanwhile have fewer descriptors than usual; yields how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        yield 256
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("source", ["127.0.0.1", pytest.param("127.0.0.2", marks=pytest.mark.long)])
def test_a_client_that_begins_no_handshake_locks_nobody_out(
    place: Workplace, tmp_path: Path, source: str
) -> None:
    """More connections than the server has descriptors, none with a word of TLS. Without a limit
    nobody would be served for a minute."""
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    issued.private_key_pem.write_to_path(tmp_path / "key.pem")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "certificate.pem")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    files = [f"--certificate={tmp_path}/certificate.pem", f"--key={tmp_path}/key.pem"]
    with ExitStack() as lines:
        with few_descriptors() as descriptors:
            running = lines.enter_context(serving(place.repository, *files))
        url = httpx.URL(running.address)
        assert url.port is not None
        for _ in range(descriptors + 50):
            line = socket.create_connection((url.host, url.port), PATIENCE, (source, 0))
            lines.enter_context(line)
        trusted = ssl.create_default_context(cafile=tmp_path / "ca.pem")
        begun = time.monotonic()
        answer = httpx.get(f"{url}/sign-in", verify=trusted, timeout=PATIENCE)
        assert answer.status_code == 200
        assert time.monotonic() - begun < SSL_HANDSHAKE_TIMEOUT / 2, "the server gave up on them"


@contextmanager
def listening(**limits: int) -> Iterator[tuple[Listener, ExitStack]]:
    proxies = parse_proxies(["127.0.0.3"])
    with (
        Listener(socket.AF_INET, **limits, proxies=proxies) as listener,
        ExitStack() as lines,
    ):
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener, lines


def connect(listener: Listener, lines: ExitStack, source: str) -> tuple[socket.socket, int]:
    """A connection of a client, and its descriptor on our side."""
    client = socket.create_connection(listener.getsockname(), PATIENCE, (source, 0))
    accepted, _ = listener.accept()
    lines.enter_context(client)
    lines.enter_context(accepted)
    return client, accepted.fileno()


def ended(clients: list[socket.socket]) -> list[bool]:
    """Which ones our side has ended."""
    found = []
    for client in clients:
        client.setblocking(False)
        try:
            found.append(client.recv(1) == b"")
        except BlockingIOError:
            found.append(False)
    return found


def test_the_oldest_of_an_address_is_ended_if_it_has_too_many() -> None:
    """Those that are served do not count, nor those of a declared proxy."""
    with listening(most=100, most_of_one=2) as (listener, lines):
        served, descriptor = connect(listener, lines, "127.0.0.2")
        listener.served = lambda: {descriptor}
        own = [connect(listener, lines, "127.0.0.2")[0] for _ in range(4)]
        other = [connect(listener, lines, "127.0.0.1")[0] for _ in range(2)]
        carried = [connect(listener, lines, "127.0.0.3")[0] for _ in range(4)]
        assert ended(own) == [True, True, False, False]
        assert ended([served, *other, *carried]) == [False] * 7


def test_the_oldest_of_all_is_ended_if_there_are_too_many() -> None:
    with listening(most=3, most_of_one=100) as (listener, lines):
        clients = [connect(listener, lines, f"127.0.0.{n}")[0] for n in (1, 2, 3, 3, 4)]
        assert ended(clients) == [True, True, False, False, False]
