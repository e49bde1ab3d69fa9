"""Plans: which estimators apply, what they need, which is recommended, and what is explained."""

from __future__ import annotations

import time

import pytest

from easeci.errors import ScriptError
from easeci.evidence.sizing import examples_needed
from easeci.plan import Plan, plan
from easeci.plan.cheaper import MOST_EXAMPLES
from easeci.plan.commit_mix import MIXES
from easeci.plan.document import plan_document
from easeci.plan.estimators import ESTIMATORS
from easeci.plan.summary import MOST_LINES, summary_lines
from easeci.script import Estimator
from tests.cases import each_case
from tests.scripts import script

PAIR = r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01"


def test_there_is_a_row_for_every_estimator() -> None:
    made = plan(script("n > 0.8 +/- 0.05"))
    assert [e.estimator for e in made.estimates] == [
        e for e in Estimator if e is not Estimator.AUTO
    ]
    assert len(ESTIMATORS) == len(made.estimates)


@each_case(
    ("condition", "applying"),
    [
        (PAIR, {"hoeffding", "pattern1", "pattern1-active"}),
        ("n - o > 0.02 +/- 0.01", {"hoeffding", "pattern2"}),
        ("n > 0.9 +/- 0.01", {"hoeffding", "pattern3"}),
        ("n > 0.5 +/- 0.01", {"hoeffding"}),
        ("o > 0.9 +/- 0.01", {"hoeffding"}),
        ("n < 0.9 +/- 0.01", {"hoeffding"}),
        ("d < 0.1 +/- 0.01", {"hoeffding"}),
        ("n - 1.1 * o > 0.02 +/- 0.01", {"hoeffding"}),
        ("n - o + d > 0.02 +/- 0.01", {"hoeffding"}),
        (r"n - o > 0.02 +/- 0.01 /\ d > 0.1 +/- 0.01", {"hoeffding"}),
        (PAIR + r" /\ n > 0.8 +/- 0.01", {"hoeffding"}),
    ],
)
def test_every_other_estimator_says_why_it_does_not_apply(
    condition: str, applying: set[str]
) -> None:
    made = plan(script(condition))
    ours = {"exact", "sequential"}
    assert {str(e.estimator) for e in made.estimates if e.applies} == applying | ours
    for estimate in made.estimates:
        assert estimate.reason
        assert bool(estimate.derivation) == estimate.applies
        if not estimate.applies:
            assert (estimate.examples, estimate.labels) == (None, None)


def test_a_condition_on_d_alone_needs_no_labels() -> None:
    made = plan(script("d < 0.1 +/- 0.01", steps=32))
    assert all(e.labels == 0 for e in made.estimates if e.applies)
    assert made.recommended is Estimator.EXACT
    assert "needs no labels" in made.why
    assert made.savings == ()


def test_nothing_is_saved_on_a_condition_that_no_commit_can_pass() -> None:
    made = plan(script(r"d < 0.05 +/- 0.01 /\ n - o > 0.1 +/- 0.01"))
    assert made.useless
    assert made.savings == ()
    assert plan_document(made)["cheap_mode"] == []


@each_case(
    ("condition", "commits"),
    [("n - o > 0.02 +/- 0.02", "tuning"), ("n - o > 0.02 +/- 0.05", "mixed")],
)
def test_a_plan_warns_if_no_assumed_commit_is_expected_to_pass(
    condition: str, commits: str
) -> None:
    """Then few labels are needed, which would look like good news."""
    made = plan(script(condition, steps=32, adaptivity="full"), MIXES[commits])
    assert made.script.warnings() == ()
    (warning,) = made.warnings
    assert warning.startswith("no commit like the assumed ones is expected to pass: they gain at")
    assert plan_document(made)["warnings"] == [warning]
    usual = plan(script("n - o > 0.02 +/- 0.01", steps=32, adaptivity="full"))
    assert usual.warnings == ()


def test_a_printed_plan_is_its_summary() -> None:
    made = plan(script("n - o > 0.02 +/- 0.01", steps=32))
    lines = str(made).splitlines()
    assert lines == [line.text for line in summary_lines(made)]
    assert len(lines) <= MOST_LINES
    assert lines[0] == "n - o > 0.02 +/- 0.01"
    assert [line.split()[0] for line in lines[2:4]] == ["Bring", "Label"]


def test_the_scripts_own_estimator_decides() -> None:
    assert plan(script(PAIR, estimator="hoeffding")).chosen.estimator == "hoeffding"
    assert plan(script(PAIR)).chosen.estimator == "sequential"
    with pytest.raises(ScriptError, match="pattern3 does not fit this condition"):
        plan(script(PAIR, estimator="pattern3"))


@each_case("condition", [PAIR, "n - o > 0.02 +/- 0.01", "n > 0.9 +/- 0.01"])
def test_cheap_mode_says_what_looser_tolerances_save(condition: str) -> None:
    """The paper: a point or two of tolerance save up to ten times the labels."""
    one, two = plan(script(condition, steps=32)).savings
    assert (one.points, two.points) == (1, 2)
    assert 2.5 < one.factor < two.factor < 10


@each_case(("steps", "practical"), [(32, True), (16, False), (64, True)])
def test_practical_is_a_rate_of_labels(steps: int, practical: bool) -> None:
    """At most 60,000 labels for every 32 evaluations."""
    made = plan(script("n > 0.5 +/- 0.0125", steps=steps, estimator="hoeffding"))
    assert made.row(made.decides_by).practical is practical


ODD = [
    "n > 0 +/- 0.05",
    "n < 1 +/- 0.05",
    "d > 0 +/- 0.1",
    "n - o > -1 +/- 0.5",
    "n - o + d > 0 +/- 0.05",
    r"d < 0.1 +/- 0.02 /\ n - 1.1*o > 0.09 +/- 0.02",
    r"d < 0.1 +/- 0.02 /\ n - o + d > 0.25 +/- 0.05",
    r"d < 0.1 +/- 0.02 /\ d - n + o > 0.22 +/- 0.05",
    r"d < 0.02 +/- 0.02 /\ n - o > 0.5 +/- 0.05",
    "n > 0.9 +/- 5",
]


@each_case("condition", ODD)
@each_case("mode", ["fp-free", "fn-free"])
@each_case("adaptivity", ["none", "full"])
def test_odd_conditions_are_planned_too(condition: str, mode: str, adaptivity: str) -> None:
    """Every estimator sizes constants at the end of the range and contradictory clauses."""
    made = plan(script(condition, mode=mode, adaptivity=adaptivity, steps=3, reliability=0.9))
    for estimate in made.estimates:
        if estimate.applies and estimate.examples is not None:
            assert estimate.examples >= 1
            assert (estimate.labels_per_commit or 0) <= estimate.examples


@pytest.mark.long
@each_case("adaptivity", ["full", "none", "firstChange"])
def test_a_plan_takes_no_longer_for_more_steps(adaptivity: str) -> None:
    """A thousand million steps take about as long as 32: once they took 500 times as long.

    The fastest of several runs counts, in processor time, and ten times as long is allowed.
    """

    def seconds(steps: int) -> float:
        asked = script("n - o > 0.02 +/- 0.01", adaptivity=adaptivity, steps=steps)
        times = []
        for _ in range(2):
            examples_needed.cache_clear()
            begun, made = time.process_time(), Plan(asked)
            for estimator in ESTIMATORS.values():
                estimator(asked)
            assert made.life.labels > 0
            assert (made.cheaper is None) == (made.life.examples > MOST_EXAMPLES)
            times.append(time.process_time() - begun)
        return min(times)

    assert seconds(10**9) < 10 * seconds(32)
