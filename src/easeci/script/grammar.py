"""The grammar of conditions: from a text to a tree, with lark. Loaded when a text is parsed."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from importlib import resources

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

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
)

LONGEST_NUMBER = 40
LARGEST_EXPONENT = 30


def parse_tree(text: str) -> Condition:
    """The tree of a condition. Raises :class:`Problem` with the place in the text."""
    try:
        condition = _parser().parse(text)
    except UnexpectedInput as unexpected:
        raise _explain(unexpected, text) from None
    assert isinstance(condition, Condition)
    return condition


@cache
def _parser() -> Lark:
    grammar = resources.files("easeci.script").joinpath("condition.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", transformer=_ToTree(), propagate_positions=False)


def _span(first: Token | Expression, last: Token | Expression) -> Span:
    return Span(_span_of(first).start, _span_of(last).end)


def _span_of(item: Token | Expression) -> Span:
    if not isinstance(item, Token):
        return item.span
    assert item.start_pos is not None
    assert item.end_pos is not None
    return Span(item.start_pos, item.end_pos)


@v_args(inline=True)
class _ToTree(Transformer[Token, Condition]):
    """Builds the tree while lark parses, bottom up, so that no text can exhaust the stack."""

    def condition(self, *conjuncts: Clause | Condition) -> Condition:
        clauses: list[Clause] = []
        for conjunct in conjuncts:
            if isinstance(conjunct, Condition):
                clauses.extend(conjunct.clauses)
            else:
                clauses.append(conjunct)
        return Condition(tuple(clauses))

    def clause(
        self,
        left: tuple[Expression, Number | None],
        comparison: Token,
        right: tuple[Expression, Number | None],
    ) -> Clause:
        tolerance = right[1] or left[1]
        last = right[1] or right[0]
        span = _span(left[0], last)
        if tolerance is None:
            raise Problem(
                "this clause has no tolerance",
                span,
                "Say how precisely to measure it: put +/- and a number after the constant, "
                "such as n > 0.8 +/- 0.05.",
            )
        if left[1] is not None and right[1] is not None:
            raise Problem("this clause has two tolerances", right[1].span, "Leave one of the two.")
        return Clause(
            left=left[0],
            comparison=Comparison(str(comparison)),
            right=right[0],
            tolerance=tolerance,
            tolerance_on_left=left[1] is not None,
            span=span,
        )

    def side(
        self, expression: Expression, tolerance: Number | None
    ) -> tuple[Expression, Number | None]:
        return expression, tolerance

    def tolerance(self, value: Number) -> Number:
        return value

    def negative_number(self, minus: Token, number: Number) -> Number:
        return Number(-number.literal, number.percent, _span(minus, number))

    def number(self, literal: Token, percent: Token | None) -> Number:
        span = _span(literal, percent or literal)
        _, _, exponent = str(literal).lower().partition("e")
        if len(literal) > LONGEST_NUMBER or (exponent and abs(int(exponent)) > LARGEST_EXPONENT):
            raise Problem("this number is too long, too large or too small", span)
        return Number(Decimal(str(literal)), percent is not None, span)

    def variable(self, name: Token) -> Variable:
        return Variable(str(name), _span(name, name))

    def negate(self, minus: Token, operand: Expression) -> Negation:
        return Negation(operand, _span(minus, operand))

    def add(self, left: Expression, right: Expression) -> Operation:
        return Operation(Operator.ADD, left, right, _span(left, right))

    def subtract(self, left: Expression, right: Expression) -> Operation:
        return Operation(Operator.SUBTRACT, left, right, _span(left, right))

    def multiply(self, left: Expression, right: Expression) -> Operation:
        return Operation(Operator.MULTIPLY, left, right, _span(left, right))


_MISTAKES: tuple[tuple[str, str, str], ...] = (
    (r">=|<=|≥|≤|=>|=<", "there is no '{}'", "Write > or <: with a tolerance they are the same."),
    (r"==?|!=|≠", "there is no '{}'", "Compare with > or <."),
    (r"\+/(?!-)|-/\+|\+ /-?", "'{}' is not a tolerance", "Write +/- or ±."),
    (r"&&|&", "there is no '{}' here", "Join clauses with /\\ (or & or and)."),
    (r"\\/|\|\|?|∨|or\b", "'{}': clauses can only be joined by /\\", "There is no 'or'."),
    (r"/(?!\\)|÷", "there is no division", "Multiply by a constant instead, such as 0.5 * n."),
    (r"\*\*|\^", "there are no powers", "A condition is linear in n, o and d."),
    (r"[−–—]", "'{}' is not the minus sign of the keyboard", "Write -."),
    (r"[·×]", "'{}' is not the times sign of the keyboard", "Write *."),
    (r",", "there is no ',' here", "Write a decimal point, and /\\ between clauses."),
)
_EXPECTED = {
    "_AND": "/\\",
    "_TOLERANCE": "+/-",
    "COMPARISON": "> or <",
    "PLUS": "+",
    "MINUS": "-",
    "TIMES": "*",
    "PERCENT": "%",
    "NUMBER": "a number",
    "NAME": "n, o or d",
    "LPAR": "(",
    "RPAR": ")",
    "$END": "the end",
}
_READING_ORDER = tuple(_EXPECTED)


def _explain(unexpected: UnexpectedInput, text: str) -> Problem:
    """The parser's error in terms of what the user wrote."""
    expected = _expected_tokens(unexpected)
    if isinstance(unexpected, UnexpectedEOF) or _is_end(unexpected):
        end = len(text.rstrip())
        return Problem("the condition ends too early", Span(end, end + 1), expected)
    start = unexpected.pos_in_stream or 0
    for pattern, message, hint in _MISTAKES:
        # The parser notices a mistake such as "&&" only at its second character.
        for candidate in (start - 1, start):
            found = re.compile(pattern).match(text, candidate) if candidate >= 0 else None
            if found and found.end() > start:
                span = Span(found.start(), found.end())
                return Problem(message.format(found.group()), span, hint)
    if isinstance(unexpected, UnexpectedToken):
        token = unexpected.token
        span = Span(start, start + len(token))
        if token.type == "COMPARISON":
            return Problem(
                "a second comparison in one clause",
                span,
                "Write two clauses, such as n > 0.7 +/- 0.01 /\\ n < 0.9 +/- 0.01.",
            )
        if token.type == "NAME" and "TIMES" in unexpected.expected:
            return Problem(
                f"'{shortened(token, 20)}' is not expected here", span, "Write a * between factors."
            )
        return Problem(f"'{shortened(token, 20)}' is not expected here", span, expected)
    return Problem(
        f"the character {text[start : start + 1]!r} is not part of a condition",
        Span(start, start + 1),
        expected,
    )


def _is_end(unexpected: UnexpectedInput) -> bool:
    return isinstance(unexpected, UnexpectedToken) and unexpected.token.type == "$END"


def _expected_tokens(unexpected: UnexpectedInput) -> str | None:
    if isinstance(unexpected, UnexpectedCharacters):
        names = set(unexpected.allowed or ())
    else:
        names = set(getattr(unexpected, "expected", ()))
    words = [_EXPECTED[name] for name in _READING_ORDER if name in names]
    return f"Expected here: {', '.join(words)}." if words else None
