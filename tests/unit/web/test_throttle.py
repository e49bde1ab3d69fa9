"""How often somebody may guess a token."""

from __future__ import annotations

from easeci.web.throttle import (
    MOST_FAILURES,
    MOST_FAILURES_OF_ALL,
    WINDOW_SECONDS,
    Throttle,
)


def test_a_few_mistakes_cost_nothing() -> None:
    throttle = Throttle()
    for moment in range(MOST_FAILURES - 1):
        throttle.failed("a", now=float(moment))
    assert throttle.wait("a", now=10.0) == 0


def test_many_within_a_minute_must_wait_until_the_minute_is_over() -> None:
    throttle = Throttle()
    for moment in range(MOST_FAILURES):
        throttle.failed("a", now=float(moment))
    wait = throttle.wait("a", now=10.0)
    assert wait == WINDOW_SECONDS - 10 + 1
    assert throttle.wait("a", now=10.0 + wait) == 0


def test_others_need_not_wait() -> None:
    throttle = Throttle()
    for _ in range(MOST_FAILURES):
        throttle.failed("a", now=0.0)
    assert throttle.wait("a", now=1.0) > 0
    assert throttle.wait("b", now=1.0) == 0


def test_guesses_from_everywhere_must_wait_together() -> None:
    throttle = Throttle()
    for number in range(MOST_FAILURES_OF_ALL):
        throttle.failed(f"address {number}", now=0.0)
    assert throttle.wait("another", now=1.0) > 0
    assert throttle.wait("another", now=WINDOW_SECONDS + 1) == 0


def test_what_is_over_is_forgotten() -> None:
    throttle = Throttle()
    for number in range(10 * MOST_FAILURES_OF_ALL):
        throttle.failed(f"address {number}", now=float(number))
    throttle.wait("another", now=10.0 * MOST_FAILURES_OF_ALL)
    assert len(throttle._failures) < WINDOW_SECONDS
