"""The background thread: it records what pages cannot wait to record.

Only one command at a time acts on a project, and a build can take half an hour. A page must not
wait for that. So this thread waits instead: it records which pages were seen, tends the label
session, and lets the project go on when a tick or a letter is due. Answers of labellers are on the
disk before that. If the server is killed, only looks that are not recorded yet are lost.
"""

from __future__ import annotations

import threading

from easeci.errors import EaseciError, unexpected
from easeci.ledger.events import Looked
from easeci.service.access.tokens import Visitor
from easeci.service.commits.advance import catch_up
from easeci.service.labelling.session import LabelSession
from easeci.service.project import Project
from easeci.web.served_project import ServedProject

IDLE_SECONDS = 15.0
CLOSING_SECONDS = 5.0
PAUSE_SECONDS = 5.0
"""After an error, such as a full disk, before the next try."""


class BackgroundThread:
    """One thread with its own copy of the project. ``problem`` is what went wrong last, if any."""

    def __init__(self, place: ServedProject, label_session: LabelSession) -> None:
        self._place, self._label_session = place, label_session
        self._thread = threading.Thread(target=self._run, name="background", daemon=True)
        self._wake = threading.Condition()
        self._is_woken = self._is_ended = False
        self._looks: list[Looked] = []
        self._seen: set[tuple[str, str, int | None]] = set()
        self.problem: str | None = None

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def close(self) -> None:
        """Do what is left, if no other command holds the project for long, and end."""
        self._is_ended = True
        self.wake()
        if self._thread.is_alive():
            self._thread.join(CLOSING_SECONDS)

    def look(self, visitor: Visitor, view: str, testset: int | None) -> None:
        """Record a look at more than the signals, once for each session, view and testset."""
        with self._wake:
            if (visitor.session, view, testset) in self._seen:
                return
            self._seen.add((visitor.session, view, testset))
            self._looks.append(Looked(view, visitor.name))
        self.wake()

    def wake(self) -> None:
        """Work now, and not only after the usual time."""
        with self._wake:
            self._is_woken = True
            self._wake.notify()

    def _run(self) -> None:
        project: Project | None = None
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._is_woken, IDLE_SECONDS)
                self._is_woken, ended = False, self._is_ended
            try:
                project = project or self._place.open()
                self._work(project, ended=ended)
                self.problem = None
            except BaseException as error:  # noqa: BLE001 - panics of polars are not Exceptions
                # The thread goes on, and the overview tells the owner.
                ours = isinstance(error, EaseciError)
                self.problem = str(error).partition("\n")[0] if ours else unexpected(error)
                with self._wake:
                    self._wake.wait_for(lambda: self._is_ended, PAUSE_SECONDS)
                    self._is_woken = True  # try again
            if ended:
                return

    def _work(self, project: Project, *, ended: bool) -> None:
        self._record_looks(project)
        if ended:
            self._label_session.close(project)
        else:
            self._label_session.tend(project)

    def _record_looks(self, project: Project) -> None:
        with project.exclusive():
            looks = list(self._looks)
            if looks:
                project.append(*looks)
            with self._wake:
                del self._looks[: len(looks)]
            catch_up(project)
