"""The change that halves the labels: it does, it is the first that does, and it says its price."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from easeci.plan import plan
from easeci.plan.cheaper import FEW_LABELS, SMALL_D, _closer, cheapest_change
from easeci.plan.commit_mix import MIXES
from easeci.script import Estimator, Script
from easeci.service.scripts import make_script
from tests.cases import each_case


@each_case(
    ("condition", "keys", "changed", "words"),
    [
        (
            "n - o > 0.02 +/- 0.01",
            {},
            "n - o > 0.02 +/- 0.015",
            "a pass is then certain only with n - o from +5.0 points",
        ),
        (
            "n > 0.9 +/- 0.01",
            {},
            "n > 0.9 +/- 0.015",
            "a pass is then certain only with n from 93.0%",
        ),
        (
            "n - o > 0 +/- 0.01",
            {"mode": "fn-free", "sensitivity": 0.95},
            "n - o > 0 +/- 0.015",
            "a fail is then certain only with n - o at or below -3.0 points",
        ),
    ],
)
def test_a_wider_tolerance(
    condition: str, keys: dict[str, object], changed: str, words: str
) -> None:
    """The script with the change really has half the labels, by its own plan."""
    now, then = plan(make_script(condition, **keys)), plan(make_script(changed, **keys))
    change = now.cheaper
    assert change is not None
    assert change.write == f"'{changed}'"
    assert change.gives_up == words
    assert change.labels == then.labels.in_all
    assert 2 * change.labels <= now.labels.in_all


def test_a_lower_sensitivity_is_named_first_where_it_is_enough() -> None:
    """Nothing but β is changed, and safety does not depend on it."""
    asked = make_script("n - o > 0 +/- 0.02", reliability="0.9", sensitivity="0.9999999999")
    change = plan(asked).cheaper
    assert change is not None
    assert change.write.startswith("sensitivity: 0.9")
    risk = 1 - Fraction(change.write.removeprefix("sensitivity: "))
    assert (
        change.gives_up == f"in 1 of {int(1 / risk):,} testsets a clearly good commit may then fail"
    )
    after = plan(replace(asked, sensitivity=1 - risk))
    assert change.labels == after.labels.in_all <= plan(asked).labels.in_all / 2


def test_a_clause_on_d_says_for_which_commits_its_number_holds() -> None:
    """The mix is fitted to the clause, so the number is not for all commits."""
    keys = {"reliability": "0.99", "steps": 8}
    now = plan(make_script("n - o > 0.03 +/- 0.012", **keys))
    change = now.cheaper
    assert change is not None
    assert change.write == r"'/\ d < 0.075 +/- 0.0075' at the end"
    assert change.gives_up == (
        "that is for commits that change up to 6% of the predictions; one that changes 7.5% then "
        "fails"
    )
    then = plan(make_script(r"n - o > 0.03 +/- 0.012 /\ d < 0.075 +/- 0.0075", **keys))
    assert change.labels == then.labels.in_all <= now.labels.in_all / 2
    assert then.life.mix.difference == pytest.approx(0.06)


def test_no_clause_on_d_is_tried_in_fn_free() -> None:
    """There, all commits would fail by it: once it was recommended, because it took no label."""
    for mode, kinds in (("fp-free", 1), ("fn-free", 0)):
        asked = make_script("n - o > 0.03 +/- 0.012", mode=mode)
        assert len([*_closer(asked, plan(asked).life, SMALL_D)]) == kinds


def test_a_lower_reliability_where_a_wider_tolerance_is_not_enough() -> None:
    """Two clauses ask for almost the same labels, so it does not help to widen one of them."""
    keys = {"sensitivity": "0.9", "steps": 8, "mode": "fn-free", "adaptivity": "firstChange"}
    condition = r"n > 0.9 +/- 0.01 /\ n > 0.899 +/- 0.01"
    now = plan(make_script(condition, reliability="0.999999999999", **keys))
    change = now.cheaper
    assert change is not None
    assert change.write == "reliability: 0.999"
    assert change.gives_up == "in 1 of 1,000 testsets a wrong fail may then happen"
    then = plan(make_script(condition, reliability="0.999", **keys))
    assert change.labels == then.labels.in_all <= now.labels.in_all / 2


def test_no_change_is_named_under_which_no_commit_is_expected_to_pass() -> None:
    """Few labels are easy if every commit fails."""
    now = plan(make_script("n - o > 0.02 +/- 0.02", reliability="0.999"))
    then = plan(make_script("n - o > 0.02 +/- 0.03", reliability="0.999"))
    assert not now.none_passes
    assert then.none_passes
    assert FEW_LABELS < 2 * then.labels.in_all <= now.labels.in_all
    assert now.cheaper is None


def test_nothing_is_recommended_if_no_commit_is_expected_to_pass() -> None:
    made = plan(make_script("n - 1.1 * o > 0.01 +/- 0.01"))
    assert made.life.labels > FEW_LABELS
    assert made.none_passes
    assert made.cheaper is None


def test_another_estimator_than_ours_is_changed_first() -> None:
    for name in ("hoeffding", "exact", "pattern2"):
        made = plan(make_script("n - o > 0.02 +/- 0.01", estimator=name, difference=0.1))
        assert made.cheaper is not None
        assert made.cheaper.write == "estimator: auto"
        assert (
            made.cheaper.labels
            == plan(replace(made.script, estimator=Estimator.AUTO)).labels.in_all
        )


@each_case(
    "script",
    [
        make_script("d < 0.1 +/- 0.01"),
        make_script("n > 0.9 +/- 0.08"),
        make_script(r"d < 0.1 +/- 0.01 /\ n - o > 0.2 +/- 0.01"),
        make_script("n - o > 0.02 +/- 0.01", steps=10**8),
    ],
)
def test_nothing_is_named_where_nothing_helps(script: Script) -> None:
    """No labels, warnings, or more examples than anybody has."""
    assert plan(script).cheaper is None


def test_few_labels_need_no_change() -> None:
    made = plan(make_script("n - o > 0.02 +/- 0.01"))
    few = replace(made.life, labels=FEW_LABELS - 1.0)
    assert cheapest_change(made.script, MIXES["mixed"], few) is None
