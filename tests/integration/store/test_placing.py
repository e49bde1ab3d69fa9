"""A database moves to its place and is copied as a whole, whatever happens meanwhile."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from easeci.errors import InfrastructureError
from easeci.ledger.chain import start
from easeci.store.placing import copy_database, database_path, move_database
from easeci.store.store import Store
from tests.histories import KEY
from tests.integration.store.records import RECORDS


def moved_back(store: Store) -> Path:
    """The store as an earlier version left it: the database in the store's folder itself."""
    earlier = store.folder / "ledger.db"
    store.path.rename(earlier)
    return earlier


def test_a_database_of_an_earlier_version_is_moved_with_its_log(store: Store) -> None:
    """The last events may still be in SQLite's log beside the file: they come along."""
    earlier = moved_back(store)
    with sqlite3.connect(earlier) as killed:  # a connection that is not closed keeps its log
        killed.execute("CREATE TABLE mark (x)")
        killed.execute("INSERT INTO mark VALUES (7)")
        killed.commit()
        log = Path(f"{earlier}-wal")
        content, kept = earlier.read_bytes(), log.read_bytes()
    killed.close()
    earlier.write_bytes(content)
    log.write_bytes(kept)
    move_database(store.folder)
    assert not list(store.folder.glob("ledger.db*"))
    with sqlite3.connect(store.path) as connection:
        assert connection.execute("SELECT x FROM mark").fetchall() == [(7,)]


def test_a_database_in_use_stays_where_it_is(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("easeci.store.placing.BUSY_SECONDS", 0.1)
    earlier = moved_back(store)
    with closing(sqlite3.connect(earlier, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InfrastructureError, match="in use"):
            move_database(store.folder)
    assert database_path(store.folder) == earlier
    move_database(store.folder)
    assert database_path(store.folder) == store.path


def test_a_copy_holds_what_is_committed_and_nothing_else(store: Store, tmp_path: Path) -> None:
    """Also what is still in the log of SQLite, while another connection writes."""
    store.append("p", start(KEY, "p"), RECORDS)
    with sqlite3.connect(store.path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM event")
        copy_database(store.path, tmp_path / "copy.db")
        other.execute("ROLLBACK")
    with sqlite3.connect(tmp_path / "copy.db") as copy:
        assert copy.execute("SELECT count(*) FROM event").fetchone() == (len(RECORDS),)
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600


def test_a_copy_is_made_before_a_migration(store: Store) -> None:
    """The copy has the earlier schema, and all events."""
    from alembic import command
    from alembic.config import Config

    from easeci.store.engine import writing
    from easeci.store.schema import REVISION

    store.append("p", start(KEY, "p"), RECORDS)
    config = Config()
    config.set_main_option("script_location", "easeci.store:migrations")
    with writing(store.engine).begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0001")
    assert Store.open(store.folder).records("p") == RECORDS
    assert [path.name for path in store.path.parent.glob("before*")] == [f"before-{REVISION}.db"]
    with sqlite3.connect(store.path.with_name(f"before-{REVISION}.db")) as copy:
        assert copy.execute("SELECT version_num FROM alembic_version").fetchone() == ("0001",)
        assert copy.execute("SELECT count(*) FROM event").fetchone() == (len(RECORDS),)
