"""The condition language: what parses, to what, and how errors read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeci.errors import ScriptError
from easeci.script import compile_condition, parse_condition, unparse
from easeci.script.problem import Problem, locate
from tests.cases import each_case
from tests.strategies import almost_conditions


def message_of(text: str) -> str:
    with pytest.raises(ScriptError) as caught:
        try:
            compile_condition(parse_condition(text))
        except Problem as problem:
            raise locate(problem, text) from None
    return str(caught.value)


@given(st.one_of(st.text(), almost_conditions))
def test_any_text_parses_or_raises_a_script_error(text: str) -> None:
    """No text raises anything but a ScriptError, and what parses unparses to the same tree."""
    try:
        condition = parse_condition(text)
    except ScriptError as error:
        assert error.message
    else:
        assert parse_condition(unparse(condition)) == condition


@each_case(
    "text",
    [
        "(" * 900 + "n" + ")" * 900 + " > 0.5 +/- 0.1",
        "-" * 1900 + "n > 0.5 +/- 0.1",
        "n" + " + n" * 400 + " > 0.5 +/- 0.1",
        "n > 0.5 +/- 0.1 & " * 100 + "n > 0.5 +/- 0.1",
        "9" * 1900 + " * n > 0.5 +/- 0.1",
        "1e99999999999999999999 * n > 0.5 +/- 0.1",
        "n " * 900,
        "x" * 100_000,
        "\ud800",
        "\x00",
    ],
)
def test_hostile_texts_are_answered_quickly(text: str) -> None:
    """Too deep, too long, or too large a number: the parser refuses each with a ScriptError."""
    try:
        compile_condition(parse_condition(text))
    except (ScriptError, Problem) as error:
        assert error.message


@each_case(
    ("text", "fragments"),
    [
        ("n * o > 0.1 +/- 0.01", ["'n * o' is not linear", "column 1", "^^^^^"]),
        ("acuracy > 0.1 +/- 0.01", ["unknown name 'acuracy'", "Did you mean 'n'?"]),
        ("old < 0.1 +/- 0.01", ["unknown name 'old'", "Did you mean 'o'?"]),
        ("N > 0.1 +/- 0.01", ["unknown name 'N'", "Did you mean 'n'?"]),
        ("n > 0.8 +/- 0", ["tolerance must be greater than 0", "column 13"]),
        ("n > 0.8 +/- -0.1", ["tolerance must be greater than 0", "column 13", "^^^^"]),
        ("n > 0.8", ["has no tolerance", "+/-"]),
        ("n > 0.8 +- 0.1", ["has no tolerance", "+/-"]),
        ("n +/- 0.1 > 0.8 +/- 0.1", ["two tolerances"]),
        ("n > 1 +/- 0.1", ["can never be true", "between 0 and 1"]),
        ("n - o > 1 +/- 0.1", ["can never be true", "between -1 and 1"]),
        ("n - o - d > 0 +/- 0.1", ["can never be true", "between -2 and 0"]),
        ("d - n + o > -0.1 +/- 0.1", ["is always true", "between 0 and 2"]),
        ("n < 1.5 +/- 0.1", ["is always true"]),
        ("n + o + d > 2 +/- 0.1", ["can never be true", "between 0 and 2"]),
        ("1 > 0.5 +/- 0.1", ["does not depend on n, o or d"]),
        ("n - n > 0.5 +/- 0.1", ["does not depend on n, o or d"]),
        ("n >= 0.8 +/- 0.1", ["there is no '>='", "column 3", "Write > or <"]),
        ("n == 0.8 +/- 0.1", ["there is no '=='"]),
        ("n // o > 1.05 +/- 0.1", ["there is no '//'", "column 3", "Write / for a ratio"]),
        ("n ÷ o > 1.05 +/- 0.1", ["there is no '÷'", "Write / for a ratio"]),
        ("n ** 2 > 0.5 +/- 0.1", ["there are no powers"]),
        ("n > 0.8 +/- 0.1 or d < 0.1 +/- 0.1", ["There is no 'or'"]),
        ("n > 0.8 +/- 0.1 && d < 0.1 +/- 0.1", ["'&&'", "Join clauses with"]),
        ("0.1 < n < 0.2 +/- 0.1", ["second comparison"]),
        ("1.1 o > 0.1 +/- 0.1", ["Write a * between"]),
        ("2 (n - o) > 0.1 +/- 0.1", ["'(' is not expected", "Write a * between"]),
        ("n (o - d) > 0.1 +/- 0.1", ["'n' has no parentheses", "Write a * between"]),
        (
            "recall fraud > 0.8 +/- 0.1",
            ["'fraud' is not", "parentheses: recall(fraud)", "column 8"],
        ),
        ("o.f1 'a b' > 0.8 +/- 0.1", ["in parentheses: o.f1("]),
        ("recall() > 0.8 +/- 0.1", ["not the name of a class", "recall(*)", "column 7", "^^"]),
        ("recall(very bad) > 0.8 +/- 0.1", ["not the name of a class", 'recall("very bad")']),
        ("recall(a, b) > 0.8 +/- 0.1", ["not the name of a class", "recall(*)"]),
        ("recall(fraud > 0.8 +/- 0.1", ["not the name of a class"]),
        ('recall("") > 0.8 +/- 0.1', ["the name of a class is missing", "column 8"]),
        ("n[] > 0.8 +/- 0.1", ["this slice is empty", "column 2", "[lang=de]"]),
        ("n[lang] > 0.8 +/- 0.1", ["this is not a slice", "[lang=de]"]),
        ("n[lang=very bad] > 0.8 +/- 0.1", ["this is not a slice", "in quotes"]),
        ('n[""=a] > 0.8 +/- 0.1', ["the name of a column is missing"]),
        ("n[lang=de > 0.8 +/- 0.1", ["this is not a slice"]),
        ("f1[lang=de](a) > 0.8 +/- 0.1", ["class before the slice: recall(fraud)[lang=de]"]),
        ("n > 0,8 +/- 0.1", ["decimal point"]),
        ("n − o > 0.1 +/- 0.1", ["minus sign of the keyboard"]),
        ("n > ", ["ends too early", "Expected here"]),
        ("(n > 0.5 +/- 0.1", ["ends too early", "Expected here: )"]),
        ("n > 0.5 +/- 0.1)", ["')' is not expected"]),
        ("n > 0.5 +/- 0.1; d", ["';'", "not part of a condition"]),
        ("", ["condition is empty"]),
        ("   ", ["condition is empty"]),
        ("n > 1e99 +/- 0.1", ["too long, too large or too small"]),
        ("n\n> 0.5 +/- x", ["line 2", "column 11"]),
        (" & ".join(["n > 0.5 +/- 0.1"] * 300), ["longer than 4,000"]),
        ("n" * 60_000, ["longer than 4,000"]),
        ("1e30 * 1e30 * n > 0 +/- 0.1", ["too large or too small"]),
        ("1e-30 * n > 0 +/- 0.1", ["too large or too small"]),
        ("n" + "+n" * 100 + "> 1 +/- 0.1", ["more than 60 operations"]),
    ],
)
def test_errors_say_what_and_where(text: str, fragments: list[str]) -> None:
    message = message_of(text)
    for fragment in fragments:
        assert fragment in message
