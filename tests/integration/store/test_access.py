"""Tokens and sessions in a store: of one project, and only as long as they last."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from sqlalchemy import Engine

from easeci.errors import InfrastructureError, UsageError
from easeci.ledger.chain import Head, chained, start
from easeci.ledger.events import Event, Looked, TokenMade, TokenRemoved
from easeci.store import access as module
from easeci.store.access import Access, SessionRow, TokenRow, forget_removals, insert_token
from easeci.store.engine import writing
from easeci.store.store import AlsoWrite, Store
from tests.histories import KEY

BEFORE, NOW, LATER = "2026-11-16T00:00:00Z", "2026-11-17T00:00:00Z", "2026-11-18T00:00:00Z"
ANN = TokenRow("ann", "labeller", BEFORE)


def access_to(store: Store, name: str) -> Access:
    """The tokens of a new project."""
    store.append(name, start(KEY, name), chained(KEY, start(KEY, name), "now", [Looked(name)]))
    return Access(store, name)


def append(access: Access, event: Event, also: AlsoWrite) -> None:
    """Record an event, and write what belongs to it."""
    head = access.store.head(access.project)
    assert head is not None
    access.store.append(access.project, head, chained(KEY, head, "now", [event]), also)


def add(access: Access, row: TokenRow, digest: str) -> None:
    append(access, TokenMade(row.name, row.role), partial(insert_token, row=row, digest=digest))


@pytest.fixture
def access(store: Store) -> Access:
    return access_to(store, "p")


def test_a_session_has_the_name_and_role_of_its_token_until_it_ends(access: Access) -> None:
    add(access, ANN, "digest")
    assert access.open_session("digest", "session", BEFORE, NOW)
    assert access.session("session", BEFORE) == SessionRow("ann", "labeller", NOW)
    assert access.session("session", NOW) is None
    assert access.session("other", BEFORE) is None
    assert not access.open_session("wrong", "another", BEFORE, NOW)
    assert access.session("another", BEFORE) is None


def test_a_token_that_is_removed_ends_its_sessions(access: Access) -> None:
    add(access, ANN, "digest")
    access.open_session("digest", "session", BEFORE, NOW)
    access.remove_token("ann", "olga", BEFORE)
    with pytest.raises(UsageError, match="no token named 'ann'"):
        access.remove_token("ann", "olga", BEFORE)
    assert (access.tokens(), access.session("session", BEFORE)) == ([], None)


def test_a_token_that_is_removed_while_somebody_signs_in_opens_no_session(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look for the token and the writing of the session."""
    add(access, ANN, "digest")

    def removed_before(engine: Engine) -> Engine:
        monkeypatch.undo()
        access.remove_token("ann", "olga", BEFORE)
        return writing(engine)

    monkeypatch.setattr(module, "writing", removed_before)
    assert not access.open_session("digest", "session", BEFORE, NOW)
    assert access.session("session", BEFORE) is None


def test_a_removal_is_known_until_it_is_recorded(store: Store, access: Access) -> None:
    """Its name is taken until then; other projects are not concerned. A mistake is not noted."""
    other = access_to(store, "q")
    add(access, ANN, "digest")
    access.remove_token("ann", "olga", BEFORE)
    with pytest.raises(UsageError, match="no token named 'ben'"):
        access.remove_token("ben", "olga", BEFORE)
    removals = access.removals()
    assert [(removal.name, removal.by) for removal in removals] == [("ann", "olga")]
    with pytest.raises(UsageError, match="a token named 'ann' already"):
        add(access, ANN, "another digest")
    assert (other.removals(), access.tokens()) == ([], [])
    add(other, ANN, "other digest")
    append(access, TokenRemoved("ann"), partial(forget_removals, removals=removals))
    assert access.removals() == []
    add(access, ANN, "another digest")


def test_two_tokens_of_a_project_never_have_one_name(access: Access) -> None:
    add(access, ANN, "digest")
    with pytest.raises(UsageError, match="a token named 'ann' already"):
        add(access, ANN, "other digest")
    assert access.tokens() == [ANN]


def test_projects_share_no_tokens_and_no_sessions(store: Store, access: Access) -> None:
    other = access_to(store, "q")
    add(access, ANN, "digest")
    add(other, ANN, "other digest")
    access.open_session("digest", "session", BEFORE, NOW)
    assert not other.open_session("digest", "stolen", BEFORE, NOW)
    assert other.session("session", BEFORE) is None
    assert other.close_sessions(None, BEFORE) == 0
    assert access.session("session", BEFORE) is not None


def test_sessions_are_ended_all_or_by_name_and_old_ones_are_not_counted(access: Access) -> None:
    for name, until in (("ann", LATER), ("ann", NOW), ("bob", LATER)):
        row = SessionRow(name, "owner", until)
        access.open_session_without_token(row, f"{name} {until}", BEFORE)
    assert access.names_without_token(NOW) == {"ann", "bob"}
    assert access.close_sessions("ann", NOW) == 1
    assert access.names_without_token(NOW) == {"bob"}
    assert access.close_sessions(None, NOW) == 1


def test_a_token_and_its_event_are_written_together_or_not_at_all(access: Access) -> None:
    """Neither is there if the other can't be written."""
    add(access, ANN, "digest")
    before = access.store.records("p")
    with pytest.raises(UsageError):
        add(access, ANN, "other")
    assert access.store.records("p") == before
    old = Head(before[0].number, before[0].code)  # as if another command had written meanwhile
    late = chained(KEY, old, "now", [TokenMade("ben", "labeller")])
    also = partial(insert_token, row=replace(ANN, name="ben"), digest="ben's digest")
    with pytest.raises(InfrastructureError, match="another command has written"):
        access.store.append("p", old, late, also)
    assert access.tokens() == [ANN]


def test_a_project_that_is_not_in_the_store_has_no_sessions(store: Store) -> None:
    with pytest.raises(InfrastructureError, match="no project 'nobody'"):
        Access(store, "nobody").close_sessions(None, NOW)
