"""Labels per commit over the zone, against the limit by information theory."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bench.month import CLEAR, EXAMPLES, THRESHOLD, condition
from easeci.evidence.codes import Codes
from easeci.evidence.levels import StepLevels
from easeci.script import Mode
from easeci.verdict.sequential import decide_sequentially

DIFFERENCES = (0.02, 0.05, 0.1, 0.2)
GAINS = (-0.02, 0.0, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.05, 0.06, 0.08)
LEVEL = math.log(1e-4 / 32.0)


@dataclass(frozen=True)
class ZonePoint:
    """Mean labels of one commit at one true gain; ``limit`` is Wald's with d known."""

    difference: float
    gain: float
    labels: float
    error: float
    commits: int
    passed: int
    limit: float | None

    @property
    def ratio(self) -> float | None:
        return None if self.limit is None else self.labels / self.limit


def draw_codes(difference: float, gain: float, draw: np.random.Generator) -> Codes:
    """Two models that differ on this share of examples and are never both wrong there."""
    chance = draw.random(EXAMPLES)
    new_right = (difference + gain) / 2.0
    codes = np.where(chance < new_right, 2, np.where(chance < difference, 3, 0))
    return codes.astype(np.uint8)


def limit(difference: float, gain: float, log_level: float = LEVEL) -> float | None:
    """Wald's lower bound on mean labels at the zone's edges, for known d and equal errors."""
    if gain not in (THRESHOLD, CLEAR) or difference <= CLEAR:
        return None
    other = THRESHOLD + CLEAR - gain
    here, there = (1.0 + gain / difference) / 2.0, (1.0 + other / difference) / 2.0
    rate = here * math.log(here / there) + (1.0 - here) * math.log((1.0 - here) / (1.0 - there))
    level = math.exp(log_level)
    gained = (1.0 - level) * math.log((1.0 - level) / level) + level * math.log(level)
    return gained / rate


def measure(difference: float, gain: float, repetitions: int, seed: int = 0) -> ZonePoint:
    """The mean labels of many simulated commits at one d and one true gain."""
    draw = np.random.default_rng((seed, round(1e4 * difference), round(1e4 * (gain + 1.0))))
    levels = StepLevels(LEVEL, LEVEL, LEVEL)
    verdicts = [
        decide_sequentially(condition(), Mode.FP_FREE, levels, draw_codes(difference, gain, draw))
        for _ in range(repetitions)
    ]
    labels = np.array([verdict.labels for verdict in verdicts])
    return ZonePoint(
        difference,
        gain,
        float(labels.mean()),
        float(labels.std(ddof=1)) / math.sqrt(repetitions),
        repetitions,
        sum(verdict.passed is True for verdict in verdicts),
        limit(difference, gain),
    )
