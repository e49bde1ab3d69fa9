"""Those who label: a desk for them while somebody is there, and what their answers set off."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from easeci.errors import BusyError
from easeci.service.labelling.message_order import MessageOrder
from easeci.service.labelling.session import LabelSession
from easeci.service.project import Project
from easeci.web.background import BackgroundThread

if TYPE_CHECKING:
    from easeci.web.site import ServedProject

PATIENCE_SECONDS = 5.0
REST_SECONDS = 300.0
"""How long nobody must have labelled until the journal is left to others, such as a terminal."""
LEFT_SECONDS = 10.0
"""The same if every page was closed: long enough for a reload."""


class Labellers:
    """Opens the desk when somebody comes, and closes it when everybody has gone."""

    def __init__(self, place: ServedProject, background: BackgroundThread) -> None:
        self._place, self._background = place, background
        self._order = MessageOrder()
        self._lock = threading.Lock()
        self._closed = threading.Condition(self._lock)
        self._closing = False
        self._session: LabelSession | None = None
        self._users, self._last_used = 0, time.monotonic()
        background.when_idle(self._rest)

    @contextmanager
    def labelling_session(self) -> Iterator[LabelSession]:
        """The desk, for one request. What follows from an answer is left to the keeper."""
        with self._lock:
            if not self._closed.wait_for(lambda: not self._closing, PATIENCE_SECONDS):
                raise BusyError(
                    "what was answered so far is being recorded", hint="It goes on by itself."
                )
            if self._session is None:
                self._session = LabelSession.open(self._place.open(), shared=True)
            labelling = self._session
            self._users += 1
        try:
            yield labelling
        finally:
            with self._lock:
                self._users -= 1
                self._last_used = time.monotonic()
        if labelling.look_due:
            self._background.run_soon(labelling.record_look)
        if labelling.awaiting_flush:
            self._background.run_soon(self._settle)

    def speaks(self, seat: str, turn: int) -> bool:
        """Whether somebody sits there still, and did not leave after saying this."""
        return self._order.speaks(seat, turn)

    def leave(self, seat: str, turn: int) -> None:
        """A tab is closed. Where nobody labels, nobody has to be told."""
        with self._lock:
            labelling = self._session
        if self._order.leaves(seat, turn) and labelling is not None:
            labelling.leave(seat)

    def wanted(self) -> int | None:
        """How many labels are asked for just now; None if nobody is labelling."""
        with self._lock:
            labelling = self._session
        try:
            return None if labelling is None else labelling.wanted
        except BusyError:  # it has just been closed, or the next testset is labelled elsewhere
            return None

    def given(self) -> int:
        """How many answers are on the disk and not recorded yet."""
        with self._lock:
            return 0 if self._session is None else self._session.unrecorded

    def record(self, project: Project) -> None:
        """Record whatever was answered, so that nothing is missing from what is done next."""
        with self._lock:
            labelling = self._session
        if labelling is not None:
            labelling.record(project)

    def close(self) -> None:
        self._background.run_soon(self._close)

    def _settle(self, project: Project) -> None:
        labelling = self._session
        if labelling is not None and labelling.awaiting_flush:
            labelling.flush(project)

    def _rest(self, project: Project) -> None:
        labelling = self._session
        rest = REST_SECONDS if labelling is not None and labelling.occupied else LEFT_SECONDS
        if time.monotonic() - self._last_used > rest:
            self._close(project)

    def _close(self, project: Project) -> None:
        with self._lock:
            if self._session is None or self._users:
                return
            labelling, self._session, self._closing = self._session, None, True
        try:
            labelling.close(project)
        finally:
            with self._lock:
                self._closing = False
                self._closed.notify_all()
