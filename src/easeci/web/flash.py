"""Flash messages: what became of a form, shown once on the page that follows.

A form leads on to a page with a redirect (303), so that a reload does not send it again. The
message for that page waits here: an address or a cookie could be forged or passed on.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

MOST_KEPT = 200
"""For all sessions together; the oldest are dropped, because nobody came for them."""


@dataclass(frozen=True)
class FlashMessage:
    """A message with further lines. ``bad`` means that the form was refused."""

    message: str
    more: tuple[str, ...] = ()
    bad: bool = False


class FlashMessages:
    """Messages by session and page, so that no other open page takes them away."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: list[tuple[str, str, FlashMessage]] = []

    def add(self, session: str, path: str, message: FlashMessage) -> None:
        """Keep a message until the session loads the page."""
        with self._lock:
            self._kept = [*self._kept, (session, path, message)][-MOST_KEPT:]

    def take(self, session: str, path: str) -> list[FlashMessage]:
        """Remove and return the messages for a session and a page, the oldest first."""
        with self._lock:
            taken = [message for *whose, message in self._kept if whose == [session, path]]
            self._kept = [kept for kept in self._kept if kept[:2] != (session, path)]
        return taken
