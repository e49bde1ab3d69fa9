"""The keys of a script: each text becomes an exact value or an error."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeci.errors import ScriptError
from easeci.script import KEYS, Adaptivity, Estimator, Mode, ScriptKey, parse_script
from easeci.script.keys import (
    KEY_NAMES,
    parse_difference,
    parse_duration,
    parse_effect,
    parse_memory,
    parse_probability,
    parse_shares,
)
from easeci.script.problem import closest
from tests.cases import each_case
from tests.unit.script.list_form import LIST_FORM, replaced


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


@given(st.sampled_from(KEYS), st.text(max_size=30))
def test_any_value_of_any_key_is_a_script_or_a_script_error(key: ScriptKey, value: str) -> None:
    lines = [line for line in LIST_FORM.splitlines() if f"- {key.name}" not in line]
    quoted = "'" + value.replace("'", "''") + "'"
    try:
        parse_script("\n".join([*lines, f"  - {key.name}: {quoted}"]))
    except ScriptError as error:
        assert str(error)


@given(st.decimals("0.0001", "0.9999", places=4))
def test_a_share_and_its_percentage_are_one_number(share: Decimal) -> None:
    """0.025 and 2.5% are the same exact fraction, for every key that is a probability."""
    for parse in (parse_probability, parse_difference, parse_effect):
        assert parse(str(share)) == parse(f"{share * 100}%") == Fraction(share)
    assert parse_effect(f"-{share}") == parse_effect(f"−{share}") == -Fraction(share)


def test_durations_and_amounts_of_memory_are_multiples_of_their_units() -> None:
    seconds = [parse_duration(f"7{unit}") for unit in "smhd"]
    assert seconds == [7, 7 * 60, 7 * 60 * 60, 7 * 24 * 60 * 60]
    assert [parse_memory(f"3 {unit}iB") for unit in "KMGT"] == [3 * 1024**i for i in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    "text",
    ["experiments", "a b", "feature/*", "*", "refs/pull/*", "refs/pull/*/head", "refs/heads/x"],
)
def test_branches_takes_names_patterns_and_refs(text: str) -> None:
    """A name without * may be anything, as before."""
    assert parse_script(f"{LIST_FORM}  - branches: ['{text}']\n").branches == (text,)


@pytest.mark.parametrize(
    ("key", "text", "complaint"),
    [
        ("branches", "feature/[ab]*", "branches: this pattern can match no branch"),
        ("branches", "feature/?", "branches: this pattern can match no branch"),
        ("branches", "feature..*", "branches: this pattern can match no branch"),
        ("branches", "a *", "branches: this pattern can match no branch"),
        ("branches", "refs/*", "branches: no commits are tested by such refs"),
        ("branches", "refs/*/head", "branches: no commits are tested by such refs"),
        ("branches", "refs/tags/v*", "branches: no commits are tested by such refs"),
        ("branches", "refs/pull/", "branches: no commits are tested by such refs"),
        ("branch", "feature/*", "branch: this is the name of one branch"),
        ("branch", "refs/heads/main", "branch: this is the name of one branch"),
    ],
)
def test_a_pattern_that_can_match_nothing_is_refused(key: str, text: str, complaint: str) -> None:
    """The message says what is wrong, and the hint shows how it is written."""
    with pytest.raises(ScriptError) as caught:
        parse_script(f"{LIST_FORM}  - {key}: '{text}'\n")
    assert caught.value.message.startswith(complaint)
    assert "Write" in str(caught.value.hint) or "Only *" in str(caught.value.hint)


def test_the_key_that_was_meant_is_found() -> None:
    """Every key is found by its beginning, by other case, and with one letter missing."""
    for name in KEY_NAMES:
        assert closest(name.upper(), KEY_NAMES) == name
        assert (closest(name[:3], KEY_NAMES) or "").startswith(name[:3])
        assert closest(name[:2] + name[3:], KEY_NAMES) is not None
    assert closest("zzz", KEY_NAMES) is None


def test_every_example_of_a_key_can_be_parsed() -> None:
    for key in KEYS:
        assert key.parse(key.example) is not None


@each_case(
    "text",
    [
        "{fraud: 2%, legit: 0.9}",
        "fraud: 2%, legit: 90%",
        "fraud=0.02,legit=0.9",
        "{'fraud': 0.02, 'legit': '90%'}",
    ],
)
def test_shares_of_classes_are_read_from_one_text(text: str) -> None:
    assert parse_shares(text) == (("fraud", Fraction(1, 50)), ("legit", Fraction(9, 10)))


def test_a_class_of_a_share_may_have_any_name() -> None:
    assert parse_shares("a, b: c: 2%") == (("a, b: c", Fraction(1, 50)),)


@each_case(
    ("written", "expected"),
    [
        ("{fraud: 2%, legit: 0.9}", (("fraud", Fraction(1, 50)), ("legit", Fraction(9, 10)))),
        ("'fraud: 2%'", (("fraud", Fraction(1, 50)),)),
        (
            "\n      fraud: 2%\n      legit: 90%",
            (("fraud", Fraction(1, 50)), ("legit", Fraction(9, 10))),
        ),
        ("{very bad: 1%}", (("very bad", Fraction(1, 100)),)),
    ],
)
def test_expected_is_a_mapping(written: str, expected: object) -> None:
    script = parse_script(f"{LIST_FORM}  - expected: {written}\n")
    assert script.expected == expected
    assert hash(script.expected)


def test_an_expected_share_is_given_or_implied() -> None:
    """With all declared classes but one given, the last one has what they leave."""
    text = f"{LIST_FORM}  - expected: {{fraud: 2%}}\n"
    script = parse_script(f"{text}  - classes: [fraud, legit]\n")
    assert script.expected_share("fraud") == Fraction(1, 50)
    assert script.expected_share("legit") == Fraction(49, 50)
    assert parse_script(text).expected_share("legit") is None
    three = parse_script(f"{text}  - classes: [fraud, legit, odd]\n")
    assert three.expected_share("legit") is None
    assert parse_script(f"{LIST_FORM}  - classes: [one]\n").expected_share("one") is None
