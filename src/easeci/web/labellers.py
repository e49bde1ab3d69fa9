"""Those who label: a desk for them while somebody is there, and what their answers set off."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from easeci.errors import BusyError
from easeci.service.labelling.session import Desk
from easeci.service.project import Project
from easeci.web.background import Keeper
from easeci.web.message_order import Turns

if TYPE_CHECKING:
    from easeci.web.site import Place

PATIENCE_SECONDS = 5.0
REST_SECONDS = 300.0
"""How long nobody must have labelled until the journal is left to others, such as a terminal."""
LEFT_SECONDS = 10.0
"""The same if every page was closed: long enough for a reload."""


class Labellers:
    """Opens the desk when somebody comes, and closes it when everybody has gone."""

    def __init__(self, place: Place, keeper: Keeper) -> None:
        self._place, self._keeper = place, keeper
        self._turns = Turns()
        self._lock = threading.Lock()
        self._closed = threading.Condition(self._lock)
        self._closing = False
        self._desk: Desk | None = None
        self._users, self._last_used = 0, time.monotonic()
        keeper.when_idle(self._rest)

    @contextmanager
    def at_desk(self) -> Iterator[Desk]:
        """The desk, for one request. What follows from an answer is left to the keeper."""
        with self._lock:
            if not self._closed.wait_for(lambda: not self._closing, PATIENCE_SECONDS):
                raise BusyError(
                    "what was answered so far is being recorded", hint="It goes on by itself."
                )
            if self._desk is None:
                self._desk = Desk.open(self._place.open(), shared=True)
            desk = self._desk
            self._users += 1
        try:
            yield desk
        finally:
            with self._lock:
                self._users -= 1
                self._last_used = time.monotonic()
        if desk.look_due:
            self._keeper.run_soon(desk.record_look)
        if desk.settled:
            self._keeper.run_soon(self._settle)

    def speaks(self, seat: str, turn: int) -> bool:
        """Whether somebody sits there still, and did not leave after saying this."""
        return self._turns.speaks(seat, turn)

    def leave(self, seat: str, turn: int) -> None:
        """A tab is closed. Where nobody labels, nobody has to be told."""
        with self._lock:
            desk = self._desk
        if self._turns.leaves(seat, turn) and desk is not None:
            desk.leave(seat)

    def wanted(self) -> int | None:
        """How many labels are asked for just now; None if nobody is labelling."""
        with self._lock:
            desk = self._desk
        try:
            return None if desk is None else desk.wanted
        except BusyError:  # it has just been closed, or the next testset is labelled elsewhere
            return None

    def given(self) -> int:
        """How many answers are on the disk and not recorded yet."""
        with self._lock:
            return 0 if self._desk is None else self._desk.unrecorded

    def record(self, project: Project) -> None:
        """Record whatever was answered, so that nothing is missing from what is done next."""
        with self._lock:
            desk = self._desk
        if desk is not None:
            desk.record(project)

    def close(self) -> None:
        self._keeper.run_soon(self._close)

    def _settle(self, project: Project) -> None:
        desk = self._desk
        if desk is not None and desk.settled:
            desk.settle(project)

    def _rest(self, project: Project) -> None:
        desk = self._desk
        rest = REST_SECONDS if desk is not None and desk.occupied else LEFT_SECONDS
        if time.monotonic() - self._last_used > rest:
            self._close(project)

    def _close(self, project: Project) -> None:
        with self._lock:
            if self._desk is None or self._users:
                return
            desk, self._desk, self._closing = self._desk, None, True
        try:
            desk.close(project)
        finally:
            with self._lock:
                self._closing = False
                self._closed.notify_all()
