"""The order in which each browser tab sent its messages.

A page that is closed or reloaded says that it leaves. Its earlier requests, and those of the page
that follows, use other connections and can arrive before or after that. So each tab numbers its
messages, and the numbers decide.
"""

from __future__ import annotations

MOST_REMEMBERED = 1000


class MessageOrder:
    """For each holder of leases: the last message so far, and the last one that said it leaves."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[int, int]] = {}

    def is_present(self, holder: str, number: int) -> bool:
        """Note a message. False if the holder said after it that it leaves."""
        sent, left = self._last.get(holder, (0, 0))
        self._remember(holder, max(sent, number), left)
        return number >= left

    def leaves(self, holder: str, number: int) -> bool:
        """Note that a holder leaves. False if it has sent something after that."""
        sent, left = self._last.get(holder, (0, 0))
        self._remember(holder, sent, max(left, number))
        return number >= sent

    def _remember(self, holder: str, sent: int, left: int) -> None:
        self._last.pop(holder, None)
        self._last[holder] = (sent, left)  # at the end: the first one is the oldest
        if len(self._last) > MOST_REMEMBERED:
            del self._last[next(iter(self._last))]
