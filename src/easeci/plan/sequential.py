"""The sequential estimator: it asks for labels only until the answer is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from easeci.evidence.clause_test import FUTILITY_SHARE, Goal, Targets
from easeci.evidence.sizing import (
    ImpracticalError,
    LabelsByTruth,
    examples_needed,
    forecast_labels,
)
from easeci.plan.assumptions import TypicalStep, planned_difference, typical_step
from easeci.plan.estimate import Estimate, does_not_apply
from easeci.plan.prefix import PREFIX_SHARE, levels_of_step, shared_prefixes
from easeci.plan.wording import count, exact_share, probability
from easeci.script import Estimator, NormalClause, Script

if TYPE_CHECKING:
    from easeci.plan.measured_clause import MeasuredClause


@dataclass(frozen=True)
class _Sized:
    clause: NormalClause
    goal: Goal
    difference: float
    why: str
    size: int

    @property
    def in_a_slice(self) -> bool:
        return self.clause.score.slice is not None

    @property
    def line(self) -> str:
        where = " in each slice" if self.in_a_slice else ""
        return f"{self.clause.text}: {count(self.size)} examples{where} ({self.why})"


def sequential_size(script: Script) -> int:
    """How many examples the estimator needs, without a forecast of labels."""
    return max(item.size for item in _sized(script, typical_step(script)))


def smallest_slice(script: Script, clause: NormalClause) -> int:
    """How many examples a slice must have for the promise of sensitivity to hold in it.

    With fewer, the slice's clause is as safe, but a clearly good commit may fail.
    """
    return clause_size(script, clause)


def clause_size(script: Script, clause: NormalClause) -> int:
    """How many examples one clause of a script needs."""
    step = typical_step(script)
    levels = step.levels.per_clause(script.mode, len(script.clauses))
    exhaustion = levels.sensitivity + math.log1p(-FUTILITY_SHARE)
    return _size(script, clause, Targets.of(levels), exhaustion).size


def least_slice(script: Script, clause: NormalClause) -> int:
    """With fewer examples in the slice, no commit can ever get the answer that needs proof.

    In fp-free, such a clause makes every commit fail. It is computed for the first step, where the
    level is the largest.
    """
    from easeci.plan.measured_clause import possible_size

    levels = levels_of_step(script, 0, 0).per_clause(script.mode, len(script.clauses))
    try:
        return possible_size(Goal.of(clause, script.mode), -levels.safety)
    except ImpracticalError:
        raise ImpracticalError(f"'{clause.text}'") from None


def _sized(script: Script, step: TypicalStep) -> list[_Sized]:
    levels = step.levels.per_clause(script.mode, len(script.clauses))
    exhaustion = levels.sensitivity + math.log1p(-FUTILITY_SHARE)
    targets = Targets.of(levels)
    return [_size(script, clause, targets, exhaustion) for clause in script.clauses]


def sequential(script: Script) -> Estimate:
    """Applies to every condition that a testset can show; needs no label before the first commit.

    How many labels commits need later is a forecast: :mod:`easeci.plan.forecast`.
    """
    step = typical_step(script)
    levels = step.levels.per_clause(script.mode, len(script.clauses))
    try:
        sized = _sized(script, step)
    except ImpracticalError as error:
        return does_not_apply(Estimator.SEQUENTIAL, f"finds that {error.message}")
    return Estimate(
        estimator=Estimator.SEQUENTIAL,
        applies=True,
        reason="asks for labels only until the answer is known, and only where they matter",
        examples=max(item.size for item in sized),
        labels=0,
        in_each_slice=max((item.size for item in sized if item.in_a_slice), default=None),
        derivation=(
            f"Sized for {step.description}: α = {probability(levels.safety)} for safety, "
            f"β = {probability(levels.sensitivity)} for sensitivity, for each clause",
            f"A proof needs evidence of 1/α; β covers giving up too early ({FUTILITY_SHARE:.0%}) "
            f"and running out of examples ({1 - FUTILITY_SHARE:.0%})",
            *(i.line for i in sized),
            *_prefix_lines(script),
        ),
    )


def _prefix_lines(script: Script) -> list[str]:
    """What is labelled once for all commits, and why."""
    if all(clause.score.is_linear for clause in script.clauses):
        return []
    return [
        f"{clause.text}: the first {count(prefix.length)} examples"
        f"{'' if clause.score.slice is None else ' of the slice'} are labelled once, because they "
        f"show the share of {clause.score.class_share}, which is the same for all models; after "
        "them, only examples that count for the difference need labels"
        if clause.score.needs_old_model
        else f"{clause.text}: the first {count(prefix.length)} examples are labelled once, because "
        f"they show the share of {clause.score.class_share}, which is the same for all models"
        for clause, prefix in shared_prefixes(script).items()
    ] + (
        [
            f"The limits of shares take {float(PREFIX_SHARE):.0%} of δ and of β, once for the "
            "testset's life; the steps have the rest"
        ]
        if shared_prefixes(script)
        else []
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
        _labels_by_truth(script, item, targets, examples)
        for item in sized
        if item.clause.score.needs_labels
    ]
    return LabelsByTruth(
        unchanged=max((f.unchanged for f in found), default=0),
        middle=max((f.middle for f in found), default=0),
        better=max((f.better for f in found), default=0),
        worst=max((f.worst for f in found), default=0),
    )


def _labels_by_truth(
    script: Script, item: _Sized, targets: Targets, examples: int
) -> LabelsByTruth:
    if item.clause.score.is_linear:
        return forecast_labels(item.goal, targets, examples, item.difference)
    from easeci.plan.measured_clause import MeasuredClause

    return MeasuredClause.of(script, item.clause).forecast(targets, examples)


def _size(script: Script, clause: NormalClause, targets: Targets, exhaustion: float) -> _Sized:
    try:
        return _size_of_clause(script, clause, targets, exhaustion)
    except ImpracticalError:
        raise ImpracticalError(f"'{clause.text}'") from None


def _size_of_clause(
    script: Script, clause: NormalClause, targets: Targets, exhaustion: float
) -> _Sized:
    goal = Goal.of(clause, script.mode)
    planned = planned_difference(script, clause)
    if not clause.score.is_linear:
        # Here and not above: a plan of a condition on n, o and d must start fast.
        from easeci.plan.measured_clause import MeasuredClause

        measured = MeasuredClause.of(script, clause)
        size = measured.size(targets, exhaustion)
        return _Sized(clause, goal, measured.difference, _assumed(measured, planned.why), size)
    least = abs(goal.clear) / max(1e-9, float(clause.score.highest - clause.score.lowest) / 2.0)
    difference = min(1.0, max(float(planned.share), 1.01 * least))
    why = "whatever d is" if goal.proof.everywhere else planned.why
    size = examples_needed(goal, targets, exhaustion, difference)
    return _Sized(clause, goal, difference, why, size)


def _assumed(measured: MeasuredClause, difference: str) -> str:
    """What the size of a clause assumes, in words."""
    score = measured.score
    shares = [
        f"{exact_share(share)} of the labels are {name}"
        for name, share in zip(score.classes, measured.shares, strict=True)
    ]
    if score.top is not None:
        shares.append(f"against up to {count(measured.rivals)} models")
    if score.needs_old_model and score.blocks is None:
        shares.append(difference)
    return ", ".join(shares) or "whatever d is"
