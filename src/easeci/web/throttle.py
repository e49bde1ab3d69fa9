"""How often somebody may try to sign in."""

from __future__ import annotations

import threading
import time
from collections import deque

WINDOW_SECONDS = 60.0
MOST_FAILURES = 10
MOST_FAILURES_OF_ALL = 200


class Throttle:
    """Failures of the last minute, with their addresses; successes cost nothing.

    Who has to wait is not let try, so there are never more than of all are allowed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures: deque[tuple[float, str]] = deque(maxlen=MOST_FAILURES_OF_ALL)

    def wait(self, address: str, now: float | None = None) -> int:
        """For how many seconds this address has to wait; 0 if it need not."""
        moment = time.monotonic() if now is None else now
        with self._lock:
            while self._failures and self._failures[0][0] <= moment - WINDOW_SECONDS:
                self._failures.popleft()
            everybodys = [at for at, _ in self._failures]
            its_own = [at for at, known in self._failures if known == address]
        return max(
            _wait(everybodys, MOST_FAILURES_OF_ALL, moment), _wait(its_own, MOST_FAILURES, moment)
        )

    def failed(self, address: str, now: float | None = None) -> None:
        moment = time.monotonic() if now is None else now
        with self._lock:
            self._failures.append((moment, address))


def _wait(times: list[float], most: int, now: float) -> int:
    """Until there are fewer than ``most`` in the window."""
    return 0 if len(times) < most else int(times[-most] + WINDOW_SECONDS - now) + 1
