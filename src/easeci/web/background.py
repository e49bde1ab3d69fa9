"""The keeper: records what pages can't wait to record.

Whoever acts on a project acts alone, and a build may take half an hour. A page that somebody looks
at must not wait for it. So looks, and answers that settle a step, are handed to one thread, which
waits for its turn. Answers are on the disk before that; a look that was never recorded, because the
server was killed within that time, is all that can be lost.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from easeci.errors import EaseciError, unexpected
from easeci.service.commits.advance import catch_up
from easeci.service.looks import append_looks
from easeci.service.project import Project

if TYPE_CHECKING:
    from easeci.web.site import ServedProject

IDLE_SECONDS = 15.0
CLOSING_SECONDS = 5.0
PAUSE_SECONDS = 5.0
"""After something went wrong, such as a full disk, before it is tried again."""
Task = Callable[[Project], None]


class BackgroundThread:
    """One thread with a copy of the project of its own."""

    def __init__(self, place: ServedProject) -> None:
        self._place = place
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)
        self._wake = threading.Condition()
        self._looks: list[str] = []
        self._seen: set[tuple[str, str, int | None]] = set()
        self._tasks: list[Task] = []
        self._idle: list[Task] = []
        self._ended = False
        self.problem: str | None = None

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        with self._wake:
            self._ended = True
            self._wake.notify()
        if self._thread.is_alive():
            self._thread.join(CLOSING_SECONDS)

    def look(self, session: str, view: str, testset: int | None) -> None:
        """Somebody looks at more than the signals: recorded once a session, view and testset."""
        with self._wake:
            if (session, view, testset) in self._seen:
                return
            self._seen.add((session, view, testset))
            self._looks.append(view)
            self._wake.notify()

    def run_soon(self, task: Task) -> None:
        """Do something that takes the project for itself; what fails is tried again."""
        with self._wake:
            if task not in self._tasks:
                self._tasks.append(task)
            self._wake.notify()

    def when_idle(self, task: Task) -> None:
        """Do something every now and then, when there is nothing else to do."""
        self._idle.append(task)

    def _run(self) -> None:
        project: Project | None = None
        while True:
            with self._wake:
                idle = not (self._looks or self._tasks or self._ended)
                if idle:
                    self._wake.wait(IDLE_SECONDS)
                looks, tasks, ended = self._looks, self._tasks, self._ended
                self._looks, self._tasks = [], []
            try:
                project = project or self._place.open()
                _record(project, looks)
                looks = []
                tasks = tasks or ([] if ended else list(self._idle))
                while tasks:
                    tasks[0](project)
                    del tasks[0]
                self.problem = None
            except BaseException as error:  # noqa: BLE001 - polars panics are no Exception
                # The thread goes on, and the owner is told.
                ours = isinstance(error, EaseciError)
                self.problem = str(error).partition("\n")[0] if ours else unexpected(error)
                with self._wake:
                    self._looks = looks + self._looks
                    self._tasks = tasks + [e for e in self._tasks if e not in tasks]
                    self._wake.wait(0 if self._ended else PAUSE_SECONDS)
            if ended:
                return


def _record(project: Project, looks: list[str]) -> None:
    """Record looks, and go on with whatever can go on: a tick that has come, a letter due."""
    with project.exclusive():
        if looks:
            append_looks(project, *looks)
        catch_up(project)
