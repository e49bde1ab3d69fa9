"""The sensitivity that a testset still promises if it is smaller than planned.

Safety never depends on the size: a small testset has less sensitivity. A published estimator has
only one probability for both promises, so it widens the tolerance instead.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from easeci.script import Estimator, Script

LEAST = Fraction(1, 100)
ROUNDS = 8


def sensitivity_left(script: Script, examples: int) -> float | None:
    """The largest sensitivity for which so many examples are enough, rounded down; 0 if below 1%.

    None for a published estimator. The script must name its estimator. More sensitivity always
    needs more examples, so bisection on ln β finds the largest.
    """
    if script.published_estimator:
        return None
    if not _enough(script, 1 - LEAST, examples):
        return 0.0
    low, high = math.log(script.beta), math.log(1 - LEAST)
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        if _enough(script, Fraction(math.exp(middle)), examples):
            high = middle
        else:
            low = middle
    return math.floor((1 - math.exp(high)) * 1000) / 1000


def _enough(script: Script, beta: Fraction, examples: int) -> bool:
    looser = replace(script, sensitivity=1 - beta)
    assert script.estimator is not Estimator.AUTO
    from easeci.plan.estimators import ESTIMATORS  # not above: few plans need it

    needed = ESTIMATORS[script.estimator](looser).examples
    return needed is not None and needed <= examples
