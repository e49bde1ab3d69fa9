"""How long labels take: the hours of a labeller, in numbers and as text."""

from __future__ import annotations

import math

SECONDS_PER_LABEL = (2, 5)
"""The paper's labelling speeds: the best case, and a well-designed interface."""


def hours(labels: int, seconds: int) -> float:
    """The hours that so many labels take at so many seconds each."""
    return labels * seconds / 3600.0


def rough_hours(value: float) -> str:
    """Hours with as many digits as a forecast deserves: 0.2, 120, 1.5M."""
    if value >= 1e6:
        return f"{value / 1e6:,.1f}M"
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def labelling_time(labels: int) -> str:
    """How long so many labels take a labeller at 5 s each: "5.0 hours at 5 s"."""
    seconds = SECONDS_PER_LABEL[-1]
    time = hours(labels, seconds)
    words = f"{rough_hours(time)} hours" if time >= 1.0 else f"{math.ceil(60.0 * time)} min"
    return f"{words} at {seconds} s"
