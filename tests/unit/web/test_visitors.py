"""The link that the server prints signs in once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from easeci.errors import UsageError
from easeci.web import visitors as module
from easeci.web.visitors import Visitors

HOST = "::ffff:192.0.2.7"


@pytest.fixture
def visitors(monkeypatch: pytest.MonkeyPatch) -> Visitors:
    """Of a project that opens a session for anybody who gets so far."""
    project: Any = object()
    monkeypatch.setattr(
        module, "sign_in_here", lambda _, login, address: f"session of {login} at {address}"
    )
    monkeypatch.setattr(module, "tokens", lambda _: [])
    return Visitors(project, "ada")


def test_a_code_signs_in_the_owner_once(visitors: Visitors) -> None:
    assert visitors.enter("", HOST) is None, "nobody has made a code yet"
    code = visitors.new_code()
    assert visitors.enter(code + "x", HOST) is None
    assert visitors.enter("ä", HOST) is None
    assert visitors.enter(code, HOST) == "session of ada at 192.0.2.7", (
        "wrong ones do not use it up"
    )
    assert visitors.enter(code, HOST) is None


def test_of_two_who_come_at_once_one_gets_in(visitors: Visitors) -> None:
    code = visitors.new_code()
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(visitors.enter, [code] * 50, [HOST] * 50))
    assert found.count("session of ada at 192.0.2.7") == 1


def test_a_new_code_ends_the_one_before(visitors: Visitors) -> None:
    first, second = visitors.new_code(), visitors.new_code()
    assert visitors.enter(first, HOST) is None
    assert visitors.enter(second, HOST) is not None


def test_without_tokens_other_machines_are_refused(visitors: Visitors) -> None:
    with pytest.raises(UsageError, match=r"0\.0\.0\.0.*needs tokens"):
        visitors.require_tokens("0.0.0.0")


def test_nobody_is_looked_for_without_a_session(visitors: Visitors) -> None:
    assert visitors.find(None) is None
    assert visitors.find("") is None
