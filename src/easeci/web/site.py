"""What all requests to a server share."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from easeci.errors import BusyError
from easeci.service.labelling.questions import OpenQuestions
from easeci.service.labelling.session import LabelSession
from easeci.service.project import Project
from easeci.web.background import BackgroundThread
from easeci.web.cache import Cache, NewestOnly
from easeci.web.flash import FlashMessages
from easeci.web.served_project import ServedProject
from easeci.web.visitors import Visitors

PATIENCE_SECONDS = 10.0
LATER = "Nothing was done. Send it again in a while."


class Site:
    """One project on the web.

    Pages read one copy of the project (:meth:`reading`). Forms that change it get a copy of their
    own (:meth:`acting`): they may have to wait for other commands, and pages must not.

    ``hosts`` are the names by which browsers may ask for the site, all if it is empty. ``url`` is
    its address if a proxy is in between. ``secure`` means that browsers use https.
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
        self.place, self.hosts, self.url, self.secure = place, hosts, url, secure
        self._project, self._read_lock = place.open(), threading.Lock()
        self._act_lock = threading.Lock()
        self.name = self._project.name
        self.visitors = Visitors(self._project, login)
        self.flash = FlashMessages()
        self.cache, self.newest_only = Cache(), NewestOnly()
        self.label_session = LabelSession(place.open(), shared=True)
        self.background = BackgroundThread(place, self.label_session)

    def start(self) -> None:
        """Begin to record in the background."""
        self.background.start()

    def close(self) -> None:
        """Record what is left, if no other command holds the project; answers are safe anyway."""
        self.background.close()

    @contextmanager
    def reading(self) -> Iterator[Project]:
        """The project as it is now, for as long as the block lasts."""
        with self._read_lock:
            self._project.refresh()
            yield self._project

    @contextmanager
    def labelling(self) -> Iterator[OpenQuestions]:
        """The open questions, for one request. The background thread records what follows."""
        with self.label_session.open() as questions:
            yield questions
        if self.label_session.has_work:
            self.background.wake()

    @contextmanager
    def acting(self) -> Iterator[Project]:
        """A copy of the project to act on, one form at a time; all answers so far are recorded.

        BusyError if something else holds the project for long: a build can take half an hour.
        """
        if not self._act_lock.acquire(timeout=PATIENCE_SECONDS):
            raise BusyError("another form is being processed", hint=LATER)
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
            self._act_lock.release()
