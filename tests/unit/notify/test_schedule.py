"""When a message is tried again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from easeci.notify.schedule import LONGEST_WAIT, is_due, next_attempt, wait_after
from tests.cases import each_case

LAST = datetime(2024, 2, 29, 12, 30, tzinfo=UTC)


def test_waits_double_up_to_six_hours_and_never_end() -> None:
    minutes = [wait_after(attempts) / timedelta(minutes=1) for attempts in range(12)]
    assert minutes == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]
    assert wait_after(10**9) == LONGEST_WAIT


def test_the_first_attempt_is_due_at_once() -> None:
    assert is_due(0, None, LAST)


@each_case("attempts", [1, 2, 5, 100])
def test_an_attempt_is_due_when_its_wait_is_over_and_not_before(attempts: int) -> None:
    due = next_attempt(attempts, LAST)
    assert due == LAST + wait_after(attempts)
    assert is_due(attempts, LAST, due)
    assert not is_due(attempts, LAST, due - timedelta(seconds=1))


def test_a_clock_that_was_put_back_holds_up_no_mail() -> None:
    assert is_due(3, LAST, LAST - timedelta(days=365))
