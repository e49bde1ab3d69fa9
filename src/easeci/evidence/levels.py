"""The level of a step: how small its probability of error must be, so that all add up to δ.

As published: the errors of all models that could ever be tested on a testset are added up. Under
``none`` and ``firstChange`` that is one model per step; under ``full`` every history of
pass/fail answers may lead to another model, 2^steps in all. Everything is in logarithms, because
δ / 2^steps leaves the range of floats at about a thousand steps.
"""

from __future__ import annotations

import math
from fractions import Fraction

from easeci.script import Adaptivity


def log_histories(adaptivity: Adaptivity, steps: int) -> float:
    """ln of the number of models over which errors are added up, as published."""
    match adaptivity:
        case Adaptivity.FULL:
            return steps * math.log(2.0)
        case Adaptivity.NONE | Adaptivity.FIRST_CHANGE:
            return math.log(steps)


def log_level(delta: Fraction, adaptivity: Adaptivity, steps: int) -> float:
    """ln(δ / histories): the level of each step, the same for all of them."""
    return log_of(delta) - log_histories(adaptivity, steps)


def log_of(probability: Fraction) -> float:
    """ln of an exact rational, also where it is too small for a float."""
    return math.log(probability.numerator) - math.log(probability.denominator)
