"""The keys of a script: each text becomes an exact value or an error."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from easeci.errors import ScriptError
from easeci.script import KEYS, Adaptivity, Estimator, Mode, ScriptKey, parse_script
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
