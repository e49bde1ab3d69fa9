"""Bets against a hypothesis on the mean of a score: which, how large, and with which weight.

A hypothesis says Φ ≤ m for the mean Φ of scores s between ``least`` and ``most``. A bet of size λ
multiplies its wealth by 1 + λ (s − m) at every example. If 0 ≤ λ < 1 / (m − least) that is never
negative, and if Φ ≤ m its expectation is at most 1 whatever happened before. So under the
hypothesis the wealth is a non-negative supermartingale that starts at 1, and so is any mixture of
wealths whose weights add up to 1: it ever reaches 1/α with probability at most α (Ville).

Only the choice of the bets is art, and it can cost labels but never safety. The best λ against one
alternative is Kelly's. Each bet is aimed at a mean m + k·ε; few bets that are aimed well lose less
than many, as the mixture costs ln(1/weight).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Aims:
    """Where bets are aimed: ``multiples`` of the tolerance beyond the hypothesis, with weights."""

    multiples: tuple[float, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if not math.isclose(math.fsum(self.weights), 1.0, abs_tol=1e-12):
            raise ValueError("the weights of the bets must add up to 1")

    @property
    def log_weights(self) -> Floats:
        return np.asarray(np.log(np.array(self.weights)))


PROOF_AIMS = Aims((1.1, 2.2, 4.4, 11.0), (0.57, 0.26, 0.11, 0.06))
FUTILITY_AIMS = Aims((1.1, 2.2, 4.4, 11.0), (0.47, 0.28, 0.17, 0.08))
"""Most weight on the middle of the zone, where a walk is longest; chosen by measurement."""

SPACED_AIMS = Aims(tuple(1.1 * 2.0**k for k in range(7)), (1.0 / 7.0,) * 7)
"""For scores whose variance may be anything: each bet twice the size of the one before."""

CAUTION = 0.5
"""The first bet aims at most half of the way to the largest score, the next at three quarters, and
so on: where ε is large for what is left, not all of them may be ruined by one bad example."""

SPREAD = 0.9
"""Where a score has a third value between its ends, as n − o where both models are wrong, bets
assume this share of the largest variance that it allows."""


def aimed(
    means: Floats, step: Floats, aims: Aims, ends: tuple[float, float], spread: float
) -> Floats:
    """Bet sizes λ against each hypothesis "mean ≤ m", shape (hypotheses, aims).

    Kelly's bet for scores at the two ends, of mean m + k·step, is λ = k·step / ((most − m)(m −
    least)); it is divided by ``spread`` because scores between the ends make the variance smaller.
    Where no mean beyond m is possible the bet is 0. Always 0 ≤ λ < 1 / (m − least).
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
