"""The sequential estimator: it asks for labels only until the answer is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

from easeci.evidence.clause_test import FUTILITY_SHARE, Goal, Targets
from easeci.evidence.sizing import Forecast, examples_needed, forecast_labels
from easeci.plan.assumptions import planned_difference, typical_step
from easeci.plan.estimate import Estimate, ExpectedLabels
from easeci.plan.wording import count, probability
from easeci.script import Estimator, LinearClause, Script


@dataclass(frozen=True)
class _Sized:
    clause: LinearClause
    goal: Goal
    difference: float
    why: str
    size: int


def sequential(script: Script) -> Estimate:
    """Applies to every condition; needs no label before the first commit."""
    step = typical_step(script)
    levels = step.levels.per_clause(script.mode, len(script.clauses))
    targets = Targets.of(levels)
    exhaustion = levels.sensitivity + math.log1p(-FUTILITY_SHARE)
    sized = [_size(script, clause, targets, exhaustion) for clause in script.clauses]
    examples = max(item.size for item in sized)
    forecasts = [
        forecast_labels(item.goal, targets, examples, item.difference)
        for item in sized
        if item.clause.score.needs_labels
    ]
    worst = max((forecast.worst for forecast in forecasts), default=0)
    return Estimate(
        estimator=Estimator.SEQUENTIAL,
        applies=True,
        reason="asks for labels only until the answer is known, and only where they matter",
        examples=examples,
        labels=0,
        labels_per_commit=worst,
        expected=_expected(forecasts),
        derivation=(
            f"Sized for {step.description}: α = {probability(levels.safety)} for safety, "
            f"β = {probability(levels.sensitivity)} for sensitivity, for each clause",
            f"A proof needs evidence of 1/α; β covers giving up too early ({FUTILITY_SHARE:.0%}) "
            f"and running out of examples ({1 - FUTILITY_SHARE:.0%})",
            *(f"{i.clause.text}: {count(i.size)} examples ({i.why})" for i in sized),
            f"Expected labels per commit in the worst case: {count(worst)}",
        ),
    )


def _size(script: Script, clause: LinearClause, targets: Targets, exhaustion: float) -> _Sized:
    goal = Goal.of(clause, script.mode)
    planned = planned_difference(script, clause)
    least = abs(goal.clear) / max(1e-9, float(clause.score.highest - clause.score.lowest) / 2.0)
    difference = min(1.0, max(float(planned.share), 1.01 * least))
    why = planned.why if goal.proof.only_differing else "whatever d is"
    size = examples_needed(goal, targets, exhaustion, difference)
    return _Sized(clause, goal, difference, why, size)


def _expected(forecasts: list[Forecast]) -> ExpectedLabels:
    """The largest of the clauses' forecasts, because clauses share their labels."""
    return ExpectedLabels(
        unchanged=max((f.unchanged for f in forecasts), default=0),
        middle=max((f.middle for f in forecasts), default=0),
        better=max((f.better for f in forecasts), default=0),
    )
