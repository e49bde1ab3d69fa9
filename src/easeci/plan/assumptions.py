"""What a plan assumes about the future: the history at the last step, and d.

These assumptions only decide sizes. Safety holds for every history and every d. Sensitivity holds
only for the histories and the d assumed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from easeci.evidence.levels import StepLevels, levels_after
from easeci.plan.clause_shapes import upper_bound_of_difference
from easeci.plan.wording import count, exact
from easeci.script import Adaptivity, LinearClause, Mode, Script

PROOFS = Fraction(1, 8)
"""The largest share of proofs (passes in fp-free) that a plan assumes."""
COMMON_DIFFERENCE = Fraction(1, 10)
"""The largest d that a plan assumes if the script does not give one."""


@dataclass(frozen=True)
class TypicalStep:
    """The levels of the last step after a typical history, and a description of that step."""

    levels: StepLevels
    description: str


def typical_step(script: Script) -> TypicalStep:
    """The last step of a testset, after as many proofs as a plan assumes."""
    before = script.steps - 1
    proofs = 0 if script.adaptivity is Adaptivity.FIRST_CHANGE else round(before * PROOFS)
    levels = levels_after(
        proofs,
        before - proofs,
        delta=script.delta,
        beta=script.beta,
        adaptivity=script.adaptivity,
        steps=script.steps,
        fixed_models=not script.needs_old_model,
    )
    return TypicalStep(levels, _describe(script, proofs, before))


def _describe(script: Script, proofs: int, before: int) -> str:
    word = "passed" if script.mode is Mode.FP_FREE else "failed"
    if before == 0:
        return "the first step"
    if script.adaptivity is Adaptivity.FIRST_CHANGE or not script.needs_old_model:
        return f"each of {count(script.steps)} steps"
    return (
        f"step {count(script.steps)}, if at most {proofs} of the {count(before)} before it {word}"
    )


@dataclass(frozen=True)
class PlannedDifference:
    """The largest d that a testset is sized for, and the reason."""

    share: Fraction
    why: str


def planned_difference(script: Script, clause: LinearClause) -> PlannedDifference:
    """The largest d for which this clause must keep its promise.

    Another clause d < A ± B limits it. In fp-free only a commit that is clearly good by every
    clause is promised anything, so d is at most A − 2B. In fn-free a commit with d above A + 2B is
    clearly bad by d already. Without such a clause it is the script's expected difference.
    """
    for other in script.clauses:
        ceiling = upper_bound_of_difference(other)
        if ceiling is not None and other is not clause:
            zone = 2 * other.tolerance / abs(other.score.difference)
            share = min(Fraction(1), ceiling + zone)
            if script.mode is Mode.FP_FREE:
                share = ceiling - zone if ceiling > zone else ceiling
            why = f"d up to {exact(share)}, because of '{other.text}'"
            return PlannedDifference(share, why)
    if script.difference is not None:
        return PlannedDifference(
            script.difference, f"d up to {exact(script.difference)}, the expected difference"
        )
    return PlannedDifference(
        COMMON_DIFFERENCE, f"d up to {exact(COMMON_DIFFERENCE)}, because no difference is given"
    )
