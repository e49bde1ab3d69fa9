"""From the tree to the linear normal form: ``Φ > c ± ε`` or ``Φ < c ± ε``."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from fractions import Fraction

from easeci.script.cells import Score
from easeci.script.problem import Problem, shortened
from easeci.script.syntax import (
    Clause,
    Comparison,
    Condition,
    Expression,
    Negation,
    Number,
    Operation,
    Operator,
    Span,
    Variable,
    unparse_expression,
)

VARIABLES = {
    "n": "accuracy of the new model",
    "o": "accuracy of the old model",
    "d": "share of predictions that differ",
}
_SYNONYMS = {
    "new": "n",
    "old": "o",
    "diff": "d",
    "difference": "d",
    "disagreement": "d",
    "delta": "d",
    "baseline": "o",
    "accuracy": "n",
    "acc": "n",
}


@dataclass(frozen=True)
class LinearClause:
    """A clause in normal form, with exact rational constants.

    ``score`` is Φ; the clause holds if Φ > ``threshold`` (or <, by ``comparison``).
    """

    score: Score
    comparison: Comparison
    threshold: Fraction
    tolerance: Fraction
    text: str

    @property
    def greater(self) -> LinearClause:
        """The same clause in the form Φ > c: a ``<`` is negated on both sides."""
        if self.comparison is Comparison.GREATER:
            return self
        return LinearClause(
            -self.score, Comparison.GREATER, -self.threshold, self.tolerance, self.text
        )


@dataclass(frozen=True)
class _Linear:
    """Σ coefficient · variable + constant: the value of a part of an expression."""

    coefficients: tuple[Fraction, Fraction, Fraction]
    constant: Fraction

    def plus(self, other: _Linear, factor: Fraction) -> _Linear:
        n, o, d = (
            mine + factor * theirs
            for mine, theirs in zip(self.coefficients, other.coefficients, strict=True)
        )
        return _Linear((n, o, d), self.constant + factor * other.constant)

    @property
    def is_constant(self) -> bool:
        return not any(self.coefficients)


_ZERO = _Linear((Fraction(0), Fraction(0), Fraction(0)), Fraction(0))


def compile_condition(condition: Condition) -> tuple[LinearClause, ...]:
    """The clauses in normal form. Raises :class:`Problem` if a clause makes no sense."""
    return tuple(compile_clause(clause) for clause in condition.clauses)


def compile_clause(clause: Clause) -> LinearClause:
    """One clause in normal form. Raises :class:`Problem` if the clause makes no sense."""
    tolerance = Fraction(clause.tolerance.value)
    if tolerance <= 0:
        raise Problem(
            "the tolerance must be greater than 0",
            clause.tolerance.span,
            "No finite testset can measure exactly; +/- 0.01 is one accuracy point.",
        )
    left, right = _gather(clause.left), _gather(clause.right)
    comparison = clause.comparison
    if left.is_constant and not right.is_constant:
        # Messages show 0.02 < n - o as n - o > 0.02, because users think of it in that order.
        left, right = right, left
        comparison = _MIRRORED[comparison]
    form = left.plus(right, Fraction(-1))
    if form.is_constant:
        raise Problem(
            "this clause does not depend on n, o or d",
            clause.span,
            "Compare an expression in n, o or d with a constant, such as n > 0.8 +/- 0.05.",
        )
    _require_ordinary_size([*form.coefficients, form.constant, tolerance], clause.span)
    linear = LinearClause(
        score=Score(*form.coefficients),
        comparison=comparison,
        threshold=-form.constant,
        tolerance=tolerance,
        text=str(clause),
    )
    _require_both_answers_possible(linear, clause.span)
    return linear


LARGEST = Fraction(10**9)


def _require_ordinary_size(numbers: list[Fraction], span: Span) -> None:
    """Refuse numbers so small that no testset could measure them, or too large for floats."""
    if any(number != 0 and not 1 / LARGEST <= abs(number) <= LARGEST for number in numbers):
        raise Problem("the numbers of this clause are too large or too small", span)


_MIRRORED = {Comparison.GREATER: Comparison.LESS, Comparison.LESS: Comparison.GREATER}


def _require_both_answers_possible(linear: LinearClause, span: Span) -> None:
    clause = linear.greater
    lowest, highest = linear.score.lowest, linear.score.highest
    reach = (
        f"Whatever the models do, {linear.score} lies between {float(lowest):g} and "
        f"{float(highest):g} (n, o and d lie in [0, 1], and |n - o| is at most d)."
    )
    if clause.score.highest <= clause.threshold:
        raise Problem("this clause can never be true", span, reach)
    if clause.score.lowest > clause.threshold:
        raise Problem("this clause is always true", span, reach)


def _gather(expression: Expression) -> _Linear:
    match expression:
        case Number():
            return _Linear(_ZERO.coefficients, Fraction(expression.value))
        case Variable():
            return _gather_variable(expression)
        case Negation():
            return _ZERO.plus(_gather(expression.operand), Fraction(-1))
        case Operation(operator=Operator.MULTIPLY):
            return _gather_product(expression)
        case Operation():
            sign = Fraction(1) if expression.operator is Operator.ADD else Fraction(-1)
            return _gather(expression.left).plus(_gather(expression.right), sign)


def _gather_variable(variable: Variable) -> _Linear:
    if variable.name not in VARIABLES:
        raise Problem(
            f"unknown name '{shortened(variable.name)}'", variable.span, _suggestion(variable.name)
        )
    n, o, d = (Fraction(int(variable.name == name)) for name in VARIABLES)
    return _Linear((n, o, d), Fraction(0))


def _gather_product(product: Operation) -> _Linear:
    left, right = _gather(product.left), _gather(product.right)
    if not left.is_constant and not right.is_constant:
        raise Problem(
            f"'{shortened(unparse_expression(product))}' is not linear",
            product.span,
            "Multiply n, o or d by constants only, such as n - 1.1 * o.",
        )
    if left.is_constant:
        left, right = right, left
    return _ZERO.plus(left, right.constant)


def _suggestion(name: str) -> str:
    known = ", ".join(f"{name} ({meaning})" for name, meaning in VARIABLES.items())
    folded = name.lower()
    close = difflib.get_close_matches(folded, _SYNONYMS, n=1, cutoff=0.75)
    if folded in VARIABLES:
        return f"Did you mean '{folded}'? The names are {known}."
    if close:
        return f"Did you mean '{_SYNONYMS[close[0]]}'? The names are {known}."
    return f"The names are {known}."
