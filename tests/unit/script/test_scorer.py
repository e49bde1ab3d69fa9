"""Scorers as a script writes them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from easeci import EaseciError, make_script
from easeci.script.problem import Problem
from easeci.script.scorer import Ignored, Scorer, ScorerKind, parse_scorer
from tests.cases import each_case


@each_case(
    ("text", "scorer"),
    [
        ("exact", Scorer(ScorerKind.EXACT)),
        ("exact()", Scorer(ScorerKind.EXACT)),
        ("exact(ignore-case)", Scorer(ScorerKind.EXACT, (Ignored.CASE,))),
        (
            "contains (ignore-space, ignore-punctuation,ignore-space)",
            Scorer(ScorerKind.CONTAINS, (Ignored.SPACE, Ignored.PUNCTUATION)),
        ),
        ("regex", Scorer(ScorerKind.REGEX)),
        ("numeric(1e-3)", Scorer(ScorerKind.NUMERIC, tolerance=Fraction(1, 1000))),
        ("numeric(0)", Scorer(ScorerKind.NUMERIC)),
        ("external", Scorer(ScorerKind.EXTERNAL)),
        ("./score.py", Scorer(ScorerKind.PROGRAM, command="./score.py")),
        ("grading/exact", Scorer(ScorerKind.PROGRAM, command="grading/exact")),
    ],
)
def test_a_scorer_is_a_rule_or_a_file(text: str, scorer: Scorer) -> None:
    assert parse_scorer(text) == scorer


@each_case(
    ("text", "fragment"),
    [
        ("exat", "Did you mean 'exact'?"),
        ("score.py", "Write exact"),
        ("./score.py --fast", "without arguments"),
        ("regex(ignore-case)", "takes no options"),
        ("exact(case)", "Did you mean 'ignore-case'?"),
        ("numeric", "one tolerance"),
        ("numeric(much)", "a number as its tolerance"),
        ("numeric(-1)", "from 0 on"),
        ("numeric(nan)", "from 0 on"),
        ("numeric(1e99)", "from 0 on"),
        ("program", "Write exact"),
    ],
)
def test_a_wrong_scorer_is_explained(text: str, fragment: str) -> None:
    with pytest.raises(Problem) as caught:
        parse_scorer(text)
    assert fragment in f"{caught.value.message} {caught.value.hint}"


@each_case(
    ("condition", "keys", "fragment"),
    [
        ("n.x > 0.1 +/- 0.1", {"scorer": "exact"}, "unknown score 'x'"),
        ("n.fathful > 0.1 +/- 0.1", {"scorer": "external", "scores": "faithful"}, "n.faithful"),
        ("recall(a) > 0.1 +/- 0.1", {"scorer": "exact"}, "counts right predictions"),
        ("n - top(2) > 0.1 +/- 0.1", {"scorer": "exact"}, "counts right predictions"),
        ("n.accuracy > 0.1 +/- 0.1", {"scorer": "exact"}, "counts right predictions"),
        ("n / o > 1.1 +/- 0.1", {"scorer": "exact"}, "Write a difference instead"),
        ("pass@3 > 0.1 +/- 0.1", {}, "the script has no scorer"),
        ("pass > 0.1 +/- 0.1", {"scorer": "exact"}, "Write one such as pass@3"),
        ("pass@3 > 0.1 +/- 0.1", {"scorer": "exact", "trials": 2}, "has 2 trials"),
        ("pass@0 > 0.1 +/- 0.1", {"scorer": "exact", "trials": 2}, "the best of no trials"),
        ("fail@2 > 0.1 +/- 0.1", {"scorer": "exact", "trials": 2}, "unknown measure"),
        ("n > 0.5 +/- 0.1", {"scores": ["faithful"]}, "Write n.faithful"),
        ("pass@1 > 0.5 +/- 0.1", {"scores": ["faithful"]}, "a score without a name"),
        ("n > 0.5 +/- 0.1", {"scorer": "exact", "classes": ["a", "b"]}, "not classes"),
        ("n > 0.5 +/- 0.1", {"scorer": "exact", "scores": ["faithful"]}, "one score"),
        ("n > 0.5 +/- 0.1", {"scorer": "exact", "labels": "none"}, "with references"),
        ("n > 0.5 +/- 0.1", {"trials": 3}, "needs a scorer"),
        ("n > 0.5 +/- 0.1", {"labels": "none"}, "needs a scorer"),
        ("n > 0.5 +/- 0.1", {"scorer": "exact", "trials": 0}, "from 1 to"),
        ("n > 0.5 +/- 0.1", {"scorer": "external", "scores": ["so bad"]}, "name of a score"),
        ("n > 0.5 +/- 0.1", {"scorer": "exact", "labels": "some"}, "class or none"),
    ],
)
def test_a_script_that_contradicts_itself_is_refused(
    condition: str, keys: dict[str, object], fragment: str
) -> None:
    with pytest.raises(EaseciError) as caught:
        make_script(condition, **keys)
    assert fragment in str(caught.value)


def test_a_script_without_a_scorer_means_what_it_always_did() -> None:
    """n and o count right predictions, and no clause has a lattice."""
    script = make_script("n - o > 0.02 +/- 0.01")
    assert not script.is_scored
    assert script.clauses[0].score.lattice is None
    assert script.score_terms == ()
