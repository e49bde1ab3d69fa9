"""Script → Plan: asks every estimator, recommends one, and shows what looser tolerances save."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from easeci.errors import ScriptError
from easeci.plan.assumptions import COMMON_DIFFERENCE
from easeci.plan.baseline import hoeffding
from easeci.plan.estimate import ClauseTest, Estimate
from easeci.plan.exact import exact_estimate
from easeci.plan.patterns import pattern1, pattern1_active, pattern2, pattern3
from easeci.plan.sequential import sequential
from easeci.plan.wording import count
from easeci.script import Estimator, Script

PUBLISHED: tuple[Callable[[Script], Estimate], ...] = (
    hoeffding,
    pattern1,
    pattern1_active,
    pattern2,
    pattern3,
)
PUBLISHED_NAMES = (
    Estimator.HOEFFDING,
    Estimator.PATTERN1,
    Estimator.PATTERN1_ACTIVE,
    Estimator.PATTERN2,
    Estimator.PATTERN3,
)
ESTIMATORS = (*PUBLISHED, exact_estimate, sequential)

PRACTICAL_LABELS = 60_000
"""According to the paper, 30,000 to 60,000 labels per 32 evaluations are practical for many."""
PRACTICAL_STEPS = 32


@dataclass(frozen=True)
class Saving:
    """The paper's cheap mode: every tolerance ``points`` accuracy points wider.

    ``labels_in_all`` and ``factor`` are those of the best published estimator.
    """

    points: int
    labels_in_all: int
    factor: float


@dataclass(frozen=True)
class Plan:
    """What a script needs, according to each estimator."""

    script: Script
    estimates: tuple[Estimate, ...]
    recommended: Estimator
    why: str
    savings: tuple[Saving, ...]

    def estimate(self, estimator: Estimator) -> Estimate:
        """The estimate of one estimator."""
        return next(e for e in self.estimates if e.estimator is estimator)

    @property
    def chosen(self) -> Estimate:
        """The estimate that decides commits: the script's own choice, or the recommended one."""
        if self.script.estimator is Estimator.AUTO:
            return self.estimate(self.recommended)
        return self.estimate(self.script.estimator)

    def practical(self, estimate: Estimate) -> bool | None:
        """Whether the paper would call it practical; None if its size is not known yet."""
        labels = estimate.labels_in_all(self.script.steps)
        if labels is None:
            return None
        return labels * PRACTICAL_STEPS <= PRACTICAL_LABELS * self.script.steps


@lru_cache(maxsize=64)
def design(script: Script) -> tuple[ClauseTest, ...]:
    """The tests of the published estimator that the script names, without a whole plan."""
    for estimator in PUBLISHED:
        estimate = estimator(script)
        if estimate.estimator is script.estimator:
            _require_fit(estimate)
            return estimate.tests
    raise ValueError(f"{script.estimator} is not a published estimator")


def _require_fit(estimate: Estimate) -> None:
    if not estimate.applies:
        raise ScriptError(
            f"estimator {estimate.estimator} does not fit this condition: it {estimate.reason}",
            hint="Choose another estimator, or auto.",
        )


@lru_cache(maxsize=64)
def plan(script: Script) -> Plan:
    """Plan a script with every estimator. Raises if the estimator that it names does not fit."""
    estimates = tuple(estimator(script) for estimator in ESTIMATORS)
    recommended, why = _recommend(script, estimates)
    if script.estimator is not Estimator.AUTO:
        _require_fit(next(e for e in estimates if e.estimator is script.estimator))
    return Plan(
        script=script,
        estimates=estimates,
        recommended=recommended.estimator,
        why=why,
        savings=_savings(script),
    )


def _recommend(script: Script, estimates: tuple[Estimate, ...]) -> tuple[Estimate, str]:
    """Sequential if labels are needed; otherwise exact, which needs the fewest examples."""
    by_name = {estimate.estimator: estimate for estimate in estimates}
    if not script.needs_labels:
        why = "the condition is on d alone, so it needs no labels and the fewest examples"
        return by_name[Estimator.EXACT], why
    chosen = by_name[Estimator.SEQUENTIAL]
    assert chosen.labels_per_commit is not None
    best = _best_published(script)
    return chosen, (
        f"about {count(chosen.labels_per_commit)} labels per commit in the worst case, where the "
        f"best published estimator, {best.estimator}, needs {_effort(best)}; it {chosen.reason}"
    )


def _best_published(script: Script) -> Estimate:
    """The published estimator with the fewest labels; Pattern 2 assumes a common difference."""
    if script.difference is None:
        script = replace(script, difference=COMMON_DIFFERENCE)
    sized = [e for e in (estimator(script) for estimator in PUBLISHED) if e.examples is not None]
    return min(sized, key=lambda e: (_labels_in_all(e, script), e.labels))


def _effort(estimate: Estimate) -> str:
    if estimate.labels_per_commit:
        return f"{count(estimate.labels_per_commit)} per commit"
    return f"{count(estimate.labels or 0)} up front"


def _labels_in_all(estimate: Estimate, script: Script) -> int:
    labels = estimate.labels_in_all(script.steps)
    assert labels is not None
    return labels


def _savings(script: Script) -> tuple[Saving, ...]:
    """The paper's cheap mode: what the best published estimator saves at wider tolerances."""
    if not script.needs_labels:
        return ()
    best = _best_published(script)
    now = _labels_in_all(best, script)
    savings = []
    for points in (1, 2):
        labels = _labels_in_all(_best_published(_loosened(script, points)), script)
        savings.append(Saving(points, labels, now / labels))
    return tuple(savings)


def _loosened(script: Script, points: int) -> Script:
    return replace(
        script,
        clauses=tuple(
            replace(clause, tolerance=clause.tolerance + Fraction(points, 100))
            for clause in script.clauses
        ),
    )
