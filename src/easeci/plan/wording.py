"""How a derivation writes counts, probabilities and exact constants."""

from __future__ import annotations

import math
from fractions import Fraction

from easeci.script import Adaptivity, Script


def count(number: int) -> str:
    """A whole number with thousands separators."""
    return f"{number:,}"


def exact(value: Fraction) -> str:
    """A constant from the script, without noise: 0.02, not 0.0200000004."""
    return f"{float(value):.10g}"


def exact_share(value: float) -> str:
    """A share in percent, as short as possible: 8%, 0.5%."""
    return f"{100 * value:.4g}%"


def probability(log_value: float) -> str:
    """A probability given by its logarithm, also below the range of floats."""
    exponent = math.floor(log_value / math.log(10.0) + 1e-9)
    if exponent >= -4:
        return f"{math.exp(log_value):.4g}"
    mantissa = math.exp(log_value - exponent * math.log(10.0))
    return f"{mantissa:.3f}e{exponent}"


def histories(script: Script) -> str:
    """The number by which the paper divides δ because of the steps."""
    if script.adaptivity is Adaptivity.FULL:
        return f"2^{script.steps}"
    return str(script.steps)


def why_histories(script: Script) -> str:
    """Why δ is divided by that number."""
    match script.adaptivity:
        case Adaptivity.FULL:
            return (
                f"full: each of {count(script.steps)} steps tells developers one bit, so "
                f"2^{script.steps} histories may each lead to another model"
            )
        case Adaptivity.FIRST_CHANGE:
            return (
                f"firstChange: up to the first change developers only ever hear one answer, so "
                f"{count(script.steps)} steps test {count(script.steps)} models"
            )
        case Adaptivity.NONE:
            return (
                f"none: developers learn nothing, so {count(script.steps)} steps test "
                f"{count(script.steps)} models"
            )
