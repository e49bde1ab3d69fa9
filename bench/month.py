"""A month of commits: 32 fully adaptive steps on one testset, labels bought only when needed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from easeci.evidence.cells import differs
from easeci.evidence.levels import FAIL, PASS, step_levels
from easeci.plan.commit_mix import MIXED
from easeci.script import Adaptivity, Mode, NormalClause, compile_condition, parse_condition
from easeci.simulation.mixed import SharedLabels, draw_commit, draw_gains, right_after
from easeci.verdict.sequential import decide_sequentially

STEPS = 32
EXAMPLES = 67_706
CLASSES = 4
THRESHOLD, CLEAR = 0.02, 0.04


@dataclass(frozen=True)
class Month:
    """The labels of one month, and the wrong answers.

    ``differing`` counts the examples on which any of the month's models differed from its baseline:
    active labelling asks for the labels of these.
    """

    labels: int
    new_labels: tuple[int, ...]
    history: str
    wrong_passes: int
    clear_gains: int
    missed: int
    differing: int


def condition() -> tuple[NormalClause, ...]:
    """The condition of the month, in normal form."""
    return compile_condition(parse_condition("n - o > 0.02 +/- 0.01"))


def simulate_month(seed: int, sensitivity: Fraction, first_accuracy: float = 0.7) -> Month:
    """Simulate one month with the real engine.

    The same seed has the same commits at every sensitivity.
    """
    draw = np.random.default_rng(seed)
    gains = draw_gains(MIXED, STEPS, draw)
    # Only right or wrong counts now, but without this draw a seed would have another month.
    draw.integers(0, CLASSES, EXAMPLES)
    right = draw.random(EXAMPLES) < first_accuracy
    clauses = condition()
    labels, differing = SharedLabels(EXAMPLES), np.zeros(EXAMPLES, bool)
    history, new_labels = "", []
    for step, gain in enumerate(gains):
        codes = draw_commit(right, float(gain), MIXED, np.random.default_rng((seed, step)))
        levels = step_levels(
            delta=Fraction(1, 10_000),
            beta=1 - sensitivity,
            mode=Mode.FP_FREE,
            adaptivity=Adaptivity.FULL,
            steps=STEPS,
            history=history,
        )
        differing |= differs(codes)
        verdict = decide_sequentially(clauses, Mode.FP_FREE, levels, codes, at_hand=labels.known)
        new_labels.append(labels.add(verdict, codes))
        history += PASS if verdict.passed else FAIL
        right = right_after(codes) if verdict.passed else right
    return _summary(differing, new_labels, history, gains)


def _summary(
    differing: npt.NDArray[np.bool_],
    new_labels: list[int],
    history: str,
    gains: npt.NDArray[np.float64],
) -> Month:
    passed = np.array([bit == PASS for bit in history])
    clear = gains >= CLEAR
    return Month(
        sum(new_labels),
        tuple(new_labels),
        history,
        int(np.count_nonzero(passed & (gains <= THRESHOLD))),
        int(np.count_nonzero(clear)),
        int(np.count_nonzero(clear & ~passed)),
        int(np.count_nonzero(differing)),
    )
