"""Times as they are recorded: texts in UTC such as ``2026-11-17T12:30:00Z``.

No function here reads the clock.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def time_text(moment: datetime) -> str:
    """A moment as it is recorded."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(text: str) -> datetime:
    """The moment that a recorded time means."""
    return datetime.fromisoformat(text)


def seconds_between(first: str, second: str) -> int:
    """How many whole seconds lie between two recorded times."""
    return int((parse_time(second) - parse_time(first)).total_seconds())


def later(text: str, seconds: int) -> str:
    """The time so many seconds after a recorded time."""
    return time_text(parse_time(text) + timedelta(seconds=seconds))


def readable_time(text: str) -> str:
    """A recorded time as people read it, to the minute, in UTC."""
    return f"{parse_time(text):%Y-%m-%d %H:%M}"
