"""The script as YAML: forms, values, and a position for every error."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeci.errors import ScriptError
from easeci.script import KEYS, Adaptivity, Estimator, Mode, Script, ScriptKey, parse_script
from tests.cases import each_case

LIST_FORM = """\
ml:
  - script     : ./test_model.py
  - condition  : n - o > 0.02 +/- 0.01
  - reliability: 0.9999
  - mode       : fp-free
  - adaptivity : full
  - steps      : 32
"""


def replaced(old: str, new: str) -> str:
    assert old in LIST_FORM
    return LIST_FORM.replace(old, new)


def test_list_and_mapping_say_the_same() -> None:
    mapping = "\n".join(line.replace("  - ", "  ") for line in reversed(LIST_FORM.splitlines()[1:]))
    assert parse_script("ml:\n" + mapping) == parse_script(LIST_FORM)


def test_the_keys_may_stand_at_the_top() -> None:
    top = "\n".join(line.replace("  - ", "") for line in LIST_FORM.splitlines()[1:])
    assert parse_script(top) == parse_script(LIST_FORM)


def test_a_travis_file_may_hold_anything_else() -> None:
    travis = "language: python\nmatrix: {include: [{python: !odd 3.8}]}\n" + LIST_FORM
    assert parse_script(travis) == parse_script(LIST_FORM)


@each_case("change", [lambda t: "\ufeff" + t, lambda t: t.replace("\n", "\r\n")])
def test_a_byte_order_mark_and_crlf_change_nothing(change: object) -> None:
    assert callable(change)
    assert parse_script(change(LIST_FORM)) == parse_script(LIST_FORM)


def test_every_value_is_exact() -> None:
    script = parse_script(
        LIST_FORM
        + """\
  - sensitivity: 95%
  - estimator: pattern2
  - difference: 0.1
  - email: owner@example.org
  - branch: main
  - timeout: 30m
  - memory: 8GiB
  - mounts: [/data/weights, /data/more]
