"""Signing in and out is noted for the owner, and nobody can fill the disk with it."""

from __future__ import annotations

import pytest

from easeci.ledger.chain import chained, start
from easeci.ledger.events import Looked
from easeci.store import sign_ins
from easeci.store.access import Access, SessionRow
from easeci.store.sign_ins import SignInKind, SignInRow, load_sign_ins
from easeci.store.store import Store
from tests.histories import KEY

NOW, LATER = "2026-11-17T00:00:00Z", "2026-11-18T00:00:00Z"
OLGA = SessionRow("olga", "owner", LATER)


@pytest.fixture
def access(store: Store) -> Access:
    for name in ("p", "q"):
        head = start(KEY, name)
        store.append(name, head, chained(KEY, head, "now", [Looked("status"), Looked("log")]))
    return Access(store, "p")


def test_it_is_noted_who_came_from_where_and_after_which_event(access: Access) -> None:
    access.open_session_without_token(OLGA, "first", NOW, "192.0.2.7")
    access.open_session_without_token(OLGA, "second", NOW, "192.0.2.8")
    access.close_session("first", NOW, "192.0.2.7")
    access.close_session("first", NOW, "192.0.2.7")  # it has ended already
    access.close_sessions(None, NOW)
    access.note_refusal(NOW, "203.0.113.9")
    assert load_sign_ins(access.store, "p") == [
        SignInRow(NOW, "olga", "owner", SignInKind.IN, "192.0.2.7", 2),
        SignInRow(NOW, "olga", "owner", SignInKind.IN, "192.0.2.8", 2),
        SignInRow(NOW, "olga", "owner", SignInKind.OUT, "192.0.2.7", 2),
        SignInRow(NOW, "olga", "owner", SignInKind.ENDED, "", 2),
        SignInRow(NOW, "", "", SignInKind.REFUSED, "203.0.113.9", 2),
    ]
    assert load_sign_ins(access.store, "q") == []


def test_a_flood_of_wrong_tokens_neither_fills_the_table_nor_hides_others(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the newest refusals are kept, and everything of those who have a name."""
    monkeypatch.setattr(sign_ins, "KEPT", 5)
    access.open_session_without_token(OLGA, "first", NOW)
    Access(access.store, "q").note_refusal(NOW, "of another project")
    for number in range(20):
        access.note_refusal(NOW, str(number))
    found = load_sign_ins(access.store, "p")
    assert [row.address for row in found] == ["", "15", "16", "17", "18", "19"]
    assert found[0].what is SignInKind.IN
    assert len(load_sign_ins(access.store, "q")) == 1
