"""The grammar of conditions: from a text to a tree, with lark. Loaded when a text is parsed."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from importlib import resources

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from easeci.script.measures import CLASS_MEASURES
from easeci.script.problem import Problem, shortened
from easeci.script.syntax import (
    Argument,
    Clause,
    Comparison,
    Condition,
    Expression,
    Measure,
    Negation,
    Number,
    Operation,
    Operator,
    Slice,
    SliceTest,
    Span,
    spelt,
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


_Node = Token | Expression | Slice


def _span(first: _Node, last: _Node) -> Span:
    return Span(_span_of(first).start, _span_of(last).end)


def _span_of(item: _Node) -> Span:
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

    def measure(
        self,
        first: Token,
        second: Token | None,
        argument: tuple[Argument, Token] | None,
        where: Slice | None,
    ) -> Measure:
        model, name = (None, first) if second is None else (str(first), second)
        inner, end = argument or (None, name)
        return Measure(str(name), model, inner, where, _span(first, where or end))

    def argument(self, value: Token, end: Token) -> tuple[Argument, Token]:
        text = _word(value)
        if not text:
            raise Problem(
                "the name of a class is missing here",
                _span(value, value),
                "Write one such as recall(fraud).",
            )
        return Argument(text, value.type == "TIMES", _span(value, value)), end

    def slice(self, start: Token, column: Token, test: Token, value: Token, end: Token) -> Slice:
        name = _word(column)
        if not name:
            raise Problem("the name of a column is missing here", _span(column, column))
        how = SliceTest(_TESTS.get(str(test), str(test)))
        return Slice(name, how, _word(value), value.type == "TIMES", _span(start, end))

    def negate(self, minus: Token, operand: Expression) -> Negation:
        return Negation(operand, _span(minus, operand))

    def add(self, left: Expression, right: Expression) -> Operation:
        return Operation(Operator.ADD, left, right, _span(left, right))

    def subtract(self, left: Expression, right: Expression) -> Operation:
        return Operation(Operator.SUBTRACT, left, right, _span(left, right))

    def multiply(self, left: Expression, right: Expression) -> Operation:
        return Operation(Operator.MULTIPLY, left, right, _span(left, right))

    def divide(self, left: Expression, right: Expression) -> Operation:
        return Operation(Operator.DIVIDE, left, right, _span(left, right))


_TESTS = {"==": "=", "≥": ">=", "≤": "<=", "≠": "!="}


def _word(token: Token) -> str:
    """The text of a word, or the text in quotes, in which a backslash protects a character."""
    text = str(token)
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL) if token.type == "QUOTED" else text


_MISTAKES: tuple[tuple[str, str, str], ...] = (
    (r">=|<=|≥|≤|=>|=<", "there is no '{}'", "Write > or <: with a tolerance they are the same."),
    (r"==?|!=|≠", "there is no '{}'", "Compare with > or <."),
    (r"\+/(?!-)|-/\+|\+ /-?", "'{}' is not a tolerance", "Write +/- or ±."),
    (r"&&|&", "there is no '{}' here", "Join clauses with /\\ (or & or and)."),
    (r"\\/|\|\|?|∨|or\b", "'{}': clauses can only be joined by /\\", "There is no 'or'."),
    (r"//|÷", "there is no '{}'", "Write / for a ratio, and /\\ between clauses."),
    (r"\*\*|\^", "there are no powers", "A clause is a sum of measures times constants."),
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
    "DIVIDE": "/",
    "PERCENT": "%",
    "NUMBER": "a number",
    "NAME": "n, o, d or another measure",
    "WORD": "a name",
    "SLICE_TEST": "= or >=",
    "LPAR": "(",
    "RPAR": ")",
    "RSQB": "]",
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
    unfinished = _unfinished_name(text, start)
    if unfinished is not None:
        return unfinished
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
        if token.type == "LPAR" and text[:start].rstrip().endswith("]"):
            hint = "Write the class before the slice: recall(fraud)[lang=de]."
            return Problem("'(' is not expected here", span, hint)
        if token.type in ("NAME", "LPAR") and "TIMES" in unexpected.expected:
            return Problem(
                f"'{shortened(token, 20)}' is not expected here", span, "Write a * between factors."
            )
        return Problem(f"'{shortened(token, 20)}' is not expected here", span, expected)
    return Problem(
        f"the character {text[start : start + 1]!r} is not part of a condition",
        Span(start, start + 1),
        expected,
    )


_IN_BRACKETS = re.compile(r"""([^\W\d]\w*)?\s*(?P<bracket>[(\[])\s*(?P<written>[^()\[\]"']*)$""")
_WINDOW = 200
"""How many characters before a mistake are looked at, so that this is quick on any text."""
_MEASURE_BEFORE = re.compile(r"(?:\b[no]\s*\.\s*)?\b(?P<name>[^\W\d]\w*)\s+$")


def _unfinished_name(text: str, start: int) -> Problem | None:
    """What is wrong with the name of a class or with a slice, if the mistake is in one."""
    rest = re.match(r"[^\s()\[\]<>=]+", text[start:])
    place = Span(start, start + max(1, rest.end() if rest else 1))
    window = max(0, start - _WINDOW)
    before = _MEASURE_BEFORE.search(text, window, start)
    if before and rest and before["name"] in CLASS_MEASURES and re.match(r"[\w\"']", rest[0]):
        word = rest[0].strip("\"'")
        measure = before.group().strip()
        return Problem(
            f"'{shortened(rest[0], 20)}' is not expected here",
            place,
            f"Write the class in parentheses: {measure}({spelt(shortened(word, 20))}).",
        )
    inside = _IN_BRACKETS.search(text, window, start)
    if inside is None:
        return None
    if inside["bracket"] == "[":
        message = "this slice is empty" if not inside["written"] else "this is not a slice"
        return Problem(
            message,
            Span(inside.start("bracket"), place.end),
            "Write one such as [lang=de], [age>=65] or [lang=*]; put names with spaces in quotes.",
        )
    if inside[1] in CLASS_MEASURES:
        return Problem(
            f"this is not the name of a class for {inside[1]}",
            Span(inside.start("bracket"), place.end),
            f"Write {inside[1]}(fraud), or {inside[1]}(*) for every class; put names with spaces "
            f'in quotes: {inside[1]}("very bad").',
        )
    if inside[1] in ("n", "o", "d"):
        return Problem(f"'{inside[1]}' has no parentheses", place, "Write a * between factors.")
    return None


def _is_end(unexpected: UnexpectedInput) -> bool:
    return isinstance(unexpected, UnexpectedToken) and unexpected.token.type == "$END"


def _expected_tokens(unexpected: UnexpectedInput) -> str | None:
    if isinstance(unexpected, UnexpectedCharacters):
        names = set(unexpected.allowed or ())
    else:
        names = set(getattr(unexpected, "expected", ()))
    words = [_EXPECTED[name] for name in _READING_ORDER if name in names]
    return f"Expected here: {', '.join(words)}." if words else None
