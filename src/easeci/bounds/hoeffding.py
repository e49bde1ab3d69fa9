"""Hoeffding's inequality."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from easeci.bounds.bound import require_level, round_up


@dataclass(frozen=True)
class Hoeffding:
    """P(mean − E[mean] > ε) ≤ sides · exp(−2 N ε² / r²).

    Claim: for N independent scores in an interval of length ``value_range`` = r, the mean exceeds
    its expectation by more than ε with at most this probability (``sides=1``), or is further than
    ε from it (``sides=2``).
    Assumptions: independence and boundedness; nothing about the variance.
    Sides: one or two, as ``sides`` says.
    Rounding: sample sizes up; tails and tolerances only by the arithmetic.
    Source: W. Hoeffding, Probability inequalities for sums of bounded random variables, 1963,
    Theorem 2.
    """

    value_range: float = 1.0
    sides: Literal[1, 2] = 1

    def __post_init__(self) -> None:
        if not self.value_range > 0.0:
            raise ValueError(f"the range must be positive, got {self.value_range}")

    def tail(self, sample_size: int, tolerance: float) -> float:
        """ln of the bound on P(deviation > tolerance); never above 0."""
        exponent = 2.0 * sample_size * (tolerance / self.value_range) ** 2
        return min(0.0, math.log(self.sides) - exponent)

    def sample_size(self, tolerance: float, log_delta: float) -> int:
        """The smallest sample size with ``tail(…, tolerance) <= log_delta``, rounded up."""
        require_level(log_delta)
        exponent = math.log(self.sides) - log_delta
        return round_up(exponent * (self.value_range / tolerance) ** 2 / 2.0)

    def tolerance(self, sample_size: int, log_delta: float) -> float:
        """The smallest tolerance with ``tail(sample_size, …) <= log_delta``."""
        require_level(log_delta)
        exponent = math.log(self.sides) - log_delta
        return self.value_range * math.sqrt(exponent / (2.0 * sample_size))
