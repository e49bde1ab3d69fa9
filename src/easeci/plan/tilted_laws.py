"""Laws of outcomes at which a score has a value that no accuracy gives it.

The measures of one model follow its accuracy alike, so the difference of two of them, such as
recall(k) − precision(k), is almost the same for all accuracies. To give it another value, a law is
*tilted*: outcomes that raise the score become more frequent and others rarer, in small steps along
the score's influence function

    (a(x) − A/B · b(x)) / B

for each ratio A/B of the means of two tables a and b. First only given the label, so that classes
keep their shares. If that does not reach the value, the shares change too.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from easeci.evidence.bets import Floats

STEP = 0.25
"""The largest change of the logarithm of a probability in one step."""
STEPS = 300
HALVINGS = 60
LEAST_RISE = 1e-13

Labels = npt.NDArray[np.intp]
"""The label of each outcome, as a number."""


def value_of_means(means: Floats) -> float:
    """A score from the means of its tables; 0/0 counts as 0."""
    pairs = [(float(means[i]), float(means[i + 1])) for i in range(0, len(means), 2)]
    values = [
        above / below if below > 0.0 else math.copysign(1e9, above) if above else 0.0
        for above, below in pairs
    ]
    return values[0] - sum(values[1:])


def tilted(tables: Floats, law: Floats, labels: Labels, value: float) -> Floats:
    """The law, tilted until the score of these tables has the value or comes no nearer to it.

    ``tables`` has the shape (2 or 4, outcomes): a numerator and a denominator for each ratio.
    """
    kept = _along(tables, law, labels, value)
    free = kept
    if abs(value_of_means(tables @ kept) - value) > 1e-9:
        free = _along(tables, law, np.zeros_like(labels), value)
    return min((kept, free), key=lambda found: abs(value_of_means(tables @ found) - value))


def _along(tables: Floats, law: Floats, groups: Labels, value: float) -> Floats:
    """Small steps that keep the probability of each group; the last one ends at the value."""
    sign = 1.0 if value > value_of_means(tables @ law) else -1.0

    def short(of: Floats) -> float:
        return sign * (value - value_of_means(tables @ of))

    for _ in range(STEPS):
        influence = sign * _influence(tables, law, groups)
        largest = float(np.abs(influence).max())
        if short(law) == 0.0 or largest <= 0.0:
            break
        step = _Tilt(law, influence * (STEP / largest), groups)
        after = step(1.0)
        if short(after) <= 0.0:
            return _ending(step, short)
        if short(law) - short(after) < LEAST_RISE:
            break
        law = after
    return law


def _ending(step: _Tilt, short: Callable[[Floats], float]) -> Floats:
    """The part of a step after which nothing is short any more, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if short(step(middle)) > 0.0 else (low, middle)
    return step(high)


def _influence(tables: Floats, law: Floats, groups: Labels) -> Floats:
    """How an outcome changes the score if it becomes more frequent in its group."""
    means, influence = tables @ law, np.zeros(len(law))
    for i in range(0, len(tables), 2):
        above, below = float(means[i]), float(means[i + 1])
        if below > 0.0:
            ratio = (tables[i] - above / below * tables[i + 1]) / below
            influence += ratio if i == 0 else -ratio
    mean = _sums(law * influence, groups) / np.maximum(_sums(law, groups), 1e-300)
    return np.where(law > 0.0, influence - mean, 0.0)


def _sums(values: Floats, groups: Labels) -> Floats:
    """For each outcome, the sum over its group."""
    return np.asarray(np.bincount(groups, values)[groups])


class _Tilt:
    """One step: probabilities grow by e^(part · influence), then each group is scaled back."""

    def __init__(self, law: Floats, influence: Floats, groups: Labels) -> None:
        self._law, self._influence, self._groups = law, influence, groups
        self._shares = _sums(law, groups)

    def __call__(self, part: float) -> Floats:
        """The law after a part of the step."""
        grown = self._law * np.exp(part * self._influence)
        return np.asarray(grown * self._shares / np.maximum(_sums(grown, self._groups), 1e-300))
