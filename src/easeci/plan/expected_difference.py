"""How much commits change, as far as a script says it: the largest d that a testset is sized for.

It only decides sizes. Safety holds for every d.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from easeci.plan.clause_shapes import upper_bound_of_difference
from easeci.plan.wording import exact
from easeci.script import Mode, NormalClause, Script

COMMON_DIFFERENCE = Fraction(1, 10)
"""The largest d that a plan assumes if the script does not give one."""


@dataclass(frozen=True)
class PlannedDifference:
    """The largest d that a testset is sized for, and the reason."""

    share: Fraction
    why: str


def planned_difference(script: Script, clause: NormalClause) -> PlannedDifference:
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
