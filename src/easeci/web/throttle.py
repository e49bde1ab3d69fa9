"""A limit on how often somebody may try to sign in."""

from __future__ import annotations

import threading
import time
from collections import deque

WINDOW_SECONDS = 60.0
MOST_FAILURES = 10
MOST_FAILURES_OF_ALL = 200


class Throttle:
    """Failed attempts of the last minute, by address; successes do not count.

    Throttled addresses cannot try, so the limit for all addresses is never exceeded.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures: deque[tuple[float, str]] = deque(maxlen=MOST_FAILURES_OF_ALL)

    def wait(self, address: str, now: float | None = None) -> int:
        """How many seconds this address has to wait; 0 if it may try now."""
        moment = time.monotonic() if now is None else now
        with self._lock:
            while self._failures and self._failures[0][0] <= moment - WINDOW_SECONDS:
                self._failures.popleft()
            all_times = [at for at, _ in self._failures]
            own_times = [at for at, known in self._failures if known == address]
        return max(
            _wait(all_times, MOST_FAILURES_OF_ALL, moment), _wait(own_times, MOST_FAILURES, moment)
        )

    def failed(self, address: str, now: float | None = None) -> None:
        """Note a failed attempt."""
        moment = time.monotonic() if now is None else now
        with self._lock:
            self._failures.append((moment, address))


def _wait(times: list[float], most: int, now: float) -> int:
    """Seconds until fewer than ``most`` of these times are in the window."""
    return 0 if len(times) < most else int(times[-most] + WINDOW_SECONDS - now) + 1
