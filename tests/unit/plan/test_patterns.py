"""The paper's patterns: found in every spelling, with the paper's sizes."""

from __future__ import annotations

from easeci.plan import plan
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
