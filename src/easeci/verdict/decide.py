"""The decision of one commit from its cells, by the estimator that the plan has chosen.

The published estimators measure Φ to the script's ±ε if the testset is at least as large as
planned. On a smaller one the tolerance is the wider one that so many examples do give, and the
result says so.

Labels may be missing. An example whose score does not depend on its label needs none; any other
counts at both of its extremes, so that an answer is given only if no missing label could change
it. If labels are missing, the sample of a clause is not the whole testset but as many examples as
were planned, the first ones along the testset's order, so that no more labels are asked for than
the plan said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from easeci.evidence.cells import CODE_OF, Code, Codes, Counts
from easeci.plan import ClauseTest, Observation, Plan
from easeci.script import Estimator, LinearClause, Score
from easeci.script.cells import AGREEING, DIFFERING
from easeci.verdict.logic import Interval, Outcome, best, conjunction, passes, worst


@dataclass(frozen=True)
class ClauseResult:
    """What the testset says of one clause.

    ``estimate`` is None while labels are missing. ``widened`` says that the sample is smaller
    than the ``needed`` one, so that ``tolerance`` is not the script's but the wider one that
    holds. ``possible`` are the outcomes that missing labels could still lead to.
    """

    clause: LinearClause
    estimate: Fraction | None
    interval: Interval
    tolerance: Fraction
    widened: bool
    outcome: Outcome
    possible: frozenset[Outcome]
    sample: int
    needed: int

    @property
    def settled(self) -> bool:
        return len(self.possible) == 1


@dataclass(frozen=True)
class Verdict:
    """The owner's answer for one commit.

    ``passed`` is None while it depends on labels that are missing; ``wanted`` then holds the
    positions, along the testset's order, of the examples to label.
    """

    estimator: Estimator
    outcome: Outcome
    passed: bool | None
    clauses: tuple[ClauseResult, ...]
    examples: int
    labels: int
    wanted: tuple[int, ...]

    @property
    def widened(self) -> bool:
        return any(result.widened for result in self.clauses)


def decide(plan: Plan, codes: Codes) -> Verdict:
    """The verdict on a commit whose examples have these codes, in the testset's order."""
    whole = Counts.of(codes)
    estimate = plan.chosen
    results = tuple(_measure(test, whole, codes) for test in estimate.tests)
    # Conjunction and verdict both grow with each clause's outcome: the two ends say it all.
    least = conjunction(worst(result.possible) for result in results)
    most = conjunction(best(result.possible) for result in results)
    answers = {passes(outcome, plan.script.mode) for outcome in (least, most)}
    passed = answers.pop() if len(answers) == 1 else None
    return Verdict(
        estimator=estimate.estimator,
        outcome=conjunction(result.outcome for result in results),
        passed=passed,
        clauses=results,
        examples=whole.examples,
        labels=_consulted(results, whole, codes),
        wanted=() if passed is not None else _wanted([r for r in results if not r.settled], codes),
    )


def _measure(test: ClauseTest, whole: Counts, codes: Codes) -> ClauseResult:
    clause, score = test.clause, test.clause.score
    sample = whole
    if whole.missing_labels(score):
        needed = min(test.needed(seen) for seen in _observe(whole, whole, score))
        if needed < whole.examples:
            sample = Counts.of(codes[:needed])
    # Two observations, equal unless labels are missing: at the least and at the greatest mean.
    ends = _observe(whole, sample, score)
    intervals = [Interval.around(seen.mean, test.tolerance(seen)) for seen in ends]
    interval = intervals[0].hull(intervals[1])
    tolerance = max(test.tolerance(seen) for seen in ends)
    return ClauseResult(
        clause=clause,
        estimate=ends[0].mean if ends[0] == ends[1] else None,
        interval=interval,
        tolerance=tolerance,
        widened=tolerance > clause.tolerance,
        outcome=interval.compare(clause.comparison, clause.threshold),
        possible=_possible(intervals, clause),
        sample=sample.examples,
        needed=max(test.needed(seen) for seen in ends),
    )


def _observe(whole: Counts, sample: Counts, score: Score) -> list[Observation]:
    difference = Fraction(whole.differing, whole.examples)
    return [
        Observation(whole.examples, difference, sample.examples, mean)
        for mean in sample.mean_range(score)
    ]


def _possible(intervals: list[Interval], clause: LinearClause) -> frozenset[Outcome]:
    """What missing labels can lead to: as the mean grows, False, Unknown, True, or back."""
    outcomes = {end.compare(clause.comparison, clause.threshold) for end in intervals}
    if outcomes == {Outcome.TRUE, Outcome.FALSE}:
        outcomes.add(Outcome.UNKNOWN)
    return frozenset(outcomes)


@dataclass(frozen=True)
class _Reach:
    """How far along the order labels matter to some clause, where the models agree or differ."""

    agreeing: int
    differing: int

    @staticmethod
    def of(results: Iterable[ClauseResult]) -> _Reach:
        samples = [(result.clause.score, result.sample) for result in results]
        return _Reach(
            max((n for score, n in samples if score.label_matters_when_agreeing), default=0),
            max((n for score, n in samples if score.label_matters_when_differing), default=0),
        )


def _consulted(results: tuple[ClauseResult, ...], whole: Counts, codes: Codes) -> int:
    """How many labels the results rest on, each counted once."""
    reach = _Reach.of(results)
    agreeing, differing = (
        whole if n == whole.examples else Counts.of(codes[:n])
        for n in (reach.agreeing, reach.differing)
    )
    return sum(agreeing[CODE_OF[cell]] for cell in AGREEING) + sum(
        differing[CODE_OF[cell]] for cell in DIFFERING
    )


def _wanted(results: Iterable[ClauseResult], codes: Codes) -> tuple[int, ...]:
    """Where the labels are missing that the given results wait for."""
    reach = _Reach.of(results)
    agreeing = np.flatnonzero(codes[: reach.agreeing] == Code.AGREE_UNLABELLED)
    differing = np.flatnonzero(codes[: reach.differing] == Code.DIFFER_UNLABELLED)
    return tuple(int(position) for position in np.sort(np.concatenate([agreeing, differing])))
