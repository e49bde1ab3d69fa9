"""The condition as the user wrote it: a typed, frozen tree, and how to write it as text.

Every node has its :class:`Span` in the text. Equality ignores spans, so that
``parse(unparse(tree)) == tree``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum


@dataclass(frozen=True)
class Span:
    """Characters ``start`` to ``end`` (exclusive) of a text, counted from 0."""

    start: int
    end: int


NOWHERE = Span(0, 0)


class Comparison(StrEnum):
    """How a clause compares its two sides."""

    GREATER = ">"
    LESS = "<"


class Operator(StrEnum):
    """An operator between two expressions."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"


@dataclass(frozen=True)
class Number:
    """A constant as written: ``2%`` is the literal 2 with ``percent``."""

    literal: Decimal
    percent: bool = False
    span: Span = field(default=NOWHERE, compare=False)

    @property
    def value(self) -> Decimal:
        """The number itself: 0.02 for ``2%``."""
        return self.literal.scaleb(-2) if self.percent else self.literal


@dataclass(frozen=True)
class Variable:
    """A name in a condition, such as ``n``; not checked yet."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Negation:
    """``-operand``."""

    operand: Expression
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Operation:
    """``left operator right``."""

    operator: Operator
    left: Expression
    right: Expression
    span: Span = field(default=NOWHERE, compare=False)


Expression = Number | Variable | Negation | Operation


@dataclass(frozen=True)
class Clause:
    """``left comparison right``, with the tolerance after the right or the left side."""

    left: Expression
    comparison: Comparison
    right: Expression
    tolerance: Number
    tolerance_on_left: bool = False
    span: Span = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        return unparse_clause(self)


@dataclass(frozen=True)
class Condition:
    """A conjunction of at least one clause."""

    clauses: tuple[Clause, ...]

    def __str__(self) -> str:
        return unparse(self)


def unparse(condition: Condition) -> str:
    """The condition in its canonical spelling."""
    return " /\\ ".join(unparse_clause(clause) for clause in condition.clauses)


def unparse_clause(clause: Clause) -> str:
    """The clause in its canonical spelling."""
    left, right = unparse_expression(clause.left), unparse_expression(clause.right)
    tolerance = f" +/- {unparse_expression(clause.tolerance)}"
    if clause.tolerance_on_left:
        return f"{left}{tolerance} {clause.comparison} {right}"
    return f"{left} {clause.comparison} {right}{tolerance}"


_LONGEST_PLAIN = 20
_SUM, _PRODUCT, _UNARY = 1, 2, 3
_BINDING = {Operator.ADD: _SUM, Operator.SUBTRACT: _SUM, Operator.MULTIPLY: _PRODUCT}


def unparse_expression(expression: Expression, binding: int = 0) -> str:
    """The expression, in parentheses where its context binds tighter than it does."""
    match expression:
        case Number():
            plain = f"{expression.literal:f}"
            text = plain if len(plain) <= _LONGEST_PLAIN else str(expression.literal)
            return f"{text}{'%' if expression.percent else ''}"
        case Variable():
            return expression.name
        case Negation():
            return f"-{unparse_expression(expression.operand, _UNARY)}"
        case Operation():
            own = _BINDING[expression.operator]
            left = unparse_expression(expression.left, own)
            # Both kinds of operation group to the left, so a right operand of the same
            # strength needs its parentheses.
            right = unparse_expression(expression.right, own + 1)
            text = f"{left} {expression.operator} {right}"
            return f"({text})" if own < binding else text
