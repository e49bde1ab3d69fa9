"""Who signed in and out of a project's pages: a table for the owner, apart from the chain.

Strangers can cause rows here, and events are kept for ever. So only the newest rows of each name
are kept. All refused sign-ins have the empty name: nobody knows who that was.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Connection, delete, insert, select

from easeci.store.engine import database_errors
from easeci.store.schema import project, sign_in
from easeci.store.store import Store

KEPT = 1_000
"""Rows of one name, so that nobody can push out what others did."""


class SignInKind(StrEnum):
    """What happened."""

    IN = "in"
    OUT = "out"
    ENDED = "ended"
    """The owner ended the session."""
    REFUSED = "refused"
    """A wrong token; the first of its address within a minute."""


@dataclass(frozen=True)
class SignInRow:
    """Somebody signed in or out, at a time, from an address (empty if it is unknown).

    ``after`` is the number of the project's last event then; the store sets it. Clocks can be
    wrong, and times are to the second.
    """

    at: str
    name: str
    role: str
    what: SignInKind
    address: str
    after: int = 0


def note_sign_in(connection: Connection, project_id: int, row: SignInRow) -> None:
    """Add a row, and drop the oldest of the same name if there are too many."""
    after = select(project.c.head_number).where(project.c.id == project_id).scalar_subquery()
    values = {"at": row.at, "name": row.name, "role": row.role, "address": row.address}
    connection.execute(
        insert(sign_in).values(project_id=project_id, after=after, what=row.what, **values)
    )
    own = (sign_in.c.project_id == project_id, sign_in.c.name == row.name)
    surplus = select(sign_in.c.id).where(*own).order_by(sign_in.c.id.desc()).limit(1).offset(KEPT)
    connection.execute(delete(sign_in).where(*own, sign_in.c.id <= surplus.scalar_subquery()))


def load_sign_ins(store: Store, name: str) -> list[SignInRow]:
    """The rows of a project, the oldest first."""
    query = select(sign_in).join(project).where(project.c.name == name).order_by(sign_in.c.id)
    with database_errors(store.path), store.engine.connect() as connection:
        rows = connection.execute(query).all()
    return [
        SignInRow(row.at, row.name, row.role, SignInKind(row.what), row.address, row.after)
        for row in rows
    ]
