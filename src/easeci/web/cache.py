"""Results that cost much time: kept for the next request, and computed only if still wanted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

MOST_CACHED = 200
Made = TypeVar("Made")


class Cache:
    """The results that were used last, such as charts, by key."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._results: dict[tuple[object, ...], tuple[Any]] = {}

    def get(self, key: tuple[object, ...], make: Callable[[], Made]) -> Made:
        """The result for a key, made if it is not there.

        No request waits for another one: two at the same time may both make it.
        """
        with self._lock:
            found = self._results.pop(key, None)
        made: Made = make() if found is None else found[0]
        with self._lock:
            self._results[key] = (made,)  # at the end: the first one was used longest ago
            while len(self._results) > MOST_CACHED:
                del self._results[next(iter(self._results))]
        return made


class NewestOnly:
    """Work for one request at a time, and of each visitor only for the newest request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: dict[str, object] = {}

    def run(self, session: str, make: Callable[[], Made]) -> Made | None:
        """The result of the work; None if the same session has asked for other work meanwhile."""
        mine = self._newest[session] = object()
        with self._lock:
            if self._newest.get(session) is not mine:
                return None
            try:
                return make()
            finally:
                if self._newest.get(session) is mine:
                    del self._newest[session]
