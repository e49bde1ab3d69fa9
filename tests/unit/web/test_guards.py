"""What every answer carries, and which names a server answers to."""

from __future__ import annotations

from easeci.web.guards import HEADERS


def test_the_policy_lets_nothing_in_from_elsewhere() -> None:
    policy = dict(
        part.strip().split(" ", 1) for part in HEADERS["Content-Security-Policy"].split(";")
    )
    assert policy.pop("default-src") == "'none'"
    assert set(policy.values()) == {"'self'", "'none'"}
