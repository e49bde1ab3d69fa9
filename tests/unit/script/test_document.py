"""The script as YAML: forms, values, and a position for every error."""

from __future__ import annotations

from fractions import Fraction

import pytest

from easeci.errors import ScriptError
from easeci.script import parse_script
from tests.cases import each_case
from tests.unit.script.list_form import LIST_FORM, replaced


def test_sensitivity_is_the_reliability_unless_given() -> None:
    assert parse_script(LIST_FORM).sensitivity == Fraction(9999, 10_000)


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
        (LIST_FORM + "  - expected: {a: 0}\n", ["expected: the share of 'a'", "line 8, column 16"]),
        (LIST_FORM + "  - expected: {a: 60%, b: 60%}\n", ["together are more than 1", "line 8"]),
        (LIST_FORM + "  - expected: {a: 5%, a: 6%}\n", ["'a' is given twice"]),
        (LIST_FORM + "  - expected: {a: [1]}\n", ["'expected' takes single names and values"]),
        (LIST_FORM + "  - expected: {}\n", ["'expected' has no value"]),
        (LIST_FORM + "  - expected: 2%\n", ["these are not shares of classes", "{fraud: 2%}"]),
        (
            LIST_FORM + "  - expected: {frud: 5%}\n  - classes: [fraud, legit]\n",
            ["expected: the class 'frud' is not declared", "Did you mean 'fraud'?", "line 8"],
        ),
        (
            replaced("n - o > 0.02", "recall(frud) > 0.8") + "  - classes: [fraud, legit]\n",
            ["the class 'frud' is not declared", "Did you mean 'fraud'?", "line 3, column 25"],
        ),
        (
            replaced("n - o > 0.02", "recall(*) > 0.8"),
            ["the script declares none", "classes: [fraud, legit]"],
        ),
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
