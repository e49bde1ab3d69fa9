"""What every answer carries, and which names a server answers to."""

from __future__ import annotations

import asyncio

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Scope

from easeci.web.guards import HEADERS, Headers, host_of
from tests.cases import each_case


def answer_to(host: str, hosts: frozenset[str]) -> tuple[int, dict[str, str]]:
    """The status and headers of an answer to a request for a host."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "headers": [(b"host", host.encode())],
    }
    app = Headers(PlainTextResponse("hello", headers={"Cache-Control": "private"}), hosts)
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], {k.decode(): v.decode() for k, v in sent[0]["headers"]}


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost:8000", 200), ("LOCALHOST", 200), ("evil.example", 421), ("", 421)],
)
def test_only_our_own_names_are_answered(host: str, status: int) -> None:
    """A refusal has all headers, too."""
    found, headers = answer_to(host, frozenset({"localhost"}))
    assert found == status
    assert {name.lower() for name in HEADERS} <= set(headers)


def test_an_endpoint_may_set_a_header_of_its_own() -> None:
    status, headers = answer_to("anything", frozenset())
    assert (status, headers["cache-control"]) == (200, "private")


@each_case(
    "netloc, name",
    [
        ("ci.example.org", "ci.example.org"),
        ("CI.example.org:443", "ci.example.org"),
        ("[::1]:8000", "::1"),
        ("user@localhost", "localhost"),
        ("[::1", ""),
        ("", ""),
    ],
)
def test_a_host_is_known_without_its_port(netloc: str, name: str) -> None:
    assert host_of(netloc) == name


def test_the_policy_lets_nothing_in_from_elsewhere() -> None:
    policy = dict(
        part.strip().split(" ", 1) for part in HEADERS["Content-Security-Policy"].split(";")
    )
    assert policy.pop("default-src") == "'none'"
    assert set(policy.values()) == {"'self'", "'none'"}
