"""Evidence over ten million examples, against a frozen copy of the code for five cells."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.five_cells import (
    CountedEvidence,
    MeanAtMost,
    evidence_on_all,
    evidence_on_differing,
)
from bench.page import Section
from bench.progress import tell
from bench.ratio import Ratio, ratio_section
from easeci.evidence.wealth import Evidence

EXAMPLES = 10_000_000
TARGET = 40.0
"""So large that no walk here reaches it."""
FIVE_CELLS = 1.1
MANY_OUTCOMES = 256
TIMES_FASTER = 5.0
ROUNDS = 15
OPENING = f"""\
## Evidence over outcomes

A walk along ten million examples that never reaches its target. With the five cells of *n*, *o* and
*d* it is timed against a frozen copy of the code that knew only them, with {MANY_OUTCOMES} outcomes
against the same code counting {MANY_OUTCOMES} cells: there it must be at least
{TIMES_FASTER:g} times as fast. Both take turns in one process; the ratio is that of their fastest
rounds, in processor time."""


@dataclass(frozen=True)
class Race:
    """The same evidence twice, by the frozen code and by today's, along the same examples."""

    what: str
    frozen: CountedEvidence
    codes: npt.NDArray[Any]
    at_most: float

    def ratio(self, rounds: int = ROUNDS) -> Ratio:
        """Today's time in units of the frozen code's."""
        today = Evidence(self.frozen.log_weights, self.frozen.log_factors)
        new, old = fastest(
            lambda: today.first_crossing(self.codes, TARGET),
            lambda: self.frozen.first_crossing(self.codes, TARGET),
            rounds,
        )
        return Ratio(self.what, new / old, self.at_most, f"{self.frozen.cells} cells, by counts")


def fastest(
    first: Callable[[], int | None], second: Callable[[], int | None], rounds: int
) -> tuple[float, float]:
    """The least processor time of each, in rounds that take turns; neither may cross."""
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for place, walk in enumerate((first, second)):
            start = time.process_time()
            crossing = walk()
            best[place] = min(best[place], time.process_time() - start)
            assert crossing is None
    return best[0], best[1]


def section() -> Section:
    return ratio_section(OPENING, [*measure_five_cells(), *measure_many_outcomes()])


def measure_five_cells(examples: int = EXAMPLES) -> list[Ratio]:
    """How much slower the evidence over any outcomes is where there are five."""
    found = [race.ratio() for race in (race_on_all(examples), race_on_differing(examples))]
    for row in found:
        kept = "no" if row.broken else "yes"
        tell(f"  {row.what}: {row.value:.2f} times the frozen code's, at most {FIVE_CELLS}: {kept}")
    return found


def measure_many_outcomes(examples: int = EXAMPLES) -> list[Ratio]:
    """How much faster many outcomes are than by counts."""
    row = race_of_many(examples).ratio(rounds=3)
    kept = "no" if row.broken else "yes"
    tell(f"  {row.what}: {1 / row.value:.1f} times as fast, at least {TIMES_FASTER:g}: {kept}")
    return [row]


def race_on_all(examples: int) -> Race:
    """n just below its threshold: every example counts."""
    codes = np.random.default_rng(0).choice(5, examples, p=[0.7, 0.1, 0.1, 0.08, 0.02])
    evidence = evidence_on_all(MeanAtMost((1.0, 0.0, 1.0, 0.0, 0.0), 0.801, 0.01))
    return Race("*n*, every example counts", evidence, codes.astype(np.uint8), FIVE_CELLS)


def race_on_differing(examples: int) -> Race:
    """n − o just below its threshold of 0.02, with d = 0.2: every example is a differing one."""
    codes = np.random.default_rng(1).choice([2, 3, 4], examples, p=[0.445, 0.355, 0.2])
    hypothesis = MeanAtMost((None, None, 1.0, -1.0, 0.0), 0.02, 0.01)
    evidence = evidence_on_differing(hypothesis, 5 * examples, examples, TARGET)
    what = "*n* − *o*, differing examples count"
    return Race(what, evidence, codes.astype(np.uint8), FIVE_CELLS)


def race_of_many(examples: int, outcomes: int = MANY_OUTCOMES) -> Race:
    """Evenly spaced scores, all equally probable, just below their threshold."""
    codes = np.random.default_rng(2).integers(0, outcomes, examples)
    scores = tuple(outcome / (outcomes - 1) for outcome in range(outcomes))
    evidence = evidence_on_all(MeanAtMost(scores, 0.501, 0.01))
    what = f"{outcomes} outcomes, every example counts"
    return Race(what, evidence, codes.astype(np.min_scalar_type(outcomes - 1)), 1 / TIMES_FASTER)
