"""Every script and condition that the paper prints, as printed."""

from __future__ import annotations

from easeci.script import Adaptivity, compile_condition, parse_condition, parse_script
from tests.cases import each_case

TRAILING = " "  # as printed, and as an editor would strip it
SCRIPTS = [
    f"""
  ml:
    - script     : ./test_model.py{TRAILING}
    - condition  : n - o > 0.02 +/- 0.01{TRAILING}
    - reliability: 0.9999
    - mode       : fp-free
    - adaptivity : full
    - steps      : 32
""",
    f"""
  ml:
    - script     : ./test_model.py{TRAILING}
    - condition  : d < 0.1 +/- 0.01
    - reliability: 0.9999
    - mode       : fp-free
    - adaptivity : none -> xx@abc.com
    - steps      : 32
""",
]
CONDITIONS = [
    r" n - 1.1 * o > 0.01 +/- 0.01 /\ d < 0.1 +/- 0.01    ",
    "n > 0.8 +/- 0.05",
    "n - o > 0.1 +/- 0.01",
    r"  n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01",
    "          n - o > 0.02 +/- 0.01",
    "              d < 0.1 +/- 0.01",
]


@each_case("text", SCRIPTS)
def test_scripts(text: str) -> None:
    script = parse_script(text)
    assert (script.program, script.steps) == ("./test_model.py", 32)


def test_the_address_of_the_third_party() -> None:
    script = parse_script(SCRIPTS[1])
    assert (script.adaptivity, script.third_party) == (Adaptivity.NONE, "xx@abc.com")


@each_case("text", CONDITIONS)
def test_conditions(text: str) -> None:
    assert compile_condition(parse_condition(text))