"""
    )
    assert script.delta == Fraction(1, 10_000)
    assert script.beta == Fraction(1, 20)
    assert script.difference == Fraction(1, 10)
    assert (script.estimator, script.mode) == (Estimator.PATTERN2, Mode.FP_FREE)
    assert (script.timeout_seconds, script.memory_bytes) == (1800, 8 * 2**30)
    assert script.mounts == ("/data/weights", "/data/more")
    assert script.program == "./test_model.py"


def test_sensitivity_is_the_reliability_unless_given() -> None:
    assert parse_script(LIST_FORM).sensitivity == Fraction(9999, 10_000)


@each_case(
    ("text", "kind", "address"),
    [
        ("none -> xx@abc.com", Adaptivity.NONE, "xx@abc.com"),
        ("none", Adaptivity.NONE, None),
        ("full", Adaptivity.FULL, None),
        ("firstChange", Adaptivity.FIRST_CHANGE, None),
        ("hybrid", Adaptivity.FIRST_CHANGE, None),
    ],
)
def test_adaptivity(text: str, kind: Adaptivity, address: str | None) -> None:
    script = parse_script(replaced("full", text))
    assert (script.adaptivity, script.third_party) == (kind, address)


@each_case(
    ("text", "fragments"),
    [
        (replaced("0.9999", "99.99"), ["reliability", "line 4, column 18", "99.99%"]),
        (replaced("0.9999", "1"), ["between 0 and 1"]),
        (replaced("0.9999", "high"), ["reliability: this is not a number", "^^^^"]),
        (replaced("fp-free", "fpfree"), ["unknown mode", "Did you mean 'fp-free'?", "line 5"]),
        (replaced("full", "fll"), ["unknown adaptivity", "Did you mean 'full'?"]),
        (replaced("full", "full -> a@b.c"), ["takes no address"]),
        (replaced("full", "none -> nobody"), ["not a mail address"]),
        (replaced("32", "0"), ["whole number from 1 to"]),
        (replaced("32", "3.5"), ["whole number from 1 to"]),
        (replaced("32", "'-1'"), ["whole number from 1 to"]),
        (replaced("32", ""), ["'steps' has no value", "line 7"]),
        (replaced("32", "[1, 2]"), ["'steps' takes a single value"]),
        (replaced("steps ", "stepz "), ["unknown key 'stepz'", "Did you mean 'steps'?"]),
        (replaced("  - steps      : 32\n", ""), ["has no 'steps'", "Add a line such as"]),
        (LIST_FORM + "  - steps: 4\n", ["'steps' is given twice", "line 8"]),
        (LIST_FORM + "  - timeout: soon\n", ["not a duration", "30m"]),
        (LIST_FORM + "  - memory: 8GB\n", ["not an amount of memory", "8GiB"]),
        (LIST_FORM + "  - mounts: [/a, b]\n", ["absolute path", "line 8, column 18"]),
        (LIST_FORM + "  - difference: 0\n", ["above 0 and at most 1"]),
        (LIST_FORM + "  - estimator: patern1\n", ["Did you mean 'pattern1'?"]),
        (LIST_FORM + "  - email: x\n", ["not a mail address"]),
        (replaced("n - o >", "n - o >="), ["there is no '>='", "line 3, column 24", "^^"]),
        (replaced("n - o > 0.02 +/- 0.01", "'n * o > 1 +/- 1'"), ["not linear", "column 19"]),
        (
            replaced("n - o > 0.02 +/- 0.01", '"n > 0.1 +/- 0.1 /\\ d < 0.1 +/- 0.1"'),
            ["use single quotes", "line 3"],
        ),
        (
            replaced("n - o > 0.02 +/- 0.01", ">\n      n -\n      o >= 0.1 +/- 0.1"),
            ["there is no '>='", "as YAML reads it"],
        ),
        (replaced("  - mode", "\t- mode"), ["not YAML", "spaces, not tabs"]),
        ("", ["is empty", "easeci init"]),
        ("a: b", ["no 'ml:' section"]),
        ("ml:", ["expected 'key: value'"]),
        ("ml: 3", ["expected 'key: value'"]),
        ("ml: &a\n  - *a", ["expected 'key: value'"]),
        ("ml: {? [c] : d}", ["a key must be a single word"]),
        ("[[[", ["not YAML", "line 1"]),
        ("[" * 5000, ["nested too deeply"]),
        ("\x00", ["not a text"]),
        ("ml: !!python/object:os.system {}", ["has no 'condition'"]),
    ],
)
def test_errors_say_what_and_where(text: str, fragments: list[str]) -> None:
    with pytest.raises(ScriptError) as caught:
        parse_script(text, ".easeci.yml")
    for fragment in fragments:
        assert fragment in str(caught.value)


_PIECES = (
    "ml:/\n/  - /steps: 32/condition: n > 0.5 +- 0.1/{/}/[/]/&a/*a/? /: /|/>/'/!!int/---/.../"
    '"/%YAML 1.2/\t/#/- /~/mode'
)
pieces = st.sampled_from(_PIECES.split("/"))


@given(st.one_of(st.text(), st.lists(pieces, max_size=30).map("".join)))
def test_any_text_is_a_script_or_a_script_error(text: str) -> None:
    """No text of any kind raises anything but a ScriptError."""
    try:
        assert isinstance(parse_script(text), Script)
    except ScriptError as error:
        assert str(error)


@given(st.sampled_from(KEYS), st.text(max_size=30))
def test_any_value_of_any_key_is_a_script_or_a_script_error(key: ScriptKey, value: str) -> None:
    lines = [line for line in LIST_FORM.splitlines() if f"- {key.name}" not in line]
    quoted = "'" + value.replace("'", "''") + "'"
    try:
        parse_script("\n".join([*lines, f"  - {key.name}: {quoted}"]))
    except ScriptError as error:
        assert str(error)


@each_case(
    ("condition", "mode", "fragments"),
    [
        ("n > 0.9 +/- 0.1", "fp-free", ["can never be shown True", "the largest possible n is 1"]),
        ("n > 0.9 +/- 0.08", "fp-free", ["never certain to be shown True"]),
        ("d < 0.1 +/- 0.1", "fp-free", ["can never be shown True", "the smallest possible d is 0"]),
        ("d < 0.9 +/- 0.1", "fn-free", ["can never be shown False", "the largest possible d is 1"]),
        ("n > 0.1 +/- 0.07", "fn-free", ["never certain to be shown False"]),
        ("n > 0.9 +/- 0.05", "fp-free", []),
        ("d < 0.9 +/- 0.1", "fp-free", []),
    ],
)
def test_a_clause_that_cannot_be_shown_is_warned_of(
    condition: str, mode: str, fragments: list[str]
) -> None:
    text = replaced("n - o > 0.02 +/- 0.01", condition).replace("fp-free", mode)
    warnings = parse_script(text).warnings()
    assert len(warnings) == (1 if fragments else 0)
    for fragment in fragments:
        assert fragment in warnings[0]
