"""What a plan assumes about the future: the history at the last step, and d.

These assumptions only decide sizes. Safety holds for every history and every d. Sensitivity holds
only for the histories and the d assumed here.
"""

from __future__ import annotations

from dataclasses import dataclass

from easeci.evidence.levels import StepLevels
from easeci.plan.expected_difference import (
    COMMON_DIFFERENCE,
    PlannedDifference,
    planned_difference,
)
from easeci.plan.prefix import PROOFS, levels_of_step, proofs_before_last
from easeci.plan.wording import count
from easeci.script import Adaptivity, Mode, Script

__all__ = [
    "COMMON_DIFFERENCE",
    "PROOFS",
    "PlannedDifference",
    "TypicalStep",
    "planned_difference",
    "typical_step",
]


@dataclass(frozen=True)
class TypicalStep:
    """The levels of the last step after a typical history, and a description of that step."""

    levels: StepLevels
    description: str


def typical_step(script: Script) -> TypicalStep:
    """The last step of a testset, after as many proofs as a plan assumes."""
    before, proofs = script.steps - 1, proofs_before_last(script)
    levels = levels_of_step(script, proofs, before - proofs)
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
