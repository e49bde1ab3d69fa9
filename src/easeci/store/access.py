"""Tokens and sessions of a project. The store holds their digests, never the texts themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, delete, insert, select
from sqlalchemy.exc import IntegrityError

from easeci.errors import InfrastructureError, UsageError
from easeci.store.engine import database_errors, is_read_only, writing
from easeci.store.schema import project, removed_token, session, token
from easeci.store.sign_ins import SignInKind, SignInRow, note_sign_in
from easeci.store.store import Store


@dataclass(frozen=True)
class TokenRow:
    """A stored token: its name, its role, and when it was made."""

    name: str
    role: str
    at: str


@dataclass(frozen=True)
class SessionRow:
    """A session: the name and role of the person, and when it ends."""

    name: str
    role: str
    until: str


@dataclass(frozen=True)
class Removal:
    """A token that was removed, and by whom; not an event of the chain yet."""

    id: int
    name: str
    by: str


@dataclass(frozen=True)
class Access:
    """The tokens and sessions of one project. Times are texts that sort by time."""

    store: Store
    project: str

    def tokens(self) -> list[TokenRow]:
        """All tokens, the oldest first."""
        query = (
            select(token.c.name, token.c.role, token.c.at)
            .join(project)
            .where(project.c.name == self.project)
            .order_by(token.c.id)
        )
        with database_errors(self.store.path), self.store.engine.connect() as connection:
            return [TokenRow(*row) for row in connection.execute(query).all()]

    def open_session(
        self, token_digest: str, digest: str, now: str, until: str, address: str = ""
    ) -> bool:
        """Open a session with a token; False if there is no such token.

        A wrong token writes nothing, so that guessing does not block other writers.
        """
        query = (
            select(token.c.id, token.c.name, token.c.role)
            .join(project)
            .where(project.c.name == self.project, token.c.digest == token_digest)
        )
        with database_errors(self.store.path), self.store.engine.connect() as connection:
            if connection.execute(query).first() is None:
                return False
        with database_errors(self.store.path), writing(self.store.engine).begin() as connection:
            found = connection.execute(query).first()
            if found is None:  # removed since
                return False
            project_id = self._id(connection)
            row = SessionRow(found.name, found.role, until)
            _open(connection, project_id, row, digest, now, address, token_id=found.id)
            return True

    def remove_token(self, name: str, by: str, now: str) -> None:
        """Remove a token and its sessions at once, and note that this is to be recorded."""
        with database_errors(self.store.path), writing(self.store.engine).begin() as connection:
            project_id = self._id(connection)
            own = (token.c.project_id == project_id, token.c.name == name)
            opened = session.c.token_id.in_(select(token.c.id).where(*own))
            _close(connection, project_id, [opened, session.c.until > now], now, SignInKind.ENDED)
            if connection.execute(delete(token).where(*own)).rowcount == 0:
                raise UsageError(
                    f"there is no token named '{name}'",
                    hint="`easeci token list` shows all of them.",
                )
            values = {"project_id": project_id, "name": name, "by": by}
            connection.execute(insert(removed_token).values(**values))

    def removals(self) -> list[Removal]:
        """The removals that are not recorded yet, the oldest first."""
        if is_read_only(self.store.engine):
            return []  # such a database may be older than the table, and nothing can be recorded
        query = (
            select(removed_token.c.id, removed_token.c.name, removed_token.c.by)
            .join(project)
            .where(project.c.name == self.project)
            .order_by(removed_token.c.id)
        )
        with database_errors(self.store.path), self.store.engine.connect() as connection:
            return [Removal(*row) for row in connection.execute(query).all()]

    def open_session_without_token(
        self, row: SessionRow, digest: str, now: str, address: str = ""
    ) -> None:
        """Open a session for the owner at this machine, who needs no token."""
        with database_errors(self.store.path), writing(self.store.engine).begin() as connection:
            _open(connection, self._id(connection), row, digest, now, address, token_id=None)

    def note_refusal(self, now: str, address: str) -> None:
        """Note that somebody tried to sign in with a wrong token."""
        row = SignInRow(now, "", "", SignInKind.REFUSED, address)
        with database_errors(self.store.path), writing(self.store.engine).begin() as connection:
            note_sign_in(connection, self._id(connection), row)

    def names_without_token(self, now: str) -> set[str]:
        """The names of sessions that were opened without a token."""
        query = (
            select(session.c.name)
            .join(project)
            .where(
                project.c.name == self.project, session.c.token_id.is_(None), session.c.until > now
            )
        )
        with database_errors(self.store.path), self.store.engine.connect() as connection:
            return set(connection.scalars(query))

    def session(self, digest: str, now: str) -> SessionRow | None:
        """The session with this digest, or None if there is none or it has ended."""
        query = (
            select(session.c.name, session.c.role, session.c.until)
            .join(project)
            .where(
                project.c.name == self.project, session.c.digest == digest, session.c.until > now
            )
        )
        with database_errors(self.store.path), self.store.engine.connect() as connection:
            row = connection.execute(query).first()
        return None if row is None else SessionRow(*row)

    def close_session(self, digest: str, now: str, address: str = "") -> None:
        """End one session, because its visitor signs out."""
        with database_errors(self.store.path), writing(self.store.engine).begin() as connection:
            project_id = self._id(connection)
            own = (session.c.project_id == project_id, session.c.digest == digest)
            _close(connection, project_id, own, now, SignInKind.OUT, address)

    def close_sessions(self, name: str | None, now: str) -> int:
        """End all sessions, or those of one name; returns how many there were."""
        with database_errors(self.store.path), writing(self.store.engine).begin() as connection:
            _forget_ended(connection, now)
            project_id = self._id(connection)
            ended = [session.c.project_id == project_id]
            if name is not None:
                ended.append(session.c.name == name)
            return _close(connection, project_id, ended, now, SignInKind.ENDED)

    def _id(self, connection: Connection) -> int:
        found = connection.scalar(select(project.c.id).where(project.c.name == self.project))
        if found is None:
            raise InfrastructureError(f"the store has no project '{self.project}'")
        return int(found)


def insert_token(connection: Connection, project_id: int, row: TokenRow, digest: str) -> None:
    """Store a token, in the transaction that records it; an error if the name is taken.

    A name is taken until its token's removal is recorded, so that the chain has both in order.
    """
    values = {"name": row.name, "role": row.role, "at": row.at, "digest": digest}
    namesakes = (removed_token.c.project_id == project_id, removed_token.c.name == row.name)
    try:
        connection.execute(insert(token).values(project_id=project_id, **values))
    except IntegrityError:
        is_taken = True
    else:
        is_taken = connection.scalar(select(removed_token.c.id).where(*namesakes)) is not None
    if is_taken:
        raise UsageError(
            f"there is a token named '{row.name}' already",
            hint="Name another, or remove that one first: `easeci token remove NAME`.",
        )


def forget_removals(connection: Connection, _project_id: int, removals: Sequence[Removal]) -> None:
    """Drop the notes of removals, in the transaction that records them."""
    known = [removal.id for removal in removals]
    connection.execute(delete(removed_token).where(removed_token.c.id.in_(known)))


def _open(
    connection: Connection,
    project_id: int,
    row: SessionRow,
    digest: str,
    now: str,
    address: str,
    *,
    token_id: int | None,
) -> None:
    _forget_ended(connection, now)
    values = {"name": row.name, "role": row.role, "digest": digest, "until": row.until}
    connection.execute(insert(session).values(project_id=project_id, token_id=token_id, **values))
    entry = SignInRow(now, row.name, row.role, SignInKind.IN, address)
    note_sign_in(connection, project_id, entry)


def _close(
    connection: Connection,
    project_id: int,
    which: Sequence[ColumnElement[bool]],
    now: str,
    what: SignInKind,
    address: str = "",
) -> int:
    """End these sessions and note each; returns how many there were."""
    ended = connection.execute(select(session.c.name, session.c.role).where(*which)).all()
    connection.execute(delete(session).where(*which))
    for name, role in ended:
        note_sign_in(connection, project_id, SignInRow(now, name, role, what, address))
    return len(ended)


def _forget_ended(connection: Connection, now: str) -> None:
    connection.execute(delete(session).where(session.c.until <= now))
