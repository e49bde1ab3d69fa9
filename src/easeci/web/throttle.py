"""A limit on how often somebody may give a wrong token.

A token has 256 random bits, so nobody guesses one, however often they try. The limit keeps the
record of refused sign-ins short and tells a program that something is wrong. It must never keep out
somebody who has a token: everybody in an office, or behind a proxy, may share one address with an
attacker. So the token is looked up first, and only wrong ones are counted.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass

WINDOW_SECONDS = 60.0
MOST_FAILURES = 10
MOST_FAILURES_OF_ALL = 200


@dataclass(frozen=True)
class WrongToken:
    """What follows from a wrong token: seconds to wait, 0 if there were few so far.

    ``is_first``: the first one of its address within the last minute.
    """

    wait: int
    is_first: bool


class Throttle:
    """Wrong tokens of the last minute, by address."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures: deque[tuple[float, str]] = deque(maxlen=MOST_FAILURES_OF_ALL)

    def failed(self, address: str, now: float | None = None) -> WrongToken:
        """Note a wrong token. One that has to wait is not counted again."""
        moment = time.monotonic() if now is None else now
        with self._lock:
            while self._failures and self._failures[0][0] <= moment - WINDOW_SECONDS:
                self._failures.popleft()
            all_times = [at for at, _ in self._failures]
            own_times = [at for at, known in self._failures if known == address]
            wait = max(
                _wait(all_times, MOST_FAILURES_OF_ALL, moment),
                _wait(own_times, MOST_FAILURES, moment),
            )
            if wait:
                return WrongToken(wait, is_first=False)
            self._failures.append((moment, address))
        return WrongToken(0, is_first=not own_times)


def _wait(times: list[float], most: int, now: float) -> int:
    """Seconds until fewer than ``most`` of these times are in the window."""
    return 0 if len(times) < most else int(times[-most] + WINDOW_SECONDS - now) + 1
