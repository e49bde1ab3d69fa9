"""The shared prefix: where it is used, how long it is, and what it costs of the levels."""

from __future__ import annotations

import math
from fractions import Fraction

from easeci.plan.assumptions import typical_step
from easeci.plan.prefix import LENGTHS, PREFIX_SHARE, shared_prefixes, step_risks
from easeci.plan.sequential import sequential
from easeci.script import Script
from easeci.service.scripts import make_script
from tests.cases import each_case

DIFFERENCE = "n.recall(fraud) - o.recall(fraud) > -0.01 +/- 0.01"


def made(condition: str = DIFFERENCE, **keys: object) -> Script:
    return make_script(condition, **{"reliability": 0.999, "expected": "fraud: 2%", **keys})


def test_the_prefix_of_the_reference_is_20000() -> None:
    """Prevalence 2%, .999, a month of commits."""
    (prefix,) = shared_prefixes(made()).values()
    assert prefix.length == 20_000
    assert math.isclose(prefix.log_level, math.log(0.05 * 0.001 / 2.0))


@each_case(
    "condition",
    [
        "recall(fraud) > 0.8 +/- 0.02",
        "f1(fraud) > 0.8 +/- 0.02",
        "n.precision(fraud) - o.precision(fraud) > 0 +/- 0.01",
        "n - o > 0 +/- 0.01",
        "n / o > 1 +/- 0.01",
    ],
)
def test_no_prefix_where_labels_everywhere_are_cheaper(condition: str) -> None:
    asked = made(condition)
    assert not shared_prefixes(asked)
    assert step_risks(asked) == (asked.delta, asked.beta)


def test_steps_get_what_the_prefix_leaves() -> None:
    asked = made(sensitivity=0.95)
    rest = 1 - PREFIX_SHARE
    assert step_risks(asked) == (rest * Fraction(1, 1000), rest * Fraction(1, 20))
    same = made("n - o > 0 +/- 0.01", sensitivity=0.95)
    levels, others = typical_step(asked).levels, typical_step(same).levels
    assert math.isclose(levels.safety - others.safety, math.log(0.95))
    assert math.isclose(levels.sensitivity - others.sensitivity, math.log(0.95))


def test_clauses_with_the_same_share_have_the_same_prefix() -> None:
    """Two classes are two shares; the same class with another tolerance is not."""
    again = "n.recall(fraud) - o.recall(fraud) > -0.05 +/- 0.05"
    other = "n.recall(spam) - o.recall(spam) > -0.01 +/- 0.01"
    both = shared_prefixes(made(rf"{DIFFERENCE} /\ {again}"))
    assert len(both) == 2
    assert len(set(both.values())) == 1
    assert next(iter(both.values())).length == max(
        next(iter(shared_prefixes(made(text)).values())).length for text in (DIFFERENCE, again)
    )
    two = shared_prefixes(made(rf"{DIFFERENCE} /\ {other}"))
    assert math.isclose(next(iter(two.values())).log_level, math.log(0.05 * 0.001 / 4.0))


def test_lengths_are_round_and_fixed() -> None:
    assert list(LENGTHS) == sorted(set(LENGTHS))
    assert LENGTHS[:7] == (100, 150, 200, 300, 400, 500, 700)


def test_more_commits_and_rarer_classes_make_it_longer() -> None:
    def length(**keys: object) -> int:
        return next(iter(shared_prefixes(made(DIFFERENCE, **keys)).values())).length

    assert length(steps=8) < length(steps=64)
    assert length(expected="fraud: 10%") < length(expected="fraud: 1%")


def test_the_plan_says_what_is_labelled_once() -> None:
    lines = " ".join(sequential(made()).derivation)
    assert "the first 20,000 examples are labelled once, because" in lines
    assert "5% of δ and of β" in lines
