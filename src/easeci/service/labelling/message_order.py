"""The order in which tabs speak, which need not be the one in which the server hears them.

A page that is closed or loaded again says that it leaves. What it had asked before that, and what
the page after it asks, come by other connections, and may come later or earlier. So a tab counts
what it says.
"""

from __future__ import annotations

import threading

MOST_REMEMBERED = 1000


class MessageOrder:
    """What each tab said last, and when it last said that it leaves."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._heard: dict[str, tuple[int, int]] = {}

    def speaks(self, seat: str, turn: int) -> bool:
        """Whether somebody sits there: not if the seat was left after this was said."""
        with self._lock:
            spoken, left = self._heard.get(seat, (0, 0))
            self._remember(seat, max(spoken, turn), left)
            return turn >= left

    def leaves(self, seat: str, turn: int) -> bool:
        """Whether a seat is left by this: not if somebody there has spoken since."""
        with self._lock:
            spoken, left = self._heard.get(seat, (0, 0))
            self._remember(seat, spoken, max(left, turn))
            return turn >= spoken

    def _remember(self, seat: str, spoken: int, left: int) -> None:
        self._heard.pop(seat, None)
        self._heard[seat] = (spoken, left)  # the last one now
        if len(self._heard) > MOST_REMEMBERED:
            del self._heard[next(iter(self._heard))]
