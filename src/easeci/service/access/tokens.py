"""Who may see what: tokens that the owner hands out, and the sessions that they open.

A token is 256 random bits and is shown once. The store keeps only keyed digests of tokens and
sessions, so nobody can sign in with what the store holds. That a token was made or removed is an
event of the chain; signing in and out is noted in a table, because it must not wait for a build.
Removing a token does not wait either: only its event does, for the next command that acts.

A name belongs to one person. It is recorded with each label, and a labeller may take back answers
under the same name until they are recorded. So no other token may have the owner's name.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import partial

from easeci.errors import UsageError
from easeci.ledger.events import TokenMade
from easeci.service.project import Project, utc_now
from easeci.store.access import Access, SessionRow, TokenRow, insert_token
from easeci.times import parse_time, time_text

PREFIX = "easeci_"
LONGEST_NAME = 60
SESSION_HOURS = 24


class Role(StrEnum):
    """What a token is for."""

    OWNER = "owner"
    LABELLER = "labeller"
    DEVELOPER = "developer"


@dataclass(frozen=True)
class NewToken:
    """A token that was just made: the only time that its text is known."""

    name: str
    role: Role
    text: str


@dataclass(frozen=True)
class Visitor:
    """Somebody who is signed in. ``session`` is the digest of the session."""

    name: str
    role: Role
    session: str


def add_token(
    project: Project,
    role: str,
    name: str | None = None,
    *,
    login: str = "",
    waiting: Callable[[], None] | None = None,
) -> NewToken:
    """Make a token. Without a name it is called by its role and a number.

    ``login`` is the owner's account name on this machine, where the owner labels without a token.
    ``waiting`` is called once if another command acts on the project now.
    """
    chosen, given = _role(role), None if name is None else _named(name)
    text = PREFIX + secrets.token_urlsafe(32)
    with project.exclusive(waiting):
        named = given or _free_name(project, chosen)
        _require_other_than_owners(project, chosen, named, login)
        store = partial(
            insert_token,
            row=TokenRow(named, chosen, utc_now()),
            digest=_digest(project, "token", text),
        )
        project.append(TokenMade(named, chosen, by=login), also=store)
    return NewToken(named, chosen, text)


def _free_name(project: Project, role: Role) -> str:
    known = [token.name for token in tokens(project)]
    free = (f"{role}-{number}" for number in range(1, len(known) + 2))
    return next(name for name in free if name not in known)


def _require_other_than_owners(project: Project, role: Role, name: str, login: str) -> None:
    owners = {login, *_access(project).names_without_token(utc_now())}
    if role is not Role.OWNER and name.casefold() in {owner.casefold() for owner in owners}:
        raise UsageError(
            f"'{name}' is the owner's name here",
            hint="The name is recorded with each label: choose another one.",
        )


def tokens(project: Project) -> list[TokenRow]:
    """All tokens of the project, oldest first; never their texts."""
    return _access(project).tokens()


def remove_token(
    project: Project, name: str, *, by: str = "", waiting: Callable[[], None] | None = None
) -> None:
    """Remove a token; everybody who signed in with it is signed out at once. Then record it.

    ``waiting`` is called once if another command acts on the project now. The token is gone by
    then. If this command is ended while it waits, the next one that acts records the removal.
    """
    _access(project).remove_token(name, by, utc_now())
    with project.exclusive(waiting):
        pass  # acting on the project records removals


def sign_in(project: Project, token: str, address: str = "") -> str | None:
    """The text of a new session; None if there is no such token.

    ``address``, here and below, is where the visitor comes from; it is noted for the owner.
    """
    session = secrets.token_urlsafe(32)
    opened = _access(project).open_session(
        _digest(project, "token", token.strip()),
        _digest(project, "session", session),
        utc_now(),
        _end_of_session(),
        address,
    )
    return session if opened else None


def note_refusal(project: Project, address: str) -> None:
    """Note that somebody tried to sign in with a wrong token."""
    _access(project).note_refusal(utc_now(), address)


def sign_in_here(project: Project, name: str, address: str = "") -> str:
    """A session for the owner who started the server, and so can read the store anyway."""
    session = secrets.token_urlsafe(32)
    row = SessionRow(_owners_name(project, name), Role.OWNER, _end_of_session())
    digest = _digest(project, "session", session)
    _access(project).open_session_without_token(row, digest, utc_now(), address)
    return session


def _owners_name(project: Project, login: str) -> str:
    """The owner's login, unless another person's token has that name already."""
    name = login or str(Role.OWNER)
    others = {token.name.casefold() for token in tokens(project) if token.role != Role.OWNER}
    # No token's name has parentheses.
    return f"{name} (owner)" if name.casefold() in others else name


def visitor_of(project: Project, session: str) -> Visitor | None:
    """The visitor that a session belongs to; None if it has ended."""
    digest = _digest(project, "session", session)
    row = _access(project).session(digest, utc_now())
    if row is None:
        return None
    return Visitor(row.name, Role(row.role), digest)


def sign_out(project: Project, visitor: Visitor, address: str = "") -> None:
    """End one session."""
    _access(project).close_session(visitor.session, utc_now(), address)


def sign_out_everywhere(project: Project, name: str | None = None) -> int:
    """End every session, or those of one name; tokens stay valid. Returns how many there were.

    This also ends sessions that were opened without a token, by the link of ``easeci serve``.
    """
    ended = _access(project).close_sessions(name, utc_now())
    if name is not None and not ended:
        raise UsageError(
            f"nobody is signed in as '{name}'", hint="Without a name, everybody is signed out."
        )
    return ended


def _access(project: Project) -> Access:
    return Access(project.store, project.name)


def _digest(project: Project, purpose: str, text: str) -> str:
    return project.vault.key.digest(text.encode("utf-8", "replace"), purpose)


def _end_of_session() -> str:
    return time_text(parse_time(utc_now()) + timedelta(hours=SESSION_HOURS))


def _role(text: str) -> Role:
    try:
        return Role(text)
    except ValueError:
        raise UsageError(f"unknown role '{text}'", hint=f"Roles: {', '.join(Role)}.") from None


def _named(name: str) -> str:
    named = name.strip()
    if not re.fullmatch(r"[\w@.+ -]+", named) or len(named) > LONGEST_NAME:
        raise UsageError(
            "a token's name has letters, digits, spaces and @ . + - _, at most "
            f"{LONGEST_NAME} characters",
            hint="It says whose token it is, and is recorded with labels: such as --name ada.",
        )
    return named
