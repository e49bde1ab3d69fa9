"""What a plan assumes of the future: the history that a testset must still serve, and d.

Nothing rests on these but sizes. Safety holds at every history and for every d; sensitivity holds
as far as stated here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from easeci.evidence.levels import FAIL, PASS, StepLevels, proof_bit, step_levels
from easeci.plan.clause_shapes import upper_bound_of_difference
from easeci.plan.wording import count, exact
from easeci.script import Adaptivity, LinearClause, Mode, Script

PROOFS = Fraction(1, 8)
"""The share of answers that need proof (passes in fp-free) up to which a plan holds."""
COMMON_DIFFERENCE = Fraction(1, 10)
"""The largest d that is reckoned with if the script says nothing of it."""


@dataclass(frozen=True)
class TypicalStep:
    """The levels of the last step after a typical history, and the history in words."""

    levels: StepLevels
    description: str


def typical_step(script: Script) -> TypicalStep:
    """The last step that the testset serves, after as many proofs as a plan reckons with."""
    before = script.steps - 1
    proofs = 0 if script.adaptivity is Adaptivity.FIRST_CHANGE else round(before * PROOFS)
    proof = proof_bit(script.mode)
    other = FAIL if proof == PASS else PASS
    levels = step_levels(
        delta=script.delta,
        beta=script.beta,
        mode=script.mode,
        adaptivity=script.adaptivity,
        steps=script.steps,
        history=proof * proofs + other * (before - proofs),
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
        f"step {count(script.steps)}, if no more than {proofs} of the {count(before)} before it "
        f"{word}"
    )


@dataclass(frozen=True)
class PlannedDifference:
    """The largest d that a testset is sized for, and where it comes from."""

    share: Fraction
    why: str


def planned_difference(script: Script, clause: LinearClause) -> PlannedDifference:
    """What another clause d < A ± B leaves to be promised; otherwise what the script expects.

    In fp-free a commit must be clearly good by every clause, so nothing is promised beyond
    A − 2B. In fn-free it must be clearly bad by some clause, and beyond A + 2B it is so by d.
    """
    for other in script.clauses:
        ceiling = upper_bound_of_difference(other)
        if ceiling is not None and other is not clause:
            zone = 2 * other.tolerance / abs(other.score.difference)
            share = min(Fraction(1), ceiling + zone)
            if script.mode is Mode.FP_FREE:
                share = ceiling - zone if ceiling > zone else ceiling
            why = f"'{other.text}' leaves d up to {exact(share)} to be promised"
            return PlannedDifference(share, why)
    if script.difference is not None:
        return PlannedDifference(script.difference, f"the expected d of {exact(script.difference)}")
    return PlannedDifference(
        COMMON_DIFFERENCE, f"d up to {exact(COMMON_DIFFERENCE)}, as no difference is given"
    )
