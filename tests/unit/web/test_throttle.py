"""How often somebody may give a wrong token."""

from __future__ import annotations

from easeci.web.throttle import (
    MOST_FAILURES,
    MOST_FAILURES_OF_ALL,
    WINDOW_SECONDS,
    Throttle,
    WrongToken,
)


def test_a_few_mistakes_cost_nothing() -> None:
    """The first of an address within a minute is known as such."""
    throttle = Throttle()
    found = [throttle.failed("a", now=float(moment)) for moment in range(MOST_FAILURES)]
    assert found == [WrongToken(0, is_first=moment == 0) for moment in range(MOST_FAILURES)]
    assert throttle.failed("b", now=10.0) == WrongToken(0, is_first=True)


def test_many_within_a_minute_must_wait_until_the_minute_is_over() -> None:
    """Those that have to wait are not counted, so that the wait does not get longer."""
    throttle = Throttle()
    for moment in range(MOST_FAILURES):
        throttle.failed("a", now=float(moment))
    for _ in range(100):
        found = throttle.failed("a", now=10.0)
    assert found == WrongToken(int(WINDOW_SECONDS) - 10 + 1, is_first=False)
    assert throttle.failed("a", now=10.0 + found.wait).wait == 0


def test_others_need_not_wait() -> None:
    throttle = Throttle()
    for _ in range(MOST_FAILURES):
        throttle.failed("a", now=0.0)
    assert throttle.failed("a", now=1.0).wait > 0
    assert throttle.failed("b", now=1.0).wait == 0


def test_wrong_tokens_from_everywhere_must_wait_together() -> None:
    throttle = Throttle()
    for number in range(MOST_FAILURES_OF_ALL):
        throttle.failed(f"address {number}", now=0.0)
    assert throttle.failed("another", now=1.0).wait > 0
    assert throttle.failed("another", now=WINDOW_SECONDS + 1) == WrongToken(0, is_first=True)


def test_what_is_over_is_forgotten() -> None:
    throttle = Throttle()
    for number in range(10 * MOST_FAILURES_OF_ALL):
        throttle.failed(f"address {number}", now=float(number))
    assert len(throttle._failures) <= WINDOW_SECONDS
