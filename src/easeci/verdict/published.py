"""The published estimators: a mean score, and a tolerance around it.

They measure Φ to the script's ±ε if the testset is at least as large as planned. A smaller testset
gives a wider tolerance, and the result says so.

Labels may be missing. If the others do not decide the clause anyhow, its sample is not the whole
testset but only as many examples as were planned, the first ones in the testset's order, so that
no more labels are asked for than the plan said. The choice between the two samples costs no
reliability: means of growing samples are a reverse martingale, so by Doob's inequality the bounds
hold for all samples of at least the planned size at once.

A verdict does not wait for an unsettled label: the interval covers both of its extremes.
"""

from __future__ import annotations

from fractions import Fraction

from easeci.evidence.codes import Codes, Counts
from easeci.plan import ClauseTest, Observation
from easeci.script import Score
from easeci.verdict.logic import Interval
from easeci.verdict.result import ClauseResult, possible_results


def measure(test: ClauseTest, whole: Counts, codes: Codes) -> ClauseResult:
    """What the testset shows about one clause."""
    result = _measure_on(test, whole, whole)
    if result.final:
        return result
    seen = _observe(whole, whole, test.clause.score)
    needed = min(test.needed(case) for end in seen for case in end)
    if needed >= whole.examples:
        return result
    return _measure_on(test, whole, Counts.of(codes[:needed]))


def _measure_on(test: ClauseTest, whole: Counts, sample: Counts) -> ClauseResult:
    clause = test.clause
    # Two ends, equal unless labels are missing: at the least and at the greatest mean.
    ends = _observe(whole, sample, clause.score)
    intervals = [_hull(test, cases) for cases in ends]
    interval = intervals[0].hull(intervals[1])
    seen = [case for cases in ends for case in cases]
    tolerance = max(test.tolerance(case) for case in seen)
    return ClauseResult(
        clause=clause,
        estimate=seen[0].mean if all(case == seen[0] for case in seen) else None,
        shown=interval,
        result=interval.compare(clause.comparison, clause.threshold),
        possible=possible_results(intervals, clause),
        sample=sample.examples,
        tolerance=tolerance,
        widened=tolerance > clause.tolerance,
        needed=max(test.needed(case) for case in seen),
    )


def _hull(test: ClauseTest, cases: list[Observation]) -> Interval:
    first, *more = (Interval.around(case.mean, test.tolerance(case)) for case in cases)
    return first.hull(more[0]) if more else first


def _observe(whole: Counts, sample: Counts, score: Score) -> list[list[Observation]]:
    """Observations at both extremes of missing labels, and for each at both of unsettled ones."""
    difference = Fraction(whole.differing, whole.examples)
    return [
        [
            Observation(whole.examples, difference, sample.examples, case.mean(score))
            for case in end.worst_cases(score)
        ]
        for end in sample.extremes(score)
    ]
