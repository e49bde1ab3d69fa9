"""When a message is tried again. Pure: the caller gives the time.

After 1, 2, 4, … minutes, then every six hours, without an end: a server that is down for a week
loses no message. A message that a server refused is kept and shown, and tried again only by hand.
"""

from __future__ import annotations

from datetime import datetime, timedelta

FIRST_WAIT = timedelta(minutes=1)
LONGEST_WAIT = timedelta(hours=6)


def wait_after(attempts: int) -> timedelta:
    """How long to wait after so many attempts."""
    if attempts <= 0:
        return timedelta(0)
    doublings = min(attempts - 1, 32)  # beyond that a timedelta overflows
    return min(FIRST_WAIT * (1 << doublings), LONGEST_WAIT)


def next_attempt(attempts: int, last: datetime) -> datetime:
    """When the next attempt is due, after so many, the last of them at ``last``."""
    return last + wait_after(attempts)


def is_due(attempts: int, last: datetime | None, now: datetime) -> bool:
    """Whether to try now. After a clock was set back (``last`` is in the future) it is due too."""
    if attempts <= 0 or last is None:
        return True
    return now < last or now >= next_attempt(attempts, last)
