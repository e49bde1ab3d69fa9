"""How often somebody may try to sign in."""

from __future__ import annotations

import threading
import time
from collections import deque

WINDOW_SECONDS = 60.0
MOST_FAILURES = 10
MOST_FAILURES_OF_ALL = 200
ALL = "*"


class Throttle:
    """Failures of the last minute, by address and of all; successes cost nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures: dict[str, deque[float]] = {}

    def wait(self, address: str, now: float | None = None) -> int:
        """For how many seconds this address has to wait; 0 if it need not."""
        moment = time.monotonic() if now is None else now
        with self._lock:
            waits = [
                self._wait(address, MOST_FAILURES, moment),
                self._wait(ALL, MOST_FAILURES_OF_ALL, moment),
            ]
        return max(waits)

    def failed(self, address: str, now: float | None = None) -> None:
        moment = time.monotonic() if now is None else now
        with self._lock:
            for key in (address, ALL):
                self._failures.setdefault(key, deque()).append(moment)

    def _wait(self, key: str, most: int, now: float) -> int:
        times = self._failures.get(key)
        if times is None:
            return 0
        while times and times[0] <= now - WINDOW_SECONDS:
            times.popleft()
        if not times:
            del self._failures[key]
            return 0
        if len(times) < most:
            return 0
        return int(times[len(times) - most] + WINDOW_SECONDS - now) + 1
