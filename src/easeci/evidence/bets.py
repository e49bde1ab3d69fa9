"""Bets against a hypothesis about the mean of a score: which, how large, with which weights.

A hypothesis says Φ ≤ m for the mean Φ of scores s between ``least`` and ``most``. A bet of size λ
multiplies its wealth by 1 + λ (s − m) at every example. If 0 ≤ λ < 1 / (m − least) this factor is
never negative, and if Φ ≤ m its expectation is at most 1 whatever happened before. So under the
hypothesis the wealth is a non-negative supermartingale that starts at 1, and so is any mixture of
wealths whose weights add up to 1: it ever reaches 1/α with probability at most α (Ville's
inequality).

The choice of the bets affects how many labels are needed, never safety. The best λ against one
alternative is Kelly's. Each bet is aimed at a mean m + k·ε. A few well-aimed bets are better than
many, because a mixture costs ln(1/weight).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Aims:
    """The means that bets are aimed at: ``multiples`` of the tolerance beyond the hypothesis."""

    multiples: tuple[float, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if not math.isclose(math.fsum(self.weights), 1.0, abs_tol=1e-12):
            raise ValueError("the weights of the bets must add up to 1")

    @property
    def log_weights(self) -> Floats:
        """ln of the weight of each bet."""
        return np.asarray(np.log(np.array(self.weights)))


PROOF_AIMS = Aims((1.1, 2.2, 4.4, 11.0), (0.57, 0.26, 0.11, 0.06))
FUTILITY_AIMS = Aims((1.1, 2.2, 4.4, 11.0), (0.47, 0.28, 0.17, 0.08))
"""Most weight is on the middle of the zone, where a walk is longest; chosen by measurement."""

RATIO_AIMS = Aims((1.2, 2.2, 5.0, 12.0), (0.40, 0.52, 0.05, 0.03))
"""For the proof of a ratio whose table has two values: 5% fewer labels at c + 2ε than with
``PROOF_AIMS``, and 5% more at c + ε; chosen by measurement."""

SPACED_AIMS = Aims(tuple(1.1 * 2.0**k for k in range(7)), (1.0 / 7.0,) * 7)
"""For scores of unknown variance: each bet is twice the size of the one before."""

_RISING = tuple(1.25**k for k in range(7))
GRADED_AIMS = Aims(SPACED_AIMS.multiples, tuple(weight / sum(_RISING) for weight in _RISING))
"""For scores of outputs, which may lie anywhere between the ends. Most scores vary less than the
ends allow, so larger bets have more weight; chosen by measurement."""

CAUTION = 0.5
"""The first bet aims at most half of the way to the largest score, the next at three quarters, and
so on. So if ε is large for the room that is left, one bad example can't ruin all of the bets."""

SPREAD = 0.9
"""If a score has a third value between its ends (n − o is 0 if both models are wrong), bets assume
this share of the largest possible variance."""


def aimed(
    means: Floats,
    step: Floats,
    aims: Aims,
    ends: tuple[float, float] | tuple[Floats, Floats],
    spread: float,
) -> Floats:
    """Bet sizes λ against each hypothesis "mean ≤ m", shape (hypotheses, aims).

    Kelly's bet for scores at the two ends, of mean m + k·step, is λ = k·step / ((most − m)(m −
    least)); it is divided by ``spread`` because scores between the ends make the variance smaller.
    If no mean beyond m is possible, the bet is 0. Always 0 ≤ λ < 1 / (m − least).
    """
    least, most = ends
    room, ground = most - means, means - least
    sizes = np.zeros((len(means), len(aims.multiples)))
    for column, multiple in enumerate(aims.multiples):
        reach = multiple * step / spread
        boldest = 1.0 - CAUTION ** (column + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.minimum(reach, boldest * room) / (room * ground)
        sizes[:, column] = np.where(room > 0.0, size, 0.0)
    return sizes


def log_factors(sizes: Floats, means: Floats, score: float) -> Floats:
    """ln(1 + λ (s − m)) for an example of this score, shape (hypotheses, bets)."""
    return np.asarray(np.log1p(sizes * (score - means[:, None])))
