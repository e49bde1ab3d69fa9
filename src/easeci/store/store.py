"""The store: records of events by project, appended one transaction at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, insert, inspect, select, text, update
from sqlalchemy.exc import IntegrityError

from easeci.errors import InfrastructureError
from easeci.files import explained, make_folder, make_store_folder
from easeci.ledger.chain import Head, Record
from easeci.store.engine import database_errors, is_read_only, sqlite_engine, writing
from easeci.store.locks import is_locked, locked
from easeci.store.placing import (
    LEDGER,
    copy_database,
    database_path,
    has_room,
    move_database,
)
from easeci.store.schema import REVISION, event, project

AlsoWrite = Callable[[Connection, int], None]
"""Writes to other tables of a project, with a connection in a transaction and the project's id."""


@dataclass(frozen=True)
class Store:
    """A folder with a database of events, whose file is ``path``.

    A store knows records, heads and projects. It does not know what events mean. One that is not
    ``current`` has the schema of an earlier version: its events can be read, and nothing written.
    """

    folder: Path
    path: Path
    engine: Engine
    current: bool

    @staticmethod
    def open(folder: Path, *, create: bool = False) -> Store:
        """Open the store in a folder. Only ``create`` makes a new one."""
        if create:
            make_store_folder(folder)
            with explained(f"the store {folder} cannot be used"):
                make_folder(folder / LEDGER)
        move_database(folder)
        path = database_path(folder)
        if not create and not path.exists():
            raise InfrastructureError(
                f"the ledger of the store {folder} is missing",
                hint="Put a backup of the store back: `easeci restore FILE`.",
            )
        engine = sqlite_engine(path, create=create)
        with database_errors(path):
            current = migrate(engine, path)
        if create:
            path.chmod(0o600)
        return Store(folder, path, engine, current)

    def projects(self) -> list[str]:
        """The names of all projects, sorted."""
        with database_errors(self.path), self.engine.connect() as connection:
            return list(connection.scalars(select(project.c.name).order_by(project.c.name)))

    def head(self, name: str) -> Head | None:
        """The head of a project, or None if there is no such project."""
        with database_errors(self.path), self.engine.connect() as connection:
            return _head(connection, name)

    def records(self, name: str, after: int = 0, until: int | None = None) -> list[Record]:
        """The records of a project, in order."""
        with database_errors(self.path), self.engine.connect() as connection:
            return _records(connection, name, after, until)

    def ledger(self, name: str, after: int = 0) -> tuple[list[Record], Head | None]:
        """Records and head of one moment, even if another command writes meanwhile."""
        with database_errors(self.path), self.engine.connect() as connection:
            return _records(connection, name, after), _head(connection, name)

    def append(
        self, name: str, head: Head, records: Sequence[Record], also: AlsoWrite | None = None
    ) -> None:
        """Add records after ``head``, all or none. The first records make the project.

        ``also`` writes to other tables in the same transaction. If it raises, nothing is recorded.
        """
        last = records[-1]
        with database_errors(self.path), writing(self.engine).begin() as connection:
            project_id = _advance(connection, name, head, Head(last.number, last.code))
            rows = [
                {
                    "project_id": project_id,
                    "number": record.number,
                    "at": record.at,
                    "kind": record.kind,
                    "version": record.version,
                    "text": record.text,
                    "code": record.code,
                }
                for record in records
            ]
            connection.execute(insert(event), rows)
            if also is not None:
                also(connection, project_id)

    @contextmanager
    def exclusive(self, name: str, waiting: Callable[[], None] | None = None) -> Iterator[None]:
        """Be the only command that acts on a project; other commands wait until this one ends.

        ``waiting`` is called once if another command is acting on it.
        """
        if not self.current:
            raise InfrastructureError(
                f"the store {self.folder} is of an earlier version and cannot be changed to this "
                "one: the disk is full or read-only",
                hint="Nothing was done. Free some space, or make the store's folder writable.",
            )
        with locked(self._lock(name), waiting):
            yield

    def is_busy(self, name: str) -> bool:
        """Whether a command acts on a project right now."""
        return is_locked(self._lock(name))

    def _lock(self, name: str) -> Path:
        return self.path.parent / f"lock-{hashlib.sha256(name.encode()).hexdigest()[:16]}"

    def damage(self) -> str | None:
        """What SQLite finds wrong with the file of the database, or None."""
        with database_errors(self.path), self.engine.connect() as connection:
            found = connection.scalars(text("PRAGMA integrity_check")).first()
        return None if found == "ok" else f"{self.path.name}: {found}"


def migrate(engine: Engine, path: Path) -> bool:
    """Bring the database to this version's schema, after a copy of it; refuse one that is newer.

    A database stays at its schema if it can only be read, or if the disk is full: events were
    always stored in one way. Returns whether it has this version's schema now.
    """
    found = _revision(engine)
    if found == REVISION:
        return True
    if is_read_only(engine) or (found and not has_room(path)):
        return False
    # Here and not above: alembic is slow to load, and a store is migrated rarely.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util.exc import CommandError

    config = Config()
    config.set_main_option("script_location", "easeci.store:migrations")
    try:
        if found is not None:
            ScriptDirectory.from_config(config).get_revision(found)
    except CommandError:
        raise InfrastructureError(
            f"{path} was written by a newer easeci (schema {found})",
            hint="Upgrade this easeci; nothing was changed.",
        ) from None
    if found is not None:
        copy_database(path, path.with_name(f"before-{REVISION}.db"))
    with writing(engine).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")  # does nothing if another command was quicker
    return True


def _revision(engine: Engine) -> str | None:
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def _head(connection: Connection, name: str) -> Head | None:
    query = select(project.c.head_number, project.c.head_code).where(project.c.name == name)
    row = connection.execute(query).first()
    return None if row is None else Head(row.head_number, row.head_code)


def _records(
    connection: Connection, name: str, after: int, until: int | None = None
) -> list[Record]:
    columns = (event.c.number, event.c.at, event.c.kind, event.c.version, event.c.text)
    query = (
        select(*columns, event.c.code)
        .join(project)
        .where(project.c.name == name, event.c.number > after)
        .order_by(event.c.number)
    )
    if until is not None:
        query = query.where(event.c.number <= until)
    return [Record(*row) for row in connection.execute(query).all()]


def _advance(connection: Connection, name: str, head: Head, last: Head) -> int:
    """Move the head from ``head`` to ``last``; an error if another writer has moved it."""
    values = {"head_number": last.number, "head_code": last.code}
    if head.number == 0:
        try:
            made = connection.execute(insert(project).values(name=name, **values))
        except IntegrityError:
            raise _overtaken() from None
        return int(made.inserted_primary_key[0])  # type: ignore[index]
    moved = connection.execute(
        update(project)
        .where(
            project.c.name == name,
            project.c.head_number == head.number,
            project.c.head_code == head.code,
        )
        .values(**values)
    )
    if moved.rowcount != 1:
        raise _overtaken()
    return int(connection.execute(select(project.c.id).where(project.c.name == name)).scalar_one())


def _overtaken() -> InfrastructureError:
    return InfrastructureError(
        "another command has written to this project meanwhile",
        hint="Nothing was recorded. Run the command again.",
    )
