"""Plans: which estimators apply, what they need, which is recommended, and what is explained."""

from __future__ import annotations

from itertools import permutations

import pytest

from easeci.errors import ScriptError
from easeci.plan import ESTIMATORS, plan
from easeci.script import Estimator
from tests.cases import each_case
from tests.scripts import script

EVERY_WAY = [
    r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01",
    r"d < 0.1 +/- 0.01 /\ n - o > 0.02 +/- 0.01",
    r"-o + n > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01",
    r"0.02 +/- 0.01 < n - o /\ 0.1 > d +/- 0.01",
    r"o - n < -0.02 +/- 0.01 /\ -d > -0.1 +/- 0.01",
    r"n > o + 2% +/- 1% /\ 2 * d < 20% +/- 2%",
    r"0.5 * n - 0.5 * o > 0.01 +/- 0.005 /\ d < 0.1 +/- 0.01",
]


def test_there_is_a_row_for_every_estimator() -> None:
    made = plan(script("n > 0.8 +/- 0.05"))
    assert [e.estimator for e in made.estimates] == [
        e for e in Estimator if e is not Estimator.AUTO
    ]
    assert len(ESTIMATORS) == len(made.estimates)


@each_case("condition", EVERY_WAY)
def test_pattern1_is_found_whatever_the_order(condition: str) -> None:
    made = plan(script(condition, steps=32))
    estimate = made.estimate(Estimator.PATTERN1)
    assert (estimate.examples, estimate.unlabelled) == (34_675, 66_847)
    assert made.estimate(Estimator.PATTERN1_ACTIVE).labels_per_commit == 4_161


@each_case(
    "condition", ["n - o > 0.02 +/- 0.01", "0.02 < n - o +/- 0.01", "3*o - 3*n < -0.06 +/- 0.03"]
)
def test_pattern2_is_found_whatever_the_order(condition: str) -> None:
    without = plan(script(condition, steps=32)).estimate(Estimator.PATTERN2)
    assert without.applies
    assert (without.examples, without.labels, without.labels_per_commit) == (None, None, None)
    assert "when it runs" in without.reason
    assert without.unlabelled == 16_712
    known = plan(script(condition, steps=32, difference=0.1)).estimate(Estimator.PATTERN2)
    assert (known.examples, known.labels, known.labels_per_commit) == (34_675, 0, 4_161)


@each_case("condition", ["n > 0.9 +/- 0.01", "-n < -0.9 +/- 0.01", "2*n > 1.8 +/- 0.02"])
def test_pattern3_is_found_whatever_the_order(condition: str) -> None:
    """n is measured roughly to 2B; then errors are at most 1 − A + 4B."""
    made = plan(script(condition, steps=32))
    assert made.estimate(Estimator.PATTERN3).examples == 40_302


