"""Signals at fixed times: when a signal comes then tells nothing of how long its test took.

Ticks are whole periods after the testset was added. A step is answered at the first tick that is at
least the program's time limit after its charge: by then its program has ended, well or badly. A
step that is not decided at its tick is answered there as Unknown. Times are texts of the record
(:mod:`easeci.times`).
"""

from __future__ import annotations

from easeci.ledger.testset import Step, Testset
from easeci.times import later, seconds_between


def tick_of(testset: Testset, step: Step) -> str | None:
    """When a step is answered; None if the script fixes no times."""
    period = testset.script.disclose_seconds
    if period is None:
        return None
    return tick_after(testset.at, period, step.charged_at, testset.script.longest_seconds)


def tick_after(start: str, period_seconds: int, charged_at: str, longest_seconds: int) -> str:
    """The first tick that is at least so many seconds after a charge."""
    ended = seconds_between(start, charged_at) + longest_seconds
    ticks = max(-(-ended // period_seconds), 1)
    return later(start, ticks * period_seconds)
