"""Where the database of a store lies, and copies of it.

::

    <store>/ledger/ledger.db      with the files that SQLite makes and removes beside it

Accounts that can see the store's folder also see when its entries changed, and so when commands
were at work. So the folder itself never changes after its first use, and all that comes and goes
lies in folders below it, which only the owner can look into. Earlier versions kept the database in
the store's folder itself; it is moved when it is next opened.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from easeci.files import PRIVATE_FILE, explained, make_folder, replacing, sync_folder
from easeci.store.engine import BUSY_SECONDS, database_errors

LEDGER = "ledger"
DATABASE = "ledger.db"
COPIES = 3
ROOM = 1 << 20


def database_path(store: Path) -> Path:
    """The file of a store's database, which may not exist."""
    place, earlier = store / LEDGER / DATABASE, store / DATABASE
    return earlier if earlier.exists() and not place.exists() else place


def is_of_earlier_version(store: Path) -> bool:
    """Whether the database lies where earlier versions kept it."""
    return database_path(store) == store / DATABASE


def has_room(database: Path) -> bool:
    """Whether the disk has room to change a database: for a copy, and for SQLite's log."""
    with explained(f"{database} cannot be read"):
        return shutil.disk_usage(database.parent).free > COPIES * database.stat().st_size + ROOM


def move_database(store: Path) -> None:
    """Move a database that an earlier version made to its place.

    On a disk that is full or cannot be written it stays where it is.
    """
    earlier, place = store / DATABASE, store / LEDGER / DATABASE
    if not is_of_earlier_version(store) or not os.access(store, os.W_OK) or not has_room(earlier):
        return
    with explained(f"the store {store} cannot be used"), _folder_locked(store):
        if not earlier.exists() or place.exists():  # another command was quicker
            return
        make_folder(place.parent)
        with database_errors(earlier), closing(_opened(earlier)) as connection:
            # Afterwards the file is complete by itself, so that one rename moves all of it.
            connection.execute("PRAGMA journal_mode = DELETE")
        earlier.rename(place)
        sync_folder(place.parent)
        sync_folder(store)


def copy_database(path: Path, target: Path) -> None:
    """Write a consistent copy of a database, even while others write to it."""
    with (
        explained(f"{path.name} cannot be copied to {target}"),
        replacing(target, PRIVATE_FILE) as file,
        database_errors(path),
        closing(_opened(path)) as connection,
    ):
        file.write(connection.serialize())


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)


@contextmanager
def _folder_locked(folder: Path) -> Iterator[None]:
    """Hold a lock on a folder, without making a file in it."""
    import fcntl  # here and not above, because only Unix has it

    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
