"""The tests that estimators design agree with the paper's formulas."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from easeci.plan import BennettTest, FirstStage, HoeffdingTest, Observation, Rare, plan
from easeci.script import Estimator
from tests.cases import each_case
from tests.scripts import script

LEVEL = math.log(0.01)


def stage(ceiling: Fraction | None, rare: Rare = Rare.DIFFERENCE) -> FirstStage:
    return FirstStage(rare, Fraction(1, 20), LEVEL, ceiling)


def hoeffding(examples: int) -> float:
    return math.sqrt(-LEVEL / (2 * examples))


def test_a_first_stage_of_the_planned_size() -> None:
    """N′ = −ln δ′ / (2 ε′²); then A + 2ε′ up to A + ε′, and what was measured + ε′ beyond."""
    size = stage(None).sample_size
    assert size == math.ceil(-LEVEL / (2 * 0.05**2))
    low, high = Fraction(1, 10), Fraction(3, 10)
    assert stage(low).share(Fraction(1, 100), size) == Fraction(1, 5)
    assert stage(low).share(Fraction(15, 100), size) == Fraction(1, 5)
    assert stage(low).share(Fraction(16, 100), size) == Fraction(21, 100)
    assert stage(None).share(high, size) == Fraction(35, 100)
    assert stage(None).share(Fraction(99, 100), size) == 1


@each_case("examples", [10, 100, 900])
def test_a_first_stage_that_is_too_small_is_less_sure(examples: int) -> None:
    """With fewer examples than planned the share is less certain, so p is larger."""
    wide = hoeffding(examples)
    assert wide > 0.05
    assert float(stage(None).share(Fraction(1, 10), examples)) == pytest.approx(0.1 + wide)
    assert float(stage(Fraction(1, 10)).share(Fraction(0), examples)) == pytest.approx(
        min(1.0, 0.1 + 2 * wide)
    )


def h(u: float) -> float:
    return (1 + u) * math.log(1 + u) - u


@each_case("scale", [1, -1, 3])
@each_case("difference", ["0.02", "0.3", "0.9"])
@each_case("examples", [50, 800, 30_000])
def test_bennetts_tolerance_solves_its_inequality(
    scale: int, difference: str, examples: int
) -> None:
    """If the tolerance t is wider than the script's, then 2 exp(−N p h(t/p)) = δ′."""
    condition = f"{scale} * n - {scale} * o > 0.001 +/- 0.01".replace("-1 * n - -1 * o", "o - n")
    made = plan(script(condition, reliability=0.98, estimator="pattern2"))
    (test,) = made.chosen.tests
    assert isinstance(test, BennettTest)
    d = Fraction(difference)
    seen = Observation(examples, d, examples, Fraction(0))
    p = float(test.first_stage.share(d, examples))
    tolerance = float(test.tolerance(seen)) / abs(scale)
    log_tail = math.log(2) - examples * p * h(tolerance / p)
    if examples >= test.needed(seen):
        assert test.tolerance(seen) == test.clause.tolerance
        assert log_tail <= test.log_level + 1e-9
    else:
        assert tolerance * abs(scale) > 0.01
        assert log_tail == pytest.approx(test.log_level)


def test_pattern3_needs_its_coarse_stage_too() -> None:
    """With a very large A the fine stage needs fewer examples than the coarse one."""
    made = plan(script("n > 0.99 +/- 0.002", estimator="pattern3"))
    (test,) = made.chosen.tests
    assert isinstance(test, BennettTest)
    perfect = Observation(10**6, Fraction(0), 10**6, Fraction(1))
    fine = test.sample_size_for(test.share(perfect))
    assert fine < test.first_stage.sample_size == test.needed(perfect) == made.chosen.examples


@each_case("examples", [10, 1000, 10**6])
def test_hoeffdings_tolerance_adds_up_over_variables(examples: int) -> None:
    """Σ |coefficient| · sqrt(ln(1/δ′) / 2N), δ′ a share for each clause and variable."""
    made = plan(script(r"n - 1.1*o > 0 +/- 0.01 /\ d < 0.5 +/- 0.01", reliability=0.98))
    test = made.estimate(Estimator.HOEFFDING).tests[0]
    assert isinstance(test, HoeffdingTest)
    seen = Observation(examples, Fraction(0), examples, Fraction(0))
    single = math.sqrt(math.log(4 / 0.02) / (2 * examples))
    assert float(test.tolerance(seen)) == pytest.approx(max(0.01, 2.1 * single))
