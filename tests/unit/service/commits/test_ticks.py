"""Signals on a fixed tick."""

from __future__ import annotations

from easeci.service.commits.ticks import is_due, next_tick

START = "2026-11-16T00:00:00Z"
DAY = 86_400


def test_without_a_period_everything_is_due() -> None:
    assert is_due(START, None, START, START)


def test_nothing_is_due_before_the_next_tick() -> None:
    decided = "2026-11-17T06:00:00Z"
    assert not is_due(START, DAY, decided, decided)
    assert not is_due(START, DAY, decided, "2026-11-17T23:59:59Z")
    assert is_due(START, DAY, decided, "2026-11-18T00:00:00Z")
    assert is_due(START, DAY, decided, "2026-12-01T12:00:00Z")


def test_two_decisions_of_one_period_are_due_at_the_same_time() -> None:
    """So that the time of a signal does not say how long it took."""
    early, late = "2026-11-17T00:00:01Z", "2026-11-17T23:59:58Z"
    for now in ("2026-11-17T23:59:59Z", "2026-11-18T00:00:00Z", "2026-11-18T00:00:01Z"):
        assert is_due(START, DAY, early, now) == is_due(START, DAY, late, now)


def test_the_next_tick_is_whole_periods_after_the_start() -> None:
    assert next_tick(START, DAY, START) == "2026-11-17T00:00:00Z"
    assert next_tick(START, 3600, "2026-11-16T05:30:00Z") == "2026-11-16T06:00:00Z"


def test_a_clock_that_goes_back_discloses_nothing_early() -> None:
    assert not is_due(START, DAY, "2026-11-17T06:00:00Z", "2026-11-15T00:00:00Z")
