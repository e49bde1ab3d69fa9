"""The sensitivity of a testset that is smaller than planned."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from easeci.plan.exact import exact_estimate
from easeci.plan.sensitivity_left import sensitivity_left
from tests.scripts import script

MADE = script("n > 0.5 +/- 0.2", reliability=0.99, estimator="exact")


def needed(sensitivity: float) -> int:
    found = exact_estimate(replace(MADE, sensitivity=Fraction(sensitivity))).examples
    assert found is not None
    return found


def test_the_examples_are_enough_for_what_is_left_and_not_for_much_more() -> None:
    """Against the plan itself: the sensitivity that is left needs no more than there are."""
    planned = needed(0.99)
    left = [sensitivity_left(MADE, examples) for examples in range(4, planned, 8)]
    assert left == sorted(left, key=lambda share: share or 0.0)
    assert left[-1] != left[0]
    for examples, share in zip(range(4, planned, 8), left, strict=True):
        assert share is not None
        if share > 0.0:
            assert needed(share) <= examples
        assert needed(1.0 - 0.96 * (1.0 - max(share, 0.01))) > examples


def test_the_planned_size_keeps_nearly_all() -> None:
    assert sensitivity_left(MADE, needed(0.99)) in (0.989, 0.99)


def test_a_published_estimator_widens_its_tolerance_instead() -> None:
    assert sensitivity_left(script("n > 0.5 +/- 0.2", estimator="hoeffding"), 5) is None
