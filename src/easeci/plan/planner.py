"""Script → Plan: the numbers of a script, and their summary."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from easeci.errors import ScriptError
from easeci.plan.commit_mix import MIXED, CommitMix
from easeci.plan.estimate import ClauseTest, Estimate
from easeci.plan.numbers import ExpectedLife, PlanNumbers, Row, Saving, estimate_by
from easeci.plan.sequential import sequential_size
from easeci.plan.summary import summary_lines
from easeci.script import Estimator, Script

__all__ = ["ExpectedLife", "Plan", "Row", "Saving", "design", "plan"]


@dataclass(frozen=True)
class Plan(PlanNumbers):
    """What a script needs, if commits are like those of the ``mix``. Printed, it is a summary."""

    def __str__(self) -> str:
        """What `easeci plan` prints: at most 12 lines of 80 columns."""
        return "\n".join(line.text for line in summary_lines(self))


@lru_cache(maxsize=64)
def design(script: Script) -> tuple[ClauseTest, ...]:
    """The tests of the published estimator that the script names, without a whole plan."""
    if not script.published_estimator:
        raise ValueError(f"{script.estimator} is not a published estimator")
    estimate = estimate_by(script, script.estimator)
    _require_fit(script, estimate)
    return estimate.tests


def _require_fit(script: Script, estimate: Estimate) -> None:
    if not estimate.applies:
        if estimate.estimator is Estimator.SEQUENTIAL:
            sequential_size(script)  # raises an error that names the clause
        raise ScriptError(
            f"estimator {estimate.estimator} does not fit this condition: it {estimate.reason}",
            hint="Choose another estimator, or auto.",
        )


@lru_cache(maxsize=64)
def plan(script: Script, mix: CommitMix = MIXED) -> Plan:
    """Plan a script. Raises if the estimator that it names does not fit, or no testset would do."""
    made = Plan(script, mix)
    _require_fit(script, made.chosen)
    return made
