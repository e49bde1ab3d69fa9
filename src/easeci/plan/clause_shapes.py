"""Shapes of scores and clauses for which some methods need fewer examples."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from easeci.script import LinearClause, Score


def difference_of_accuracies(score: Score) -> Fraction | None:
    """The coefficient of ``n - o`` if the score is a multiple of it, or None."""
    if score.difference == 0 and score.new != 0 and score.new == -score.old:
        return score.new
    return None


def single_variable(score: Score) -> tuple[int, Fraction] | None:
    """Which of n, o and d (0, 1, 2) the score is a multiple of, and the coefficient; or None."""
    coefficients = (score.new, score.old, score.difference)
    found = [(index, c) for index, c in enumerate(coefficients) if c != 0]
    return found[0] if len(found) == 1 else None


def upper_bound_of_difference(clause: LinearClause) -> Fraction | None:
    """A if the clause is d < A, or None."""
    form = clause.greater
    score = form.score
    if score.new == 0 and score.old == 0 and score.difference < 0:
        return form.threshold / score.difference
    return None


def known_difference(clauses: Iterable[LinearClause], clause: LinearClause) -> Fraction | None:
    """The least A of the other clauses of the form d < A, or None."""
    bounds = [upper_bound_of_difference(other) for other in clauses if other is not clause]
    return min((bound for bound in bounds if bound is not None), default=None)
