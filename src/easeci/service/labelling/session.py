"""A label session: the only owner of open questions, from the first labeller to the last.

The session opens the questions when somebody labels, records answers when a verdict is known with
them, and closes the questions when everybody has left. A server has one session for all its
labellers, and its background thread calls :meth:`LabelSession.tend` now and then. A terminal has
one of its own. These rules hold:

- No two labellers get the same example. Each question belongs to one holder, a browser tab or a
  terminal, and only until its lease ends. Only one process can open the questions of a testset.
- An answer is on the disk before it is acknowledged. It is recorded, and so consulted, only when a
  verdict is known with it, or the session is closed. Until then its labeller can take it back.
  If the process is killed, the next session finds the answers in the journal.
- One lock guards everything, and nobody waits for the project while holding it: a build can hold
  the project for half an hour, and labellers go on meanwhile. So a method that records takes the
  project first and the lock second.
- What was answered is recorded before the owner's next action (:meth:`LabelSession.record`).
- Nobody gets far ahead of a slow labeller: only labels that the open step wants, counted from its
  first missing one, are asked for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from easeci.errors import BusyError
from easeci.ledger.events import LABELLING, Looked
from easeci.service.commits.advance import catch_up
from easeci.service.labelling.leases import Leases
from easeci.service.labelling.message_order import MessageOrder
from easeci.service.labelling.questions import OpenQuestions
from easeci.service.project import Project

LEASE_SECONDS = 60.0
"""How long a silent holder keeps its questions."""
REST_SECONDS = 300.0
"""After this time without a request the questions are closed, so that a terminal can have them."""
LEFT_SECONDS = 10.0
"""The same if no tab holds a question: long enough for a reload."""


@dataclass(frozen=True)
class Flushed:
    """What recording led to: submissions that have their signal now, and unusable answers."""

    answered: tuple[int, ...] = ()
    problems: tuple[str, ...] = ()


class LabelSession:
    """The label session of a project. Every method can be called from any thread.

    ``project`` belongs to the session: no other thread may use it. Methods that record get another
    copy from their caller. With ``shared``, leases survive a killed server.
    """

    def __init__(
        self,
        project: Project,
        *,
        shared: bool = False,
        clock: Callable[[], float] = time.monotonic,
        lease: float = LEASE_SECONDS,
    ) -> None:
        self._project, self._clock, self._lease = project, clock, lease
        self._lock = threading.Lock()
        self._shared, self._order = shared, MessageOrder()
        self._looks: dict[tuple[str, str], bool] = {}
        self._questions: OpenQuestions | None = None
        self._last_used = clock()

    # -- for labellers

    @contextmanager
    def open(self) -> Iterator[OpenQuestions]:
        """The open questions, up to date; nobody else changes them until the block ends.

        BusyError if another process has them.
        """
        with self._lock:
            try:
                yield self._refreshed()
            finally:
                self._last_used = self._clock()

    def leave(self, holder: str, message: int) -> None:
        """End a holder's lease, unless it sent something after this message.

        Does nothing if the questions are closed.
        """
        with self._lock:
            if self._order.leaves(holder, message) and self._questions is not None:
                self._questions.leave(holder)

    def file(self, holder: str, ticket: str, column: str) -> Path | None:
        """The file that a column of a question names, checked against its recorded digest.

        None if it names no file, or the holder was not shown this question.
        """
        with self.open() as questions:
            find = questions.file(holder, ticket, column)
        return None if find is None else find()  # without the lock: a large file takes long

    # -- for the owner's pages

    @property
    def wanted(self) -> int | None:
        """How many labels are asked for now; None if nobody labels here."""
        with self._lock:
            try:
                return None if self._questions is None else self._refreshed().wanted
            except BusyError:  # the next testset is labelled elsewhere
                return None

    @property
    def unrecorded(self) -> int:
        """How many answers are on the disk and not recorded yet."""
        with self._lock:
            return 0 if self._questions is None else self._questions.unrecorded

    # -- for threads and commands that may wait for the project

    @property
    def has_work(self) -> bool:
        """Whether :meth:`flush` has something to record."""
        with self._lock:
            waits = self._questions is not None and self._questions.awaiting_flush
            return waits or not all(self._looks.values())

    def tend(self, project: Project) -> None:
        """Record what is due, and close the questions if everybody has left."""
        if self.has_work:
            self.flush(project)
        with self._lock:
            resting = self._is_resting
        if resting:
            with project.exclusive():
                with self._lock:
                    if self._is_resting:  # nobody has come back meanwhile
                        self._write(project, everything=True)
                        self._shut()
                catch_up(project)

    def flush(self, project: Project, waiting: Callable[[], None] | None = None) -> Flushed:
        """Record who was shown examples, and the answers if a verdict is known with them.

        ``waiting`` is called once if another command acts on the project now.
        """
        return self._record(project, waiting, everything=False)

    def record(self, project: Project) -> Flushed:
        """Record all answers, before an action that must not miss them."""
        return self._record(project, None, everything=True)

    def close(self, project: Project, waiting: Callable[[], None] | None = None) -> Flushed:
        """Record all answers, and leave the journal to the next session."""
        try:
            return self._record(project, waiting, everything=True)
        finally:
            with self._lock:
                self._shut()

    def _record(
        self, project: Project, waiting: Callable[[], None] | None, *, everything: bool
    ) -> Flushed:
        with project.exclusive(waiting):
            with self._lock:
                problems = self._write(project, everything=everything)
            return Flushed(catch_up(project), problems)  # labellers go on: this can take long

    # -- with the lock held

    def _refreshed(self) -> OpenQuestions:
        """The open questions of the latest testset, with all that other commands recorded."""
        self._project.refresh()
        before = self._questions
        if before is None or before.are_over:
            leases = Leases(self._clock, self._lease)
            self._questions = OpenQuestions(
                self._project, leases, self._order, self._looks, shared=self._shared
            )
            if before is not None:
                before.close()
            return self._questions
        before.refresh()
        return before

    def _write(self, project: Project, *, everything: bool) -> tuple[str, ...]:
        """Record looks and answers; the caller acts alone on ``project``."""
        new = {by for (_, by), is_recorded in self._looks.items() if not is_recorded}
        if new:
            project.append(*(Looked(LABELLING, by) for by in sorted(new)))
            self._looks.update(dict.fromkeys(self._looks, True))
        if self._questions is None or not (everything or self._questions.awaiting_flush):
            return ()
        return self._questions.record(project)

    def _shut(self) -> None:
        if self._questions is not None:
            self._questions.close()
        self._questions = None
        self._looks.clear()

    @property
    def _is_resting(self) -> bool:
        questions = self._questions
        if questions is None:
            return False
        rest = REST_SECONDS if questions.are_held else LEFT_SECONDS
        return self._clock() - self._last_used > rest
