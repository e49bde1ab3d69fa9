"""The exact estimator: one-sided limits for Φ by test inversion, at the levels of the step.

The limit on the side that needs proof (fp-free: that the clause holds; fn-free: that it does not)
is at the step's safety level; the other one is at the level of claims, which only the owner sees.
One variable has Clopper and Pearson's limits, and so has a share among some of the examples, such
as a precision; ``n - o`` those of the trinomial, any other score
Chernoff's on the joint score of the five cells.

If the condition has a clause d < A, the proof for another clause may assume d ≤ A. In fp-free, if
d is larger, the clause on d prevents a wrong pass; in fn-free, if d is larger, the condition is
false and nothing is promised.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from easeci.bounds import binomial, chernoff, trinomial
from easeci.bounds.chernoff import Scores
from easeci.bounds.trinomial import PairedCounts
from easeci.evidence.cells import CODE_OF
from easeci.evidence.codes import Counts
from easeci.evidence.labelled import LabelledTestset
from easeci.evidence.levels import StepLevels
from easeci.plan.clause_shapes import (
    conditional_binomial,
    difference_of_accuracies,
    known_difference,
    single_variable,
)
from easeci.script import Comparison, Mode, NormalClause, Score
from easeci.script.outcomes import Cell
from easeci.verdict.logic import Interval
from easeci.verdict.result import ClauseResult, possible_results


def measure(
    clauses: Sequence[NormalClause], mode: Mode, levels: StepLevels, testset: LabelledTestset
) -> tuple[ClauseResult, ...]:
    """What the testset shows about each clause; missing labels count at both extremes.

    Unsettled labels count at both extremes too, but the verdict does not wait for them: the
    interval covers both.
    """
    shares = levels.per_clause(mode, len(clauses))
    return tuple(
        _measure(
            clause,
            mode,
            shares,
            testset.reading(clause.score).counts,
            known_difference(clauses, clause),
        )
        for clause in clauses
    )


def _measure(
    clause: NormalClause,
    mode: Mode,
    levels: StepLevels,
    whole: Counts,
    largest_difference: Fraction | None,
) -> ClauseResult:
    score = clause.score
    proof_is_lower = (clause.comparison is Comparison.GREATER) == (mode is Mode.FP_FREE)
    known = None if largest_difference is None else float(largest_difference)

    def limits(counts: Counts) -> Interval:
        if proof_is_lower:
            low = lower_limit(score, counts, levels.safety, known)
            high = -lower_limit(-score, counts, levels.claim, None)
        else:
            low = lower_limit(score, counts, levels.claim, None)
            high = -lower_limit(-score, counts, levels.safety, known)
        # The data may contradict d < A; then the limits still include the observed mean.
        mean = counts.value(score)
        if mean is None:
            return Interval(score.lowest, score.highest)
        return Interval(min(Fraction(low), mean), max(Fraction(high), mean))

    def worst(counts: Counts) -> Interval:
        ends = [limits(case) for case in counts.worst_cases(score)]
        return ends[0].hull(ends[-1])

    low_counts, high_counts = whole.extremes(score)
    intervals = [worst(low_counts)]
    # If no label is missing, both extremes are the same.
    intervals.append(worst(high_counts) if high_counts != low_counts else intervals[0])
    interval = intervals[0].hull(intervals[1])
    low_mean, high_mean = whole.value_range(score)
    return ClauseResult(
        clause=clause,
        estimate=low_mean if low_mean == high_mean else None,
        shown=interval,
        result=interval.compare(clause.comparison, clause.threshold),
        possible=possible_results(intervals, clause),
        sample=whole.examples,
    )


def lower_limit(
    score: Score, counts: Counts, log_alpha: float, largest_difference: float | None
) -> float:
    """Φ is at least this, except with probability alpha, given complete counts."""
    if not score.is_linear:
        return _conditional_limit(score, counts, log_alpha)
    single = single_variable(score)
    if single is not None:
        return _single_variable_limit(single, counts, log_alpha)
    scale = difference_of_accuracies(score)
    if scale is not None:
        return _difference_limit(scale, counts, log_alpha, largest_difference)
    scores = Scores.of_linear(
        float(score.new), float(score.old), float(score.difference), largest_difference or 1.0
    )
    return chernoff.lower_limit(scores, float(counts.mean(score)), counts.examples, log_alpha)


def _conditional_limit(score: Score, counts: Counts, log_alpha: float) -> float:
    """Given how many examples are trials, the successes among them are binomial."""
    shape = conditional_binomial(score)
    assert shape is not None
    trials, successes = (sum(counts[o] for o in some) for some in (shape.trials, shape.successes))
    if trials == 0:
        return float(score.lowest)
    limit = binomial.lower_limit if shape.scale > 0 else binomial.upper_limit
    return float(shape.scale) * limit(successes, trials, log_alpha)


def _single_variable_limit(single: tuple[int, Fraction], counts: Counts, log_alpha: float) -> float:
    variable, scale = single
    successes = sum(counts[CODE_OF[cell]] for cell in Cell if cell.value[variable])
    if scale > 0:
        return float(scale) * binomial.lower_limit(successes, counts.examples, log_alpha)
    return float(scale) * binomial.upper_limit(successes, counts.examples, log_alpha)


def _difference_limit(
    scale: Fraction, counts: Counts, log_alpha: float, largest_difference: float | None
) -> float:
    paired = PairedCounts(
        counts[CODE_OF[Cell.NEW_RIGHT]], counts[CODE_OF[Cell.OLD_RIGHT]], counts.examples
    )
    if scale < 0:
        paired = paired.mirrored()
    if largest_difference is None:
        limit = trinomial.lower_limit_free(paired, log_alpha)
    else:
        limit = trinomial.lower_limit(
            paired.total, paired.sample_size, largest_difference, log_alpha
        )
    return float(abs(scale)) * limit
