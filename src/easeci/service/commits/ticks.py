"""Signals on a fixed tick: when a signal comes then says only in which period it was known.

Ticks are whole periods after the testset was added. Times are texts
of the record (:mod:`easeci.times`).
"""

from __future__ import annotations

from datetime import timedelta

from easeci.times import parse_time, time_text


def is_due(start: str, period_seconds: int | None, decided_at: str, now: str) -> bool:
    """Whether a tick has come since a step was decided; always, without a period."""
    if period_seconds is None:
        return True
    return _periods(start, now, period_seconds) > _periods(start, decided_at, period_seconds)


def next_tick(start: str, period_seconds: int, now: str) -> str:
    """The time of the first tick after ``now``."""
    ticks = _periods(start, now, period_seconds) + 1
    return time_text(parse_time(start) + timedelta(seconds=ticks * period_seconds))


def _periods(start: str, at: str, seconds: int) -> int:
    passed = parse_time(at) - parse_time(start)
    return int(passed.total_seconds() // seconds)
