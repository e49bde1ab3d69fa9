"""Two curves of a plan: labels against the tolerance, and a pass against the true effect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from easeci.plan.chance import chances_of_a_pass
from easeci.plan.forecast import forecast
from easeci.plan.meaning import ClausePlace
from easeci.plan.planner import Plan
from easeci.plan.sequential import sequential
from easeci.plan.truth import Truth, out_of_reach
from easeci.script import Estimator, Mode, NormalClause, Script

FACTORS = tuple(Fraction(k, 4) for k in (2, 3, 4, 5, 6, 8, 12))
"""The tolerances of the first curve, as multiples of the script's."""
EFFECTS = 97
"""Points of the second curve, over six tolerances around the zone."""


@dataclass(frozen=True)
class ToleranceCurve:
    """Expected labels of a testset's life, by the tolerance.

    ``points`` are pairs of a tolerance and labels. The tolerance is in points, or, if several
    clauses need labels, a multiple of each clause's own. ``here`` is the script's own pair.
    """

    points: tuple[tuple[float, float], ...]
    here: tuple[float, float]
    multiples: bool


@dataclass(frozen=True)
class PassCurve:
    """The probability of a pass, by the truth.

    ``name`` is what is true: ``n - o``, or empty if several clauses need labels, whose effect is
    then how far each is beyond its threshold. Values are in points, or in percent (``share``).
    Within the ``zone`` either answer is allowed.
    """

    name: str
    share: bool
    points: tuple[tuple[float, float], ...]
    zone: tuple[float, float]
    difference: float


def tolerance_curve(plan: Plan) -> ToleranceCurve | None:
    """The first curve; None if no label is needed, or if no commit could pass."""
    if not plan.by_need or plan.useless:
        return None
    labelled = _labelled(plan.script)
    alone = labelled[0] if len(labelled) == 1 else None
    points = []
    for factor in FACTORS:
        asked = _widened(plan.script, factor)
        estimate = sequential(asked)
        if factor == 1 or (estimate.applies and not asked.reach_warnings):
            life = plan.life
            if factor != 1:
                life = forecast(asked, plan.mix, estimate.examples)
            scale = 1.0 if alone is None else 100.0 * float(ClausePlace.of(alone).tolerance)
            points.append((float(factor) * scale, life.labels))
    here = points[[point[1] for point in points].index(plan.life.labels)]
    return ToleranceCurve(tuple(points), here, multiples=alone is None)


def pass_curve(plan: Plan, difference: Fraction) -> PassCurve | None:
    """The second curve, for models that differ on this share; None if there is no forecast."""
    if not plan.by_need or plan.useless:
        return None
    script = plan.script
    labelled = _labelled(script)
    tolerance = float(max(clause.tolerance for clause in labelled))
    first, last = (-2.0, 4.0) if script.mode is Mode.FP_FREE else (-4.0, 2.0)
    spread = np.linspace(first * tolerance, last * tolerance, EFFECTS)
    effects = [float(e) for e in spread if _possible(script, float(e), difference)]
    if not effects:
        return None
    examples = plan.estimate(Estimator.SEQUENTIAL).examples
    assert examples is not None
    chances = chances_of_a_pass(script, examples, effects, float(difference))
    place = ClausePlace.of(labelled[0]) if len(labelled) == 1 else None
    factor = 1.0 if place is None else float(place.tolerance / labelled[0].tolerance)
    start = 0.0 if place is None else 100.0 * float(place.threshold)
    side = 100.0 * factor * (1.0 if place is None or place.upwards else -1.0)
    width = 2.0 * tolerance if script.mode is Mode.FP_FREE else -2.0 * tolerance
    low, high = sorted((start, start + side * width))
    points = sorted((start + side * e, float(p)) for e, p in zip(effects, chances, strict=True))
    return PassCurve(
        name="" if place is None else place.name,
        share=place is not None and place.share,
        points=tuple(points),
        zone=(low, high),
        difference=float(difference),
    )


def _labelled(script: Script) -> list[NormalClause]:
    return [clause for clause in script.clauses if clause.score.needs_labels]


def _possible(script: Script, effect: float, difference: Fraction) -> bool:
    return out_of_reach(script, Truth(Fraction(effect), difference)) is None


def _widened(script: Script, factor: Fraction) -> Script:
    return replace(
        script,
        clauses=tuple(
            replace(clause, tolerance=clause.tolerance * factor)
            if clause.score.needs_labels
            else clause
            for clause in script.clauses
        ),
    )
