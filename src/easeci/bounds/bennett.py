"""Bennett's inequality, for scores that are rarely far from zero."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from easeci.bounds.bound import require_level, round_up


def rate(u: float) -> float:
    """Bennett's h(u) = (1 + u) ln(1 + u) − u, accurate for small u too."""
    if u < 1e-2:
        # Alternating series Σ (−u)^k / (k (k−1)), k ≥ 2: the closed form loses digits here.
        term, total, k = u * u, 0.0, 2
        while abs(term) > 1e-18 * u * u:
            total += term / (k * (k - 1))
            term *= -u
            k += 1
        return total
    return (1.0 + u) * math.log1p(u) - u


def inverse_rate(y: float) -> float:
    """The u ≥ 0 with h(u) = y.

    Newton's method from Bernstein's upper bound u = y/3 + sqrt(y²/9 + 2y). h is convex and
    increasing, so the iterates fall towards the root and never pass below it: up to rounding, the
    result is never too small.
    """
    if y <= 0.0:
        return 0.0
    u = y / 3.0 + math.sqrt(y * y / 9.0 + 2.0 * y)
    for _ in range(200):
        step = (rate(u) - y) / math.log1p(u)
        if step <= 1e-15 * u:
            break
        u -= step
    return u


@dataclass(frozen=True)
class Bennett:
    """P(mean − E[mean] > ε) ≤ sides · exp(−N (v/b²) h(b ε / v)), h(u) = (1+u) ln(1+u) − u.

    Claim: for N independent scores X with |X| ≤ ``magnitude`` = b and E[X²] ≤ ``second_moment``
    = v, the mean exceeds its expectation by more than ε with at most this probability
    (``sides=1``), or is further than ε from it (``sides=2``).
    Assumptions: independence, the bound b, the bound v. The bound grows with v, so a v that is
    too large is safe.
    Sides: one or two, as ``sides`` says.
    Rounding: sample sizes up; tails and tolerances only by the arithmetic.
    Source: S. Boucheron, G. Lugosi, P. Massart, Concentration Inequalities, 2013, Theorem 2.9
    (with the second moment about zero, as here).
    """

    second_moment: float
    magnitude: float = 1.0
    sides: Literal[1, 2] = 2

    def __post_init__(self) -> None:
        if not 0.0 < self.second_moment <= self.magnitude**2:
            raise ValueError(
                f"the second moment must be in (0, magnitude²], got {self.second_moment}"
            )

    @property
    def _scale(self) -> float:
        return self.second_moment / self.magnitude**2

    def exponent(self, tolerance: float) -> float:
        """What each example adds to −ln(tail): (v/b²) h(b ε / v)."""
        return self._scale * rate(self.magnitude * tolerance / self.second_moment)

    def tail(self, sample_size: int, tolerance: float) -> float:
        """ln of the bound on P(deviation > tolerance); never above 0."""
        return min(0.0, math.log(self.sides) - sample_size * self.exponent(tolerance))

    def examples(self, tolerance: float, log_delta: float) -> float:
        """The sample size before it is rounded up."""
        require_level(log_delta)
        return (math.log(self.sides) - log_delta) / self.exponent(tolerance)

    def sample_size(self, tolerance: float, log_delta: float) -> int:
        """The smallest sample size with ``tail(…, tolerance) <= log_delta``, rounded up."""
        return round_up(self.examples(tolerance, log_delta))

    def tolerance(self, sample_size: int, log_delta: float) -> float:
        """The smallest tolerance with ``tail(sample_size, …) <= log_delta``."""
        require_level(log_delta)
        y = (math.log(self.sides) - log_delta) / (sample_size * self._scale)
        return inverse_rate(y) * self.second_moment / self.magnitude