@each_case(
    ("condition", "applying"),
    [
        (EVERY_WAY[0], {"hoeffding", "pattern1", "pattern1-active"}),
        ("n - o > 0.02 +/- 0.01", {"hoeffding", "pattern2"}),
        ("n > 0.9 +/- 0.01", {"hoeffding", "pattern3"}),
        ("n > 0.5 +/- 0.01", {"hoeffding"}),
        ("o > 0.9 +/- 0.01", {"hoeffding"}),
        ("n < 0.9 +/- 0.01", {"hoeffding"}),
        ("d < 0.1 +/- 0.01", {"hoeffding"}),
        ("n - 1.1 * o > 0.02 +/- 0.01", {"hoeffding"}),
        ("n - o + d > 0.02 +/- 0.01", {"hoeffding"}),
        (r"n - o > 0.02 +/- 0.01 /\ d > 0.1 +/- 0.01", {"hoeffding"}),
        (EVERY_WAY[0] + r" /\ n > 0.8 +/- 0.01", {"hoeffding"}),
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


@each_case("clauses", list(permutations(["n > 0.9 +/- 0.05", "d < 0.1 +/- 0.01"])))
def test_labels_are_what_the_labelled_clauses_need(clauses: tuple[str, ...]) -> None:
    """d is measured on more examples, but those need no label."""
    estimate = plan(script(r" /\ ".join(clauses))).estimate(Estimator.HOEFFDING)
    assert (
        estimate.labels
        == plan(script("n > 0.9 +/- 0.05", reliability=0.99995))
        .estimate(Estimator.HOEFFDING)
        .examples
    )
    assert estimate.examples is not None
    assert estimate.labels is not None
    assert estimate.examples > 20 * estimate.labels


def test_a_condition_on_d_alone_needs_no_labels() -> None:
    made = plan(script("d < 0.1 +/- 0.01", steps=32))
    assert all(e.labels == 0 for e in made.estimates if e.applies)
    assert made.recommended is Estimator.EXACT
    assert "needs no labels" in made.why
    assert made.savings == ()


def test_a_hundred_thousand_adaptive_steps() -> None:
    """Plans for very many steps work: 2^steps never overflows."""
    for condition in (EVERY_WAY[0], "n > 0.95 +/- 0.01"):
        made = plan(script(condition, steps=100_000, adaptivity="full"))
        baseline = made.estimate(Estimator.HOEFFDING)
        assert baseline.examples is not None
        assert baseline.examples > 10**8
        assert "2^100000" in "\n".join(baseline.derivation)


def test_the_scripts_own_estimator_decides() -> None:
    assert plan(script(EVERY_WAY[0], estimator="hoeffding")).chosen.estimator == "hoeffding"
    assert plan(script(EVERY_WAY[0])).chosen.estimator == "sequential"
    with pytest.raises(ScriptError, match="pattern3 does not fit this condition"):
        plan(script(EVERY_WAY[0], estimator="pattern3"))


@each_case("condition", [EVERY_WAY[0], "n - o > 0.02 +/- 0.01", "n > 0.9 +/- 0.01"])
def test_cheap_mode_says_what_looser_tolerances_save(condition: str) -> None:
    """The paper: a point or two of tolerance save up to ten times the labels."""
    one, two = plan(script(condition, steps=32)).savings
    assert (one.points, two.points) == (1, 2)
    assert 2.5 < one.factor < two.factor < 10


@each_case(("steps", "practical"), [(32, True), (16, False), (64, True)])
def test_practical_is_a_rate_of_labels(steps: int, practical: bool) -> None:
    """At most 60,000 labels for every 32 evaluations."""
    made = plan(script("n > 0.5 +/- 0.0125", steps=steps, estimator="hoeffding"))
    assert made.practical(made.chosen) is practical


def test_active_labelling_never_labels_an_example_twice() -> None:
    made = plan(script(EVERY_WAY[0], steps=1000))
    estimate = made.estimate(Estimator.PATTERN1_ACTIVE)
    assert estimate.labels_in_all(1000) == estimate.examples


def test_a_derivation_has_its_numbers() -> None:
    text = "\n".join(plan(script(EVERY_WAY[0], steps=32)).estimate(Estimator.PATTERN1).derivation)
    for part in (
        "0.0001",
        "32 steps test 32 models",
        "1.562e-6",
        "13.3692",
        "66,847",
        "0.12",
        "14.0624",
        "34,675",
        "p = A = 0.1: 29,048",
    ):
        assert part in text


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


def test_in_fn_free_a_clause_on_d_does_not_make_the_others_easier() -> None:
    """A commit that is bad by n − o must fail whatever its d is, unless it is bad by d as well."""
    condition = r"n - o > 0 +/- 0.02 /\ d < 0.3 +/- 0.14"
    sizes = {
        mode: plan(script(condition, mode=mode, reliability=0.9)).estimate(Estimator.SEQUENTIAL)
        for mode in ("fp-free", "fn-free")
    }
    strict = plan(script("n - o > 0 +/- 0.02", mode="fn-free", reliability=0.9, difference=0.58))
    wide = strict.estimate(Estimator.SEQUENTIAL).examples
    found = sizes["fn-free"].examples
    assert found is not None
    assert wide is not None
    assert found >= wide
    assert found > 5 * (sizes["fp-free"].examples or 0)
