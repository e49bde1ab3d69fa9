"""A month of commits: 32 fully adaptive steps on one testset, labels bought only when needed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from easeci.evidence.cells import STATES, Code, Codes, LabelState, codes_of
from easeci.evidence.levels import FAIL, PASS, step_levels
from easeci.script import Adaptivity, LinearClause, Mode, compile_condition, parse_condition
from easeci.verdict.result import Verdict
from easeci.verdict.sequential import decide_sequentially

STEPS = 32
EXAMPLES = 67_706
CLASSES = 4
CHANGED = 0.064
SHUFFLED = 0.016
THRESHOLD, CLEAR = 0.02, 0.04

Predictions = npt.NDArray[np.int64]


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


def condition() -> tuple[LinearClause, ...]:
    """The condition of the month, in normal form."""
    return compile_condition(parse_condition("n - o > 0.02 +/- 0.01"))


def simulate_month(seed: int, sensitivity: Fraction, first_accuracy: float = 0.7) -> Month:
    """Simulate one month with the real engine.

    The same seed has the same commits at every sensitivity.
    """
    draw = np.random.default_rng(seed)
    gains = np.clip(draw.normal(0.0, 0.02, STEPS), -0.0576, 0.0576)
    truth = draw.integers(0, CLASSES, EXAMPLES)
    right = draw.random(EXAMPLES) < first_accuracy
    baseline = np.where(right, truth, another_class(truth, draw))
    clauses = condition()
    labelled, differing = np.zeros(EXAMPLES, bool), np.zeros(EXAMPLES, bool)
    history, new_labels = "", []
    for step, gain in enumerate(gains):
        model = commit(baseline, truth, float(gain), np.random.default_rng((seed, step)))
        levels = step_levels(
            delta=Fraction(1, 10_000),
            beta=1 - sensitivity,
            mode=Mode.FP_FREE,
            adaptivity=Adaptivity.FULL,
            steps=STEPS,
            history=history,
        )
        codes = cells(model, baseline, truth)
        differing |= codes >= Code.NEW_RIGHT
        verdict = decide_sequentially(clauses, Mode.FP_FREE, levels, codes)
        asked = consulted(verdict, codes)
        new_labels.append(int(np.count_nonzero(~labelled[asked])))
        labelled[asked] = True
        history += PASS if verdict.passed else FAIL
        baseline = model if verdict.passed else baseline
    return _summary(labelled, differing, new_labels, history, gains)


def _summary(
    labelled: npt.NDArray[np.bool_],
    differing: npt.NDArray[np.bool_],
    new_labels: list[int],
    history: str,
    gains: npt.NDArray[np.float64],
) -> Month:
    passed = np.array([bit == PASS for bit in history])
    clear = gains >= CLEAR
    return Month(
        int(np.count_nonzero(labelled)),
        tuple(new_labels),
        history,
        int(np.count_nonzero(passed & (gains <= THRESHOLD))),
        int(np.count_nonzero(clear)),
        int(np.count_nonzero(clear & ~passed)),
        int(np.count_nonzero(differing)),
    )


def commit(
    baseline: Predictions, truth: Predictions, gain: float, draw: np.random.Generator
) -> Predictions:
    """A model that changes 8% of the baseline's predictions, with this true gain in accuracy."""
    right = baseline == truth
    accuracy = float(right.mean())
    chance = draw.random(len(truth))
    gained = (CHANGED + gain) / 2.0 / (1.0 - accuracy)
    shuffled = gained + SHUFFLED / (1.0 - accuracy)
    lost = (CHANGED - gain) / 2.0 / accuracy
    model = baseline.copy()
    model[~right & (chance < gained)] = truth[~right & (chance < gained)]
    moved = ~right & (chance >= gained) & (chance < shuffled)
    # Of the four classes, one of the two that are neither the label nor the prediction.
    model[moved] = other_wrong_class(baseline[moved], truth[moved], draw)
    model[right & (chance < lost)] = another_class(truth[right & (chance < lost)], draw)
    return model


def another_class(truth: Predictions, draw: np.random.Generator) -> Predictions:
    """A random class other than the label."""
    return (truth + draw.integers(1, CLASSES, len(truth))) % CLASSES


def other_wrong_class(
    predicted: Predictions, truth: Predictions, draw: np.random.Generator
) -> Predictions:
    """A random class that is neither the label nor the prediction."""
    offset = (predicted - truth) % CLASSES
    return (truth + 1 + (offset - 1 + draw.integers(1, CLASSES - 1, len(truth))) % 3) % CLASSES


def cells(model: Predictions, baseline: Predictions, truth: Predictions) -> Codes:
    return codes_of(
        np.full(len(truth), STATES.index(LabelState.LABEL), np.uint8),
        differ=model != baseline,
        new_right=model == truth,
        old_right=baseline == truth,
    )


def consulted(verdict: Verdict, codes: Codes) -> npt.NDArray[np.intp]:
    """The positions of the consulted labels, if only differing examples need labels."""
    return np.flatnonzero(codes >= Code.NEW_RIGHT)[: verdict.labels]
