"""What every store must do. One suite, run on each kind of store there is."""

from __future__ import annotations

import pytest

from easeci.errors import InfrastructureError
from easeci.ledger.chain import Head, chained, find_damage, start
from easeci.ledger.events import Looked
from easeci.store.store import Store
from tests.histories import KEY
from tests.integration.store.records import RECORDS, again


def test_a_new_store_has_no_projects(store: Store) -> None:
    assert store.projects() == []
    assert store.head("p") is None
    assert store.records("p") == []


def test_records_come_back_in_order(store: Store) -> None:
    store.append("p", start(KEY, "p"), RECORDS[:3])
    store.append("p", Head(3, RECORDS[2].code), RECORDS[3:])
    assert again(store).records("p") == RECORDS
    assert again(store).records("p", after=4) == RECORDS[4:]
    assert again(store).head("p") == Head(len(RECORDS), RECORDS[-1].code)


def test_projects_do_not_see_each_other(store: Store) -> None:
    for name in ("p", "q"):
        store.append(name, start(KEY, name), chained(KEY, start(KEY, name), "now", [Looked(name)]))
    assert store.projects() == ["p", "q"]
    assert "p" in store.records("p")[0].text
    assert "q" in store.records("q")[0].text
    for name in ("p", "q"):
        assert find_damage(KEY, name, store.records(name), store.head(name)) is None


def test_who_was_overtaken_is_refused_and_leaves_nothing(store: Store) -> None:
    store.append("p", start(KEY, "p"), RECORDS[:2])
    for head in (start(KEY, "p"), Head(1, RECORDS[0].code), Head(2, "other")):
        with pytest.raises(InfrastructureError, match="another command"):
            again(store).append("p", head, RECORDS[1:])
    assert store.records("p") == RECORDS[:2]


def test_records_are_added_all_or_none(store: Store) -> None:
    """The second of these cannot be stored: its number is taken."""
    store.append("p", start(KEY, "p"), RECORDS[:2])
    with pytest.raises(InfrastructureError):
        store.append("p", Head(2, RECORDS[1].code), [RECORDS[2], RECORDS[0]])
    assert store.records("p") == RECORDS[:2]
    assert store.head("p") == Head(2, RECORDS[1].code)


def test_the_store_is_ignored_by_git_and_closed_to_others(store: Store) -> None:
    assert (store.folder / ".gitignore").read_text() == "*\n"
    assert store.folder.stat().st_mode & 0o777 == 0o700
    assert store.path.stat().st_mode & 0o777 == 0o600
