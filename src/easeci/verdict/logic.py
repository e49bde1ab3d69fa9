"""Intervals and three-valued logic, in exact rational arithmetic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from easeci.script import Comparison, Mode


class Result(StrEnum):
    """Whether a clause, or the whole condition, was shown to be true or false."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


@dataclass(frozen=True)
class Interval:
    """All values from ``low`` to ``high``."""

    low: Fraction
    high: Fraction

    @staticmethod
    def around(centre: Fraction, tolerance: Fraction) -> Interval:
        """The interval centre ± tolerance."""
        return Interval(centre - tolerance, centre + tolerance)

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def hull(self, other: Interval) -> Interval:
        """The smallest interval that contains both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def compare(self, comparison: Comparison, threshold: Fraction) -> Result:
        """True if all values meet the comparison, False if none does, otherwise Unknown."""
        if comparison is Comparison.LESS:
            return (-self).compare(Comparison.GREATER, -threshold)
        if self.low > threshold:
            return Result.TRUE
        if self.high < threshold:
            return Result.FALSE
        return Result.UNKNOWN


_ORDER = (Result.FALSE, Result.UNKNOWN, Result.TRUE)


def worst(results: Iterable[Result]) -> Result:
    """False if any result is False, then Unknown, then True."""
    return min(results, key=_ORDER.index)


def best(results: Iterable[Result]) -> Result:
    """True if any result is True, then Unknown, then False."""
    return max(results, key=_ORDER.index)


def conjunction(results: Iterable[Result]) -> Result:
    """Kleene's strong conjunction: the worst of the results."""
    return worst(results)


def passes(result: Result, mode: Mode) -> bool:
    """Whether a result passes: Unknown fails in fp-free mode and passes in fn-free mode."""
    if result is Result.UNKNOWN:
        return mode is Mode.FN_FREE
    return result is Result.TRUE
