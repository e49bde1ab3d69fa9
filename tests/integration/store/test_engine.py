"""The database is set up for crashes, and its errors say what to do."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from easeci.errors import InfrastructureError
from easeci.ledger.chain import Head, find_damage, start
from easeci.store.store import Store
from tests.accounts import bound_by_modes
from tests.file_systems import UNWRITABLE, in_small_file_system
from tests.histories import KEY
from tests.integration.store.records import RECORDS, again


@pytest.mark.parametrize(
    ("pragma", "value"), [("journal_mode", "wal"), ("foreign_keys", 1), ("synchronous", 2)]
)
def test_settings_of_sqlite(store: Store, pragma: str, value: object) -> None:
    with store.engine.connect() as connection:
        assert connection.exec_driver_sql(f"PRAGMA {pragma}").scalar() == value


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "ledger.db").write_bytes(b"This is no database." * 100)
    with pytest.raises(InfrastructureError, match="damaged"):
        Store.open(folder)


def test_a_database_whose_errors_cannot_be_read_is_damaged(store: Store) -> None:
    """SQLite quotes the text of a damaged schema, whatever bytes it holds."""
    content = store.path.read_bytes()
    assert b"CREATE TABLE project" in content
    broken = content.replace(b"CREATE TABLE project", b"CREATE \xe9ABLE project")
    store.path.write_bytes(broken)
    with pytest.raises(InfrastructureError, match="damaged"):
        again(store).projects()


def test_a_full_disk_is_said_and_nothing_is_half_written(store: Store, tmp_path: Path) -> None:
    """The size of files is limited, as on a full disk, while a long text is appended."""
    store.append("p", start(KEY, "p"), RECORDS)
    done = _limited(store.folder, "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))")
    assert "InfrastructureError" in done.stdout, done.stdout + done.stderr
    assert "Nothing was recorded" in done.stdout
    assert store.records("p") == RECORDS
    assert find_damage(KEY, "p", store.records("p"), store.head("p")) is None


def test_a_read_only_store_is_said(store: Store) -> None:
    store.append("p", start(KEY, "p"), RECORDS)
    store.engine.dispose()
    for path in (*store.folder.rglob("*"), store.folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    done = _limited(store.folder, "pass")
    assert "InfrastructureError" in done.stdout, done.stdout + done.stderr
    assert "may not be written" in done.stdout
    with sqlite3.connect(f"file:{store.path}?immutable=1", uri=True) as connection:
        assert connection.execute("SELECT count(*) FROM event").fetchone() == (len(RECORDS),)


@pytest.mark.parametrize("kind", UNWRITABLE)
def test_a_store_on_such_a_disk_can_be_read(store: Store, tmp_path: Path, kind: str) -> None:
    """SQLite cannot make its files beside the database there; what is recorded is shown."""
    store.append("p", start(KEY, "p"), RECORDS)
    reading = f"""
from pathlib import Path
from easeci.ledger.chain import chained
from easeci.ledger.events import Looked
from easeci.errors import EaseciError
from easeci.store.store import Store
store = Store.open(Path("{tmp_path}/place/store"))
print(len(store.records("p")), store.damage())
try:
    head = store.head("p")
    store.append("p", head, chained({KEY!r}, head, "now", [Looked("x" * 100_000)]))
except EaseciError as error:
    print(error)
"""
    said = in_small_file_system(store.folder, tmp_path / "place", UNWRITABLE[kind], reading)
    assert said.startswith(f"{len(RECORDS)} None\n")
    assert ("may not be written" if kind == "read-only" else "could not be") in said


def test_events_that_cannot_be_read_are_not_left_out(store: Store, tmp_path: Path) -> None:
    """The last events are in SQLite's log, which needs a file beside it: an older state would lie."""
    store.append("p", start(KEY, "p"), RECORDS[:2])
    with closing(sqlite3.connect(store.path)) as other:
        other.execute("SELECT count(*) FROM event").fetchall()  # the last to close empties the log
        store.append("p", Head(2, RECORDS[1].code), RECORDS[2:])
        shutil.copytree(store.folder, tmp_path / "copy")
    copied = tmp_path / "copy" / store.path.relative_to(store.folder)
    assert copied.with_name(f"{copied.name}-wal").stat().st_size
    copied.with_name(f"{copied.name}-shm").unlink()
    reading = f"""
from pathlib import Path
from easeci.errors import EaseciError
from easeci.store.store import Store
try:
    print(len(Store.open(Path("{tmp_path}/place/copy")).records("p")))
except EaseciError as error:
    print(error)
"""
    freeze = UNWRITABLE["read-only"]
    said = in_small_file_system(tmp_path / "copy", tmp_path / "place", freeze, reading)
    assert "the last events of the store are in ledger.db-wal" in said


def _limited(folder: Path, limit: str) -> subprocess.CompletedProcess[str]:
    program = f"""
import os, resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from pathlib import Path
from easeci.errors import EaseciError
from easeci.ledger.chain import chained
from easeci.ledger.events import Looked
from easeci.store.store import Store
import easeci.store.engine, alembic.command
{limit}
try:
    store = Store.open(Path({str(folder)!r}))
    head = store.head("p")
    store.append("p", head, chained({KEY!r}, head, "now", [Looked("x" * 1_000_000)]))
    print("written")
except EaseciError as error:
    print(type(error).__name__, error)
"""
    command = bound_by_modes(sys.executable, "-c", program)
    return subprocess.run(command, capture_output=True, text=True)
