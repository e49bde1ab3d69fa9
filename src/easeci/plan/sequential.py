"""The sequential estimator: it asks for labels only until the answer is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

from easeci.evidence.clause_test import FUTILITY_SHARE, Goal, Targets
from easeci.evidence.sizing import LabelsByTruth, examples_needed, forecast_labels
from easeci.plan.assumptions import TypicalStep, planned_difference, typical_step
from easeci.plan.estimate import Estimate
from easeci.plan.wording import count, probability
from easeci.script import Estimator, LinearClause, Script


@dataclass(frozen=True)
class _Sized:
    clause: LinearClause
    goal: Goal
    difference: float
    why: str
    size: int


def sequential_size(script: Script) -> int:
    """How many examples the estimator needs, without a forecast of labels."""
    return max(item.size for item in _sized(script, typical_step(script)))


def _sized(script: Script, step: TypicalStep) -> list[_Sized]:
    levels = step.levels.per_clause(script.mode, len(script.clauses))
    exhaustion = levels.sensitivity + math.log1p(-FUTILITY_SHARE)
    targets = Targets.of(levels)
    return [_size(script, clause, targets, exhaustion) for clause in script.clauses]


def sequential(script: Script) -> Estimate:
    """Applies to every condition; needs no label before the first commit.

    How many labels commits need later is a forecast: :mod:`easeci.plan.forecast`.
    """
    step = typical_step(script)
    levels = step.levels.per_clause(script.mode, len(script.clauses))
    sized = _sized(script, step)
    return Estimate(
        estimator=Estimator.SEQUENTIAL,
        applies=True,
        reason="asks for labels only until the answer is known, and only where they matter",
        examples=max(item.size for item in sized),
        labels=0,
        derivation=(
            f"Sized for {step.description}: α = {probability(levels.safety)} for safety, "
            f"β = {probability(levels.sensitivity)} for sensitivity, for each clause",
            f"A proof needs evidence of 1/α; β covers giving up too early ({FUTILITY_SHARE:.0%}) "
            f"and running out of examples ({1 - FUTILITY_SHARE:.0%})",
            *(f"{i.clause.text}: {count(i.size)} examples ({i.why})" for i in sized),
        ),
    )


def labels_alone(script: Script) -> LabelsByTruth:
    """How many labels a commit is likely to take alone, at the planned d and the last step.

    The largest of the clauses' forecasts, because clauses share their labels.
    """
    step = typical_step(script)
    targets = Targets.of(step.levels.per_clause(script.mode, len(script.clauses)))
    sized = _sized(script, step)
    examples = max(item.size for item in sized)
    found = [
        forecast_labels(item.goal, targets, examples, item.difference)
        for item in sized
        if item.clause.score.needs_labels
    ]
    return LabelsByTruth(
        unchanged=max((f.unchanged for f in found), default=0),
        middle=max((f.middle for f in found), default=0),
        better=max((f.better for f in found), default=0),
        worst=max((f.worst for f in found), default=0),
    )


def _size(script: Script, clause: LinearClause, targets: Targets, exhaustion: float) -> _Sized:
    goal = Goal.of(clause, script.mode)
    planned = planned_difference(script, clause)
    least = abs(goal.clear) / max(1e-9, float(clause.score.highest - clause.score.lowest) / 2.0)
    difference = min(1.0, max(float(planned.share), 1.01 * least))
    why = planned.why if goal.proof.only_differing else "whatever d is"
    size = examples_needed(goal, targets, exhaustion, difference)
    return _Sized(clause, goal, difference, why, size)
