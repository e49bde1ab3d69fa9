"""What all requests share: the project as it is read, who labels, and who records."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from easeci.errors import BusyError, UsageError
from easeci.service.access.tokens import (
    Visitor,
    sign_in,
    sign_in_here,
    sign_out,
    tokens,
    visitor_of,
)
from easeci.service.labelling.questions import OpenQuestions
from easeci.service.labelling.session import LabelSession
from easeci.service.project import Project, open_project
from easeci.web.background import BackgroundThread
from easeci.web.flash import FlashMessages
from easeci.web.throttle import Throttle

MOST_REMEMBERED = 200
PATIENCE_SECONDS = 10.0
LATER = "Nothing was done. Send it again in a while."
Made = TypeVar("Made")
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class ServedProject:
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
    not. ``hosts`` are the names by which browsers may ask for it. ``url`` is the address that they
    use if a proxy is in between.
    """

    def __init__(
        self,
        place: ServedProject,
        *,
        hosts: frozenset[str],
        url: str | None,
        secure: bool,
        login: str,
    ) -> None:
        self.place, self.hosts, self.url = place, hosts, url
        self.secure, self.login = secure, login
        self._project, self._lock = place.open(), threading.Lock()
        self.name = self._project.name
        self.throttle = Throttle()
        self.notes = FlashMessages()
        self.label_session = LabelSession(place.open(), shared=True)
        self.background = BackgroundThread(place, self.label_session)
        self._memory: dict[tuple[object, ...], tuple[Any]] = {}
        self._memory_lock = threading.Lock()
        self._act = threading.Lock()
        self._dear = threading.Lock()
        self._asked_last: dict[str, object] = {}
        self._code: str | None = None

    def start(self) -> None:
        self.background.start()

    def close(self) -> None:
        """Record what is not recorded yet, if nothing else is at work; answers are safe anyway."""
        self.background.close()

    @contextmanager
    def labelling(self) -> Iterator[OpenQuestions]:
        """The open questions, for one request. The background thread records what follows."""
        with self.label_session.open() as questions:
            yield questions
        if self.label_session.has_work:
            self.background.wake()

    @contextmanager
    def reading(self) -> Iterator[Project]:
        """The project as it is now, for as long as the block lasts."""
        with self._lock:
            self._project.refresh()
            yield self._project

    @contextmanager
    def acting(self) -> Iterator[Project]:
        """A copy of the project for something that takes it for itself; one at a time.

        A build may hold the project for half an hour. Whoever sent a form is told so instead.
        """
        if not self._act.acquire(timeout=PATIENCE_SECONDS):
            raise BusyError("something else is being done just now", hint=LATER)
        try:
            project, until = self.place.open(), time.monotonic() + PATIENCE_SECONDS
            while project.store.is_busy(project.name):
                if time.monotonic() > until:
                    raise BusyError(
                        "another command is at work on the project, such as a build", hint=LATER
                    )
                time.sleep(0.05)
            self.label_session.record(project)
            yield project
        finally:
            self._act.release()

    def remembered(self, key: tuple[object, ...], make: Callable[[], Made]) -> Made:
        """What was made for this key before; what has not been asked for lately is forgotten.

        Two who ask at once may both make it: nobody waits for what somebody else has drawn.
        """
        with self._memory_lock:
            found = self._memory.pop(key, None)
        made: Made = make() if found is None else found[0]
        with self._memory_lock:
            self._memory[key] = (made,)
            while len(self._memory) > MOST_REMEMBERED:
                del self._memory[next(iter(self._memory))]
        return made

    def latest(self, visitor: Visitor, make: Callable[[], Made]) -> Made | None:
        """Something dear that a visitor asks for again and again: one at a time, and only what was
        asked for last. None if something else has been asked for meanwhile."""
        mine = self._asked_last[visitor.session] = object()
        with self._dear:
            if self._asked_last.get(visitor.session) is not mine:
                return None
            try:
                return make()
            finally:
                if self._asked_last.get(visitor.session) is mine:
                    del self._asked_last[visitor.session]

    # -- who is there

    def visitor(self, session: str | None) -> Visitor | None:
        return None if not session else visitor_of(self._project, session)

    def sign_in(self, token: str) -> str | None:
        """A session for a token. Like all that is about sessions, it needs nothing of the state,
        and so waits for no page."""
        return sign_in(self._project, token)

    def sign_out(self, visitor: Visitor) -> None:
        sign_out(self._project, visitor)

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
