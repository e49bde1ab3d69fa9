"""When a step is answered, if the script fixes the times of signals."""

from __future__ import annotations

import pytest

from easeci.ledger.ticks import tick_after

START = "2026-11-16T00:00:00Z"
HOUR, DAY = 3600, 24 * 3600


@pytest.mark.parametrize(
    ("charged", "tick"),
    [
        ("2026-11-16T00:00:00Z", "2026-11-17T00:00:00Z"),
        ("2026-11-16T12:00:00Z", "2026-11-17T00:00:00Z"),
        ("2026-11-16T23:30:00Z", "2026-11-17T00:00:00Z"),
        ("2026-11-16T23:30:01Z", "2026-11-18T00:00:00Z"),
        ("2026-12-01T12:00:00Z", "2026-12-02T00:00:00Z"),
    ],
)
def test_a_step_is_answered_at_the_first_tick_after_its_program_surely_ended(
    charged: str, tick: str
) -> None:
    """The time limit is half an hour here, and a period is a day."""
    assert tick_after(START, DAY, charged, HOUR // 2) == tick


def test_a_time_limit_longer_than_a_period_takes_several_periods() -> None:
    assert tick_after(START, HOUR, "2026-11-16T00:30:00Z", 5 * HOUR) == "2026-11-16T06:00:00Z"


def test_a_clock_that_was_set_back_gives_the_first_tick() -> None:
    assert tick_after(START, DAY, "2026-11-10T00:00:00Z", HOUR) == "2026-11-17T00:00:00Z"
