"""Shapes of scores and clauses for which some methods need fewer examples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from easeci.script import NormalClause, Score


def difference_of_accuracies(score: Score) -> Fraction | None:
    """The coefficient of ``n - o`` if the score is a multiple of it, or None."""
    if not score.is_linear:
        return None
    if score.difference == 0 and score.new != 0 and score.new == -score.old:
        return score.new
    return None


def single_variable(score: Score) -> tuple[int, Fraction] | None:
    """Which of n, o and d (0, 1, 2) the score is a multiple of, and the coefficient; or None."""
    if not score.is_linear:
        return None
    coefficients = (score.new, score.old, score.difference)
    found = [(index, c) for index, c in enumerate(coefficients) if c != 0]
    return found[0] if len(found) == 1 else None


def upper_bound_of_difference(clause: NormalClause) -> Fraction | None:
    """A if the clause is d < A, or None."""
    if not clause.score.is_linear:
        return None
    form = clause.greater
    score = form.score
    if score.new == 0 and score.old == 0 and score.difference < 0:
        return form.threshold / score.difference
    return None


def known_difference(clauses: Iterable[NormalClause], clause: NormalClause) -> Fraction | None:
    """The least A of the other clauses of the form d < A, or None."""
    bounds = [upper_bound_of_difference(other) for other in clauses if other is not clause]
    return min((bound for bound in bounds if bound is not None), default=None)


@dataclass(frozen=True)
class ConditionalBinomial:
    """A score that is ``scale`` times the share of ``successes`` among ``trials``.

    Both are outcomes of the score's alphabet. Given the number of trials, the number of successes
    is binomial, and its probability is the score divided by the scale.
    """

    trials: frozenset[int]
    successes: frozenset[int]
    scale: Fraction


def conditional_binomial(score: Score) -> ConditionalBinomial | None:
    """A score as a share among some of the examples, such as precision(k) and recall(k), or None.

    Also for n, o and d in a slice: there every example of the slice is a trial.
    """
    if score.subtracted is not None or score.blocks is not None or score.top is not None:
        return None
    ratio = score.ratio
    weights, gains = set(ratio.denominator) - {0}, set(ratio.numerator) - {0}
    if len(weights) != 1 or len(gains) != 1:
        return None
    trials = frozenset(o for o, weight in enumerate(ratio.denominator) if weight)
    successes = frozenset(o for o, gain in enumerate(ratio.numerator) if gain)
    if not successes < trials:
        return None
    return ConditionalBinomial(trials, successes, gains.pop() / weights.pop())


def exact_obstacle(clauses: Iterable[NormalClause]) -> NormalClause | None:
    """The first clause that the exact estimator can't decide, or None."""
    for clause in clauses:
        if not clause.score.is_linear and conditional_binomial(clause.score) is None:
            return clause
    return None


def first_beyond_cells(clauses: Iterable[NormalClause]) -> NormalClause | None:
    """The first clause that is not linear in n, o and d over all examples, or None."""
    return next((clause for clause in clauses if not clause.score.is_linear), None)
