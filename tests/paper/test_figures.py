"""Every number that the paper prints about sample sizes, and the ones it implies."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from paper.published import TABLE, Cell

from easeci.bounds import Bennett, Hoeffding
from easeci.plan import BennettTest, Estimate, plan
from easeci.script import Estimator
from tests.cases import each_case
from tests.scripts import script


def baseline(condition: str, **keys: object) -> Estimate:
    return plan(script(condition, **keys)).estimate(Estimator.HOEFFDING)


def test_the_table_has_64_cells() -> None:
    assert len(TABLE) == 64
    assert all(cell.red == (cell.size > 60_000) for cell in TABLE)


@pytest.mark.long
@each_case("cell", TABLE)
def test_table(cell: Cell) -> None:
    """F1 and F4 have one variable, F2 and F3 have two; the constant does not matter."""
    one = cell.condition.startswith("n >")
    conditions = ["n > 0.5", "d < 0.5"] if one else ["n - o > 0.1", "o - n < -0.3"]
    for condition in conditions:
        made = plan(
            script(
                f"{condition} +/- {cell.tolerance}",
                reliability=cell.reliability,
                steps=32,
                adaptivity=cell.adaptivity,
            )
        )
        estimate = made.estimate(Estimator.HOEFFDING)
        assert estimate.examples == cell.size
        if condition != "d < 0.5":
            assert made.row(Estimator.HOEFFDING).practical == (not cell.red)


@each_case("steps", [1, 32])
def test_hybrid_costs_what_non_adaptive_does(steps: int) -> None:
    sizes = {
        baseline("n > 0.5 +/- 0.01", steps=steps, adaptivity=adaptivity).examples
        for adaptivity in ("none", "firstChange", "hybrid")
    }
    assert len(sizes) == 1


@each_case(
    ("steps", "adaptivity", "size"),
    [(1, "none", 46_052), (32, "none", 63_381), (32, "full", 156_956)],
)
def test_one_accuracy_point_for_one_variable(steps: int, adaptivity: str, size: int) -> None:
    """46K, 63K and 156K labels: the introduction's numbers."""
    assert baseline("n > 0.8 +/- 0.01", steps=steps, adaptivity=adaptivity).examples == size


def test_five_accuracy_points_fully_adaptive() -> None:
    assert baseline("n > 0.8 +/- 0.05", steps=32, adaptivity="full").examples == 6_279


def test_the_example_with_three_terms_has_the_optimal_split() -> None:
    """F :- n - 1.1 * o > 0.01 +/- 0.01 /\\ d < 0.1 +/- 0.01, against a search over all splits."""
    condition = r"n - 1.1 * o > 0.01 +/- 0.01 /\ d < 0.1 +/- 0.01"
    assert baseline(condition, steps=32, adaptivity="none").examples == 310_076
    level = math.log(0.0001 / 32)

    def size(first: float) -> float:
        second = 0.01 - first
        quarter, half = level - math.log(4), level - math.log(2)
        return max(
            -quarter / (2 * first**2),
            -(1.1**2) * quarter / (2 * second**2),
            -half / (2 * 0.01**2),
        )

    best = min(size(0.01 * i / 100_000) for i in range(1, 100_000))
    assert math.ceil(size(0.005)) == 340_310  # an equal split is worse
    assert 310_076 <= math.ceil(best) <= 310_080


PATTERN1 = r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01"


def pattern1_test(adaptivity: str, steps: int = 32) -> BennettTest:
    made = plan(script(PATTERN1, steps=steps, adaptivity=adaptivity))
    test = made.estimate(Estimator.PATTERN1).tests[0]
    assert isinstance(test, BennettTest)
    return test


@each_case(("adaptivity", "size"), [("none", 29_048), ("full", 67_706)])
def test_pattern1_at_the_printed_variance(adaptivity: str, size: int) -> None:
    """29K and 67K samples: the paper takes p = A."""
    assert pattern1_test(adaptivity).sample_size_for(Fraction(1, 10)) == size


@each_case(("adaptivity", "size"), [("none", 34_675), ("full", 80_822)])
def test_pattern1_as_the_filter_allows(adaptivity: str, size: int) -> None:
    """The paper's own filter guarantees only p = A + 2ε′."""
    estimate = plan(script(PATTERN1, steps=32, adaptivity=adaptivity)).estimate(Estimator.PATTERN1)
    assert (estimate.examples, estimate.labels) == (size, size)
    if adaptivity == "none":
        assert estimate.unlabelled == 66_847


@each_case(
    ("adaptivity", "steps", "labels"),
    [("none", 1, 2_189), ("none", 32, 2_905), ("full", 32, 6_771)],
)
def test_active_labelling_at_the_printed_variance(adaptivity: str, steps: int, labels: int) -> None:
    """2,188 labels a commit in the paper, which rounds down and ignores the other steps."""
    made = plan(script(PATTERN1, steps=steps, adaptivity=adaptivity))
    text = "\n".join(made.estimate(Estimator.PATTERN1_ACTIVE).derivation)
    assert f"{labels:,} labels a commit" in text


def test_the_printed_active_labelling_stands_in_every_derivation() -> None:
    made = plan(script(PATTERN1, steps=32, adaptivity="full"))
    derivation = "\n".join(made.estimate(Estimator.PATTERN1_ACTIVE).derivation)
    assert "6,771 labels a commit" in derivation
    assert "2,189" in derivation
    assert "67,706 examples" in "\n".join(made.estimate(Estimator.PATTERN1).derivation)


@each_case(
    ("bound", "epsilon", "log_histories", "size"),
    [
        (Hoeffding(2.0, 2), 0.02, math.log(7), 44_269),
        (Hoeffding(2.0, 2), 0.02, 7 * math.log(2), 58_799),
        (Bennett(0.1), 0.02, math.log(7), 4_713),
        (Bennett(0.1), 0.022, 7 * math.log(2), 5_204),
        (Bennett(0.1), 0.02, 7 * math.log(2), 6_260),
    ],
)
def test_semeval(
    bound: Hoeffding | Bennett, epsilon: float, log_histories: float, size: int
) -> None:
    """Seven steps at reliability 0.998: what 5,509 test items allow, and what they don't."""
    assert bound.sample_size(epsilon, math.log(0.002) - log_histories) == size


def test_pattern2_needs_a_first_testset_sixteen_times_smaller() -> None:
    """4 times for twice the tolerance, 4 times for half the range."""
    made = plan(script("n - o > 0.02 +/- 0.01", steps=32))
    first = made.estimate(Estimator.PATTERN2).unlabelled
    direct = made.estimate(Estimator.HOEFFDING).examples
    assert first is not None
    assert direct is not None
    assert direct / first == pytest.approx(16, rel=1e-3)
