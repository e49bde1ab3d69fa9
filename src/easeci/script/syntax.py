"""The condition as the user wrote it: a typed, frozen tree, and how to write it as text.

Every node has its :class:`Span` in the text. Equality ignores spans, so that
``parse(unparse(tree)) == tree``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
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
    DIVIDE = "/"


class SliceTest(StrEnum):
    """How a slice compares a column of the examples with its value."""

    EQUAL = "="
    NOT_EQUAL = "!="
    AT_LEAST = ">="
    AT_MOST = "<="
    ABOVE = ">"
    BELOW = "<"

    @property
    def is_numeric(self) -> bool:
        """Whether it compares numbers; the other two compare texts."""
        return self not in (SliceTest.EQUAL, SliceTest.NOT_EQUAL)


@dataclass(frozen=True)
class Slice:
    """The examples with some value in a column: ``[lang=de]``, ``[age>=65]``, ``[lang=*]``.

    ``=`` and ``!=`` compare texts, where 3 and "3" are equal; the others compare numbers. An
    example without a value in the column is in no slice.
    """

    column: str
    test: SliceTest
    value: str
    every: bool = False
    """Whether the value is an unquoted ``*``: one slice for each value of the column."""
    span: Span = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        value = EVERY if self.every else spelt(self.value)
        return f"[{spelt(self.column)}{self.test}{value}]"


@dataclass(frozen=True)
class Argument:
    """What a measure has in parentheses: the name of a class, or a rank."""

    value: str
    every: bool = False
    """Whether it is an unquoted ``*``: one clause for each declared class."""
    span: Span = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        return EVERY if self.every else spelt(self.value)


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
class Measure:
    """``n``, ``recall(fraud)``, ``o.f1(spam)[lang=de]``: as written, not checked yet."""

    name: str
    model: str | None = None
    argument: Argument | None = None
    slice: Slice | None = None
    span: Span = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        model = "" if self.model is None else f"{self.model}."
        argument = "" if self.argument is None else f"({self.argument})"
        return f"{model}{self.name}{argument}{self.slice or ''}"


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


Expression = Number | Measure | Negation | Operation


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

    @property
    def measures(self) -> tuple[Measure, ...]:
        """All measures of the clause, from left to right."""
        return (*measures_of(self.left), *measures_of(self.right))

    def with_measures(self, change: Callable[[Measure], Measure]) -> Clause:
        """The clause with every measure replaced."""
        left, right = (_changed(side, change) for side in (self.left, self.right))
        return replace(self, left=left, right=right)


@dataclass(frozen=True)
class Condition:
    """A conjunction of at least one clause."""

    clauses: tuple[Clause, ...]

    def __str__(self) -> str:
        return unparse(self)


def measures_of(expression: Expression) -> Iterator[Measure]:
    """The measures of an expression, from left to right."""
    match expression:
        case Measure():
            yield expression
        case Negation():
            yield from measures_of(expression.operand)
        case Operation():
            yield from measures_of(expression.left)
            yield from measures_of(expression.right)


def _changed(expression: Expression, change: Callable[[Measure], Measure]) -> Expression:
    match expression:
        case Number():
            return expression
        case Measure():
            return change(expression)
        case Negation():
            return replace(expression, operand=_changed(expression.operand, change))
        case Operation():
            left, right = (_changed(x, change) for x in (expression.left, expression.right))
            return replace(expression, left=left, right=right)


EVERY = "*"
_PLAIN_WORD = re.compile(r"[\w.-]+")


def spelt(word: str) -> str:
    """A class, a column or a value: plain if the grammar reads it so, otherwise in quotes."""
    if _PLAIN_WORD.fullmatch(word):
        return word
    return '"' + word.replace("\\", r"\\").replace('"', r"\"") + '"'


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
SUM, PRODUCT, UNARY = 1, 2, 3
"""How tightly operators bind."""
_BINDING = {
    Operator.ADD: SUM,
    Operator.SUBTRACT: SUM,
    Operator.MULTIPLY: PRODUCT,
    Operator.DIVIDE: PRODUCT,
}


def unparse_expression(expression: Expression, binding: int = 0) -> str:
    """The expression, in parentheses where its context binds tighter than it does."""
    match expression:
        case Number():
            plain = f"{expression.literal:f}"
            text = plain if len(plain) <= _LONGEST_PLAIN else str(expression.literal)
            return f"{text}{'%' if expression.percent else ''}"
        case Measure():
            return str(expression)
        case Negation():
            return f"-{unparse_expression(expression.operand, UNARY)}"
        case Operation():
            own = _BINDING[expression.operator]
            left = unparse_expression(expression.left, own)
            # Both kinds of operation group to the left, so a right operand of the same
            # strength needs its parentheses.
            right = unparse_expression(expression.right, own + 1)
            text = f"{left} {expression.operator} {right}"
            return f"({text})" if own < binding else text
