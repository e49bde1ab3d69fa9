"""The database engine of a store, set up for several processes and for crashes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.pool import NullPool

from easeci.errors import InfrastructureError

BUSY_SECONDS = 60
WRITES = "easeci_writes"
"""The execution option of connections whose transactions write."""
RESTORE = "`easeci log --verify` says what is damaged; `easeci restore` puts a backup back."
UNWRITABLE = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
)
"""What SQLite reports if it cannot make or change a file."""


class ReadOnlyConnection(sqlite3.Connection):
    """A connection that can only read. ``cause`` is why the file could not be opened to write."""

    cause: sqlite3.Error


def sqlite_engine(path: Path, *, create: bool) -> Engine:
    """An engine on a SQLite file: WAL, foreign keys, durable commits, writers that wait.

    On a read-only or full disk SQLite cannot make the files that it needs beside the database.
    Then the file is opened to read only.
    """

    def connect() -> sqlite3.Connection:
        try:
            return _connect(path, "rwc" if create else "rw")
        except sqlite3.Error as error:
            if create or _primary(error) not in UNWRITABLE or not path.exists():
                raise
            return _connect_to_read(path, error)

    # One connection for each transaction: none is left open when a command ends.
    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A transaction that reads first and then writes could not wait for another writer.
        writes = connection.get_execution_options().get(WRITES, False)
        driver = connection.connection.dbapi_connection
        if writes and isinstance(driver, ReadOnlyConnection):
            raise driver.cause
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,  # transactions begin where we say, not where the driver guesses
    )
    try:
        for pragma in ("journal_mode = WAL", "foreign_keys = ON", "synchronous = FULL"):
            connection.execute(f"PRAGMA {pragma}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _connect_to_read(path: Path, cause: sqlite3.Error) -> ReadOnlyConnection:
    """Read the file of the database alone.

    That is complete only if the log beside it (WAL) is empty: its events would be left out.
    """
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise InfrastructureError(
            f"the last events of the store are in {log.name}, and SQLite cannot read that file "
            "where it cannot write",
            hint="Make the store's folder writable, free some space, or copy the store elsewhere.",
        )
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro&immutable=1",
        uri=True,
        isolation_level=None,
        factory=ReadOnlyConnection,
    )
    connection.cause = cause
    return connection


def is_read_only(engine: Engine) -> bool:
    """Whether the database can only be read now."""
    with engine.connect() as connection:
        return isinstance(connection.connection.dbapi_connection, ReadOnlyConnection)


def writing(engine: Engine) -> Engine:
    """The same engine for transactions that write."""
    return engine.execution_options(**{WRITES: True})


@contextmanager
def database_errors(path: Path) -> Iterator[None]:
    """Raise errors of the database as ours, which say what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explanation(path, error) from None
    except UnicodeDecodeError:  # SQLite quotes damaged text, which Python cannot read
        raise InfrastructureError(f"{path} is damaged", hint=RESTORE) from None
    except (OperationalError, DatabaseError) as error:
        cause = error.orig if isinstance(error.orig, sqlite3.Error) else None
        raise _explanation(path, cause) from None


def _primary(error: sqlite3.Error | None) -> int | None:
    """SQLite's code of an error, without the details that extended codes add."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _explanation(path: Path, error: sqlite3.Error | None) -> InfrastructureError:
    match _primary(error):
        case sqlite3.SQLITE_FULL:
            return InfrastructureError(
                f"the disk is full: {path} could not be written",
                hint="Nothing was recorded. Free some space and run the command again.",
            )
        case sqlite3.SQLITE_IOERR:
            return InfrastructureError(
                f"{path} could not be read or written: input/output error",
                hint="Nothing was recorded. Is the disk full, or a file size limited?",
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return InfrastructureError(
                f"{path} may not be written",
                hint="Your account must be allowed to write to the store; --store names another.",
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return InfrastructureError(
                f"{path} is in use by another program for more than {BUSY_SECONDS} s",
                hint="Nothing was recorded. Try again.",
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return InfrastructureError(f"{path} is damaged", hint=RESTORE)
        case _:
            return InfrastructureError(
                f"{path} cannot be used ({type(error).__name__})", hint=RESTORE
            )
