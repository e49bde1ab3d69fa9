"""The functions that every bound has, and the one place that rounds sample sizes."""

from __future__ import annotations

import math
from typing import Protocol


class Bound(Protocol):
    """A bound on the deviation of the mean of i.i.d. scores from its expectation."""

    def tail(self, sample_size: int, tolerance: float) -> float:
        """ln of the bound on P(deviation > tolerance); never above 0."""
        ...

    def sample_size(self, tolerance: float, log_delta: float) -> int:
        """The smallest sample size with ``tail(…, tolerance) <= log_delta``, rounded up."""
        ...

    def tolerance(self, sample_size: int, log_delta: float) -> float:
        """The smallest tolerance with ``tail(sample_size, …) <= log_delta``."""
        ...


ROUNDING_SLACK = 1e-12
"""An excess below this relative size is rounding noise of the arithmetic."""


def round_up(examples: float) -> int:
    """Round a real number of examples up to a whole number.

    Always up, except for an excess below ``ROUNDING_SLACK`` (relative): that is noise of
    floating-point arithmetic and needs no further example.
    """
    return max(1, math.ceil(examples * (1.0 - ROUNDING_SLACK)))


def require_level(log_delta: float) -> None:
    """Refuse levels that are not probabilities below 1."""
    if not log_delta < 0.0:
        raise ValueError(f"ln(delta) must be negative, got {log_delta}")
