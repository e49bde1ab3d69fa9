"""Tokens and sessions in a store: of one project, and only as long as they last."""

from __future__ import annotations

import pytest

from easeci.errors import InfrastructureError, UsageError
from easeci.ledger.chain import chained, start
from easeci.ledger.events import Looked
from easeci.store.access import Access, SessionRow, TokenRow
from easeci.store.store import Store
from tests.histories import KEY

BEFORE, NOW, LATER = "2026-11-16T00:00:00Z", "2026-11-17T00:00:00Z", "2026-11-18T00:00:00Z"
ANN = TokenRow("ann", "labeller", BEFORE)


def access_to(store: Store, name: str) -> Access:
    """The tokens of a new project."""
    store.append(name, start(KEY, name), chained(KEY, start(KEY, name), "now", [Looked(name)]))
    return Access(store, name)


@pytest.fixture
def access(store: Store) -> Access:
    return access_to(store, "p")


def test_a_session_has_the_name_and_role_of_its_token_until_it_ends(access: Access) -> None:
    access.add_token(ANN, "digest")
    assert access.open_session("digest", "session", BEFORE, NOW)
    assert access.session("session", BEFORE) == SessionRow("ann", "labeller", NOW)
    assert access.session("session", NOW) is None
    assert access.session("other", BEFORE) is None
    assert not access.open_session("wrong", "another", BEFORE, NOW)
    assert access.session("another", BEFORE) is None


def test_a_token_that_is_removed_ends_its_sessions(access: Access) -> None:
    access.add_token(ANN, "digest")
    access.open_session("digest", "session", BEFORE, NOW)
    assert access.remove_token("ann")
    assert not access.remove_token("ann")
    assert (access.tokens(), access.session("session", BEFORE)) == ([], None)


def test_two_tokens_of_a_project_never_have_one_name(access: Access) -> None:
    access.add_token(ANN, "digest")
    with pytest.raises(UsageError, match="a token named 'ann' already"):
        access.add_token(ANN, "other digest")
    assert access.tokens() == [ANN]


def test_projects_share_no_tokens_and_no_sessions(store: Store, access: Access) -> None:
    other = access_to(store, "q")
    access.add_token(ANN, "digest")
    other.add_token(ANN, "other digest")
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


def test_a_project_that_is_not_in_the_store_has_no_tokens_to_add(store: Store) -> None:
    with pytest.raises(InfrastructureError, match="no project 'nobody'"):
        Access(store, "nobody").add_token(ANN, "digest")
