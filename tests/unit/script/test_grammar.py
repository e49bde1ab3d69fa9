"""The grammar of conditions: which spellings mean the same."""

from __future__ import annotations

from easeci.script import parse_condition
from tests.cases import each_case


@each_case(
    ("text", "meaning"),
    [
        ("n-o>0.02+/-0.01", "n - o > 0.02 +/- 0.01"),
        ("n - o > 2% ± 1%", "n - o > 2% +/- 1%"),
        ("n > .5 +/- .1 & d < .1 +/- .1", r"n > 0.5 +/- 0.1 /\ d < 0.1 +/- 0.1"),
        ("n > .5 +/- .1 and d < .1 +/- .1", r"n > 0.5 +/- 0.1 /\ d < 0.1 +/- 0.1"),
        ("n > .5 +/- .1 AND d < .1 +/- .1", r"n > 0.5 +/- 0.1 /\ d < 0.1 +/- 0.1"),
        ("n > .5 +/- .1 ∧ d < .1 +/- .1", r"n > 0.5 +/- 0.1 /\ d < 0.1 +/- 0.1"),
        ("(n > .5 +/- .1) /\\ ((d) < .1 +/- .1)", r"n > 0.5 +/- 0.1 /\ d < 0.1 +/- 0.1"),
        ("n - (o - d) > 0 +/- 1e-2", "n - (o - d) > 0 +/- 0.01"),
        ("(n - o) - d > 0 +/- .1", "n - o - d > 0 +/- 0.1"),
        ("-(n + o) * 2 > -1 +/- .1", "-(n + o) * 2 > -1 +/- 0.1"),
        ("n\n  - o >\t0.1 +/- 0.1", "n - o > 0.1 +/- 0.1"),
        ("0.1 +/- 0.01 > d", "0.1 +/- 0.01 > d"),
    ],
)
def test_spellings(text: str, meaning: str) -> None:
    assert str(parse_condition(text)) == meaning
