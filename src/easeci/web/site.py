"""What all requests share: the project as it is read, who labels, and who records."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from easeci.errors import UsageError
from easeci.service.project import Project, open_project
from easeci.service.tokens import Visitor, sign_in_here, tokens, visitor_of
from easeci.web.keeper import Keeper
from easeci.web.labellers import Labellers
from easeci.web.throttle import Throttle

MOST_REMEMBERED = 200
Made = TypeVar("Made")
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Place:
    """Which project is served."""

    folder: Path
    store: Path | None = None
    name: str | None = None

    def open(self) -> Project:
        return open_project(self.folder, store=self.store, name=self.name, create=True)


class Site:
    """One project on the web.

    Pages read one copy of it, which is brought up to date for each request. Whatever acts takes a
    copy of its own (:meth:`acting`), because it may have to wait for other commands, and pages must
    not. ``hosts`` are the names by which browsers may ask for it.
    """

    def __init__(self, place: Place, *, hosts: frozenset[str], secure: bool, login: str) -> None:
        self.place, self.hosts, self.secure, self.login = place, hosts, secure, login
        self._project, self._lock = place.open(), threading.Lock()
        self.name = self._project.name
        self.throttle = Throttle()
        self.keeper = Keeper(place)
        self.labellers = Labellers(place, self.keeper)
        self._memory: dict[tuple[object, ...], Any] = {}
        self._code: str | None = None

    def start(self) -> None:
        self.keeper.start()

    def close(self) -> None:
        """Record what is not recorded yet, if nothing else is at work; answers are safe anyway."""
        self.labellers.close()
        self.keeper.close()

    @contextmanager
    def reading(self) -> Iterator[Project]:
        """The project as it is now, for as long as the block lasts."""
        with self._lock:
            self._project.refresh()
            yield self._project

    def acting(self) -> Project:
        """A copy of the project for something that may take its time."""
        return self.place.open()

    def remembered(self, key: tuple[object, ...], make: Callable[[], Made]) -> Made:
        """What was made for this key before; what has not been asked for lately is forgotten."""
        if key not in self._memory:
            self._memory[key] = make()
            while len(self._memory) > MOST_REMEMBERED:
                del self._memory[next(iter(self._memory))]
        made: Made = self._memory.pop(key)
        self._memory[key] = made
        return made

    # -- who is there

    def visitor(self, session: str | None) -> Visitor | None:
        return None if not session else visitor_of(self._project, session)

    def new_code(self) -> str:
        """A code that signs in the owner once: for whoever started the server."""
        self._code = secrets.token_urlsafe(24)
        return self._code

    def enter(self, code: str) -> str | None:
        """A session for the code, which is worth nothing afterwards."""
        with self._lock:
            known, right = self._code, False
            if known is not None:
                right = secrets.compare_digest(known.encode(), code.encode())
            if not right:
                return None
            self._code = None
        return sign_in_here(self._project, self.login)

    def require_tokens(self, host: str) -> None:
        """Whoever can reach the server from elsewhere needs a token to see anything."""
        if not tokens(self._project):
            raise UsageError(
                f"to be reached from other machines ({host}) the server needs tokens, and there "
                "are none",
                hint="Make one for each person: `easeci token add --role owner`, "
                "`--role labeller`, `--role developer`.",
            )
