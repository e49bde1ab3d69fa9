"""Notes: what became of a form, kept for the page that follows.

Whoever sends a form is led on to a page (303), so that loading it again sends nothing again. What
is to be said there waits here and nowhere else: an address or a cookie could be forged or passed
on. A note is shown once, to the session whose form it answers.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

MOST_KEPT = 200
"""Of all sessions together; the oldest are forgotten, since nobody came for them."""


@dataclass(frozen=True)
class FlashMessage:
    """What became of what was asked for."""

    message: str
    more: tuple[str, ...] = ()
    bad: bool = False


class FlashMessages:
    """By session and page. A page that somebody has open elsewhere takes nobody's note away."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: list[tuple[str, str, FlashMessage]] = []

    def leave(self, session: str, path: str, note: FlashMessage) -> None:
        with self._lock:
            self._kept = [*self._kept, (session, path, note)][-MOST_KEPT:]

    def take(self, session: str, path: str) -> list[FlashMessage]:
        """What was left for this session on this page, the first one first; gone afterwards."""
        with self._lock:
            taken = [note for *whose, note in self._kept if whose == [session, path]]
            self._kept = [kept for kept in self._kept if kept[:2] != (session, path)]
        return taken
