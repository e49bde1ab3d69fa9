"""What every store must do. One suite, run on each kind of store there is."""

from __future__ import annotations

import multiprocessing
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from easeci.errors import InfrastructureError
from easeci.ledger.chain import Head, chained, find_damage, start
from easeci.ledger.events import Looked
from easeci.store.store import Store
from tests.accounts import bound_by_modes
from tests.histories import KEY, History
from tests.waiting import PATIENCE, wait_until

RECORDS = History.begun().commit("1", True).records


@pytest.fixture(params=["sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(tmp_path / "store", create=True)
    yield opened
    opened.engine.dispose()


def again(store: Store) -> Store:
    """As another process would see it."""
    return Store.open(store.folder)


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


def test_only_one_command_at_a_time_acts_on_a_project(store: Store) -> None:
    order: list[str] = []
    waits = threading.Event()
    with store.exclusive("p"):
        other = threading.Thread(target=_act, args=(again(store), waits, order))
        other.start()
        assert waits.wait(PATIENCE)
        order.append("first")
    other.join()
    assert order == ["first", "second"]


def _act(store: Store, waits: threading.Event, order: list[str]) -> None:
    with store.exclusive("p", waits.set):
        order.append("second")


def test_projects_do_not_wait_for_each_other(store: Store) -> None:
    with store.exclusive("p"), again(store).exclusive("q"):
        pass


def test_a_killed_command_leaves_no_lock(store: Store) -> None:
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_hold, args=(store.folder,))
    process.start()
    wait_until((store.folder / "held").exists)
    process.kill()
    process.join()
    with store.exclusive("p", lambda: pytest.fail("the lock outlived its process")):
        pass


def _hold(folder: Path) -> None:
    with Store.open(folder).exclusive("p"):
        (folder / "held").touch()
        time.sleep(600)


def test_the_store_is_ignored_by_git_and_closed_to_others(store: Store) -> None:
    assert (store.folder / ".gitignore").read_text() == "*\n"
    assert store.folder.stat().st_mode & 0o777 == 0o700
    assert store.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("pragma", "value"), [("journal_mode", "wal"), ("foreign_keys", 1), ("synchronous", 2)]
)
def test_settings_of_sqlite(store: Store, pragma: str, value: object) -> None:
    with store.engine.connect() as connection:
        assert connection.exec_driver_sql(f"PRAGMA {pragma}").scalar() == value


def test_the_migrations_lead_to_the_schema(store: Store) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from easeci.store.schema import REVISION, metadata

    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []
        assert context.get_current_revision() == REVISION


def test_a_store_of_a_newer_version_is_refused_and_untouched(store: Store) -> None:
    store.append("p", start(KEY, "p"), RECORDS)
    with store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(InfrastructureError, match="newer easeci") as error:
        again(store)
    assert "Upgrade" in str(error.value)
    assert store.records("p") == RECORDS


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "ledger.db").write_bytes(b"This is no database." * 100)
    with pytest.raises(InfrastructureError, match="damaged"):
        Store.open(folder)


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
    for path in (store.folder, *store.folder.iterdir()):
        path.chmod(0o555 if path.is_dir() else 0o444)
    done = _limited(store.folder, "pass")
    assert "InfrastructureError" in done.stdout, done.stdout + done.stderr
    assert "may not be written" in done.stdout
    with sqlite3.connect(f"file:{store.path}?immutable=1", uri=True) as connection:
        assert connection.execute("SELECT count(*) FROM event").fetchone() == (len(RECORDS),)


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
