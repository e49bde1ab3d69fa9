"""What a script says about itself."""

from __future__ import annotations

from easeci.script import parse_script
from tests.cases import each_case
from tests.unit.script.list_form import replaced


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
