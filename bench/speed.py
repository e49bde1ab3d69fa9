"""Evidence over ten million examples, against twelve cumulative sums of as many floats."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bench.page import Figure, Section, broken_promises, table
from easeci.evidence.bets import Aims, Floats
from easeci.evidence.hypothesis import Hypothesis, evidence_against
from easeci.script import Score

EXAMPLES = 10_000_000
TWELVE = Aims(tuple(float(x) for x in np.geomspace(1.0, 40.0, 12)), (1.0 / 12.0,) * 12)
NEW = Score.linear(Fraction(1), Fraction(0), Fraction(0))
GAIN = Score.linear(Fraction(1), Fraction(-1), Fraction(0))
CUMULATIVE_SUMS = 3.0
OPENING = """\
## Evidence over ten million examples

Twelve bets along ten million examples, until one decides or none is left, in units of twelve
float64 cumulative sums in numpy; and the most memory that it takes beyond the examples."""


@dataclass(frozen=True)
class Speed(Figure):
    """A time in units of twelve cumulative sums, and the most memory beyond the codes."""

    megabytes: float


def section() -> Section:
    found = speeds()
    rows = ([s.what, s.shown(".2f"), s.promise, f"{s.megabytes:,.0f} MB"] for s in found)
    shown = table(["evidence on", "ratio", "at most", "memory"], rows)
    return Section(f"{OPENING}\n\n{shown}", broken=broken_promises(found))


def _seconds(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def _megabytes(work: Callable[[], object]) -> float:
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def _twelve_sums(values: Floats) -> float:
    return _seconds(lambda: [np.cumsum(values) for _ in range(12)])


def speeds(examples: int = EXAMPLES) -> list[Speed]:
    draw = np.random.default_rng(0)
    baseline = _twelve_sums(draw.random(examples))
    codes = draw.choice(5, examples, p=[0.7, 0.1, 0.1, 0.08, 0.02]).astype(np.uint8)
    differing = codes[codes >= 2]
    accuracy = Hypothesis.of(NEW, 0.8, 0.01)
    gain = Hypothesis.of(GAIN, 0.02, 0.01)
    cases = {
        "n at its threshold, 12 bets": (accuracy, codes),
        "n just below, 12 bets": (Hypothesis.of(NEW, 0.801, 0.01), codes),
        "n - o at its threshold, 12 bets, d known": (gain, differing),
    }
    found = []
    for name, (hypothesis, walked) in cases.items():
        evidence = evidence_against(hypothesis, TWELVE, examples, len(differing), 40.0)

        def work() -> object:
            return evidence.first_crossing(walked, 40.0)  # noqa: B023 - called within the loop

        seconds = _seconds(work)
        found.append(Speed(name, seconds / baseline, CUMULATIVE_SUMS, _megabytes(work)))
    return found
