"""Script → Plan: every estimator asked, one recommended, and what looser tolerances would save."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from easeci.errors import ScriptError
from easeci.plan.baseline import hoeffding
from easeci.plan.estimate import Estimate
from easeci.plan.patterns import pattern1, pattern1_active, pattern2, pattern3
from easeci.plan.wording import count, exact
from easeci.script import Estimator, Script

ESTIMATORS: tuple[Callable[[Script], Estimate], ...] = (
    hoeffding,
    pattern1,
    pattern1_active,
    pattern2,
    pattern3,
)

PRACTICAL_LABELS = 60_000
"""The paper: 30,000 to 60,000 labels for every 32 evaluations are practical for many teams."""
PRACTICAL_STEPS = 32

COMMON_DIFFERENCE = Fraction(1, 10)


@dataclass(frozen=True)
class Saving:
    """The paper's cheap mode: every tolerance ``points`` accuracy points wider."""

    points: int
    labels_in_all: int
    factor: float
    assumed_difference: Fraction | None


@dataclass(frozen=True)
class Plan:
    """What a script needs, by every estimator."""

    script: Script
    estimates: tuple[Estimate, ...]
    recommended: Estimator
    why: str
    savings: tuple[Saving, ...]

    def estimate(self, estimator: Estimator) -> Estimate:
        return next(e for e in self.estimates if e.estimator is estimator)

    @property
    def chosen(self) -> Estimate:
        """The estimate that decides commits: the script's own choice, or the recommended one."""
        if self.script.estimator is Estimator.AUTO:
            return self.estimate(self.recommended)
        return self.estimate(self.script.estimator)

    def practical(self, estimate: Estimate) -> bool | None:
        """Whether the paper would call it practical; None where its size is not known yet."""
        labels = estimate.labels_in_all(self.script.steps)
        if labels is None:
            return None
        return labels * PRACTICAL_STEPS <= PRACTICAL_LABELS * self.script.steps


def plan(script: Script) -> Plan:
    """Ask every estimator; an estimator that the script names must apply."""
    estimates = tuple(estimator(script) for estimator in ESTIMATORS)
    recommended, why = _recommend(script, estimates)
    chosen = recommended
    if script.estimator is not Estimator.AUTO:
        chosen = next(e for e in estimates if e.estimator is script.estimator)
        if not chosen.applies:
            raise ScriptError(
                f"estimator {script.estimator} does not fit this condition: it {chosen.reason}",
                hint="Choose another one, or auto.",
            )
    return Plan(
        script=script,
        estimates=estimates,
        recommended=recommended.estimator,
        why=why,
        savings=_savings(script, chosen),
    )


def _recommend(script: Script, estimates: tuple[Estimate, ...]) -> tuple[Estimate, str]:
    """The fewest labels over the testset's life; on a tie, the fewest before the first commit.

    An estimator whose size is known only when it runs (Pattern 2 without an expected difference)
    is preferred to the baseline: it needs fewer labels unless the models differ nearly everywhere.
    """
    unsized = [e for e in estimates if e.applies and e.examples is None]
    if unsized:
        return unsized[0], _why_unsized(script, unsized[0])
    sized = [e for e in estimates if e.applies]
    best = min(sized, key=lambda e: (_in_all(e, script), e.labels))
    others = [e for e in sized if e is not best]
    labels = _in_all(best, script)
    if not script.needs_labels:
        return best, "the condition is on d alone, so no labels are needed at all"
    if not others:
        return best, f"no other estimator fits this condition; {best.reason}"
    if labels == min(_in_all(e, script) for e in others):
        per_commit = best.labels_per_commit or 0
        return best, (
            f"the same {count(labels)} labels at most, but none before the first commit and at "
            f"most {count(per_commit)} for each; {best.reason}"
        )
    worst = max(_in_all(e, script) for e in others)
    return best, (
        f"at most {count(labels)} labels in all, {worst / labels:.1f} times fewer than "
        f"{_worst_name(others, script)}; {best.reason}"
    )


def _in_all(estimate: Estimate, script: Script) -> int:
    labels = estimate.labels_in_all(script.steps)
    assert labels is not None
    return labels


def _worst_name(estimates: list[Estimate], script: Script) -> str:
    return str(max(estimates, key=lambda e: _in_all(e, script)).estimator)


def _why_unsized(script: Script, estimate: Estimate) -> str:
    baseline = hoeffding(script)
    assert baseline.examples is not None
    share = _break_even(script, baseline.examples)
    return (
        f"it needs fewer labels than the baseline's {count(baseline.examples)} as long as a commit "
        f"changes less than {exact(share)} of the predictions; {estimate.reason}"
    )


def _break_even(script: Script, examples: int) -> Fraction:
    """The largest expected difference, in whole points, for which Pattern 2 needs fewer labels."""
    for points in range(100, 0, -1):
        difference = Fraction(points, 100)
        estimate = pattern2(replace(script, difference=difference))
        if _in_all(estimate, script) < examples:
            return difference
    return Fraction(0)


def _savings(script: Script, chosen: Estimate) -> tuple[Saving, ...]:
    """What the chosen estimator would need at wider tolerances, or the best if it is free."""
    if not script.needs_labels:
        return ()
    assumed = None
    if chosen.examples is None:
        # Known only when it runs: compare at a difference that is common.
        script, assumed = replace(script, difference=COMMON_DIFFERENCE), COMMON_DIFFERENCE
    now = _fewest_labels(script, chosen.estimator)
    savings = []
    for points in (1, 2):
        labels = _fewest_labels(_loosened(script, points), chosen.estimator)
        savings.append(Saving(points, labels, now / labels, assumed))
    return tuple(savings)


def _fewest_labels(script: Script, preferred: Estimator) -> int:
    sized = [e for e in (estimator(script) for estimator in ESTIMATORS) if e.examples is not None]
    named = [e for e in sized if e.estimator is preferred]
    return min(_in_all(e, script) for e in named or sized)


def _loosened(script: Script, points: int) -> Script:
    return replace(
        script,
        clauses=tuple(
            replace(clause, tolerance=clause.tolerance + Fraction(points, 100))
            for clause in script.clauses
        ),
    )
