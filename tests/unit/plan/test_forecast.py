"""Forecasts of a testset's life: the same each time, as the script asks, close to simulated lives."""

from __future__ import annotations

import math
import time
from itertools import pairwise, product

import pytest
from bench.forecast import AT_MOST, SCRIPTS, compare, script_of

from easeci.plan.commit_mix import BOLD, MIXED, MIXES, REFACTORING, TUNING, CommitMix
from easeci.plan.exact import exact_estimate
from easeci.plan.forecast import forecast
from easeci.plan.sequential import sequential
from easeci.script import Script
from tests.cases import each_case
from tests.scripts import script

MONTH = "n - o > 0.02 +/- 0.01"


def month(condition: str = MONTH, **keys: object) -> Script:
    return script(condition, **{"reliability": "0.9999", "steps": 32, "adaptivity": "full", **keys})


def labels(asked: Script, examples: int | None = 20_000) -> float:
    return forecast(asked, examples=examples).labels


def test_a_forecast_is_the_same_each_time_and_adds_up() -> None:
    one = forecast(month())
    assert one == forecast(month())
    assert one.per_commit == pytest.approx(one.labels / 32)
    assert (one.steps, one.mix) == (32, MIXED)
    assert one.commits == pytest.approx(32)
    assert one.labels < one.examples
    assert one.per_commit < one.worst_commit < one.labels


@each_case("condition", ["n - o > 0.02 +/- {}", "n > 0.9 +/- {}", "n - 1.1 * o > -0.08 +/- {}"])
def test_a_wider_tolerance_takes_fewer_labels(condition: str) -> None:
    found = [labels(month(condition.format(e))) for e in ("0.01", "0.015", "0.02", "0.04")]
    assert all(more > less for more, less in pairwise(found))


@each_case("key", ["reliability", "sensitivity"])
@each_case("mode", ["fp-free", "fn-free"])
def test_more_certainty_takes_more_labels(key: str, mode: str) -> None:
    values = ("0.9", "0.99", "0.999", "0.9999")
    found = [labels(month(mode=mode, **{"sensitivity": "0.95", key: value})) for value in values]
    assert all(less < more for less, more in pairwise(found))


def test_more_steps_take_more_labels_and_share_more_of_them() -> None:
    """Under ``none``, a condition on n has the same levels at all steps, so shares can be told."""
    found = [forecast(month(steps=steps), examples=50_000) for steps in (1, 4, 16, 64, 1000)]
    assert all(less.labels < more.labels < 50_000 for less, more in pairwise(found))
    alone, many = (
        forecast(month("n > 0.9 +/- 0.02", steps=steps, adaptivity="none"), examples=50_000)
        for steps in (1, 32)
    )
    assert many.per_commit < alone.per_commit / 3


def test_a_condition_that_labels_cannot_change_takes_none() -> None:
    """On d alone; and where so few predictions change that the gain is out of reach."""
    assert labels(month("d < 0.2 +/- 0.05")) == pytest.approx(0.0, abs=1e-6)
    assert labels(month("n - o > 0.1 +/- 0.02")) < 1.0
    assert labels(month(r"n - o > 0.02 +/- 0.01 /\ d > 0.3 +/- 0.01")) < 1.0


def test_exact_takes_every_label_that_matters() -> None:
    assert labels(month("n > 0.9 +/- 0.01", estimator="exact"), 5000) == pytest.approx(5000)
    one = labels(month(estimator="exact", steps=1), 5000)
    assert one == pytest.approx(0.08 * 5000)
    wrong, right = 0.048 / 0.3, 0.032 / 0.7
    union = 1.0 - 0.7 * (1.0 - right) ** 32 - 0.3 * (1.0 - wrong) ** 32
    assert labels(month(estimator="exact"), 5000) == pytest.approx(union * 5000, rel=0.02)


def test_each_estimator_has_its_own_size_and_published_ones_no_forecast() -> None:
    assert forecast(month(estimator="exact")).examples == exact_estimate(month()).examples
    assert forecast(month()).examples == sequential(month()).examples
    with pytest.raises(ValueError, match="no forecast for hoeffding"):
        forecast(month(estimator="hoeffding"))


def test_a_first_change_ends_the_life() -> None:
    first = forecast(month("n - o > 0.01 +/- 0.01", adaptivity="firstChange"), examples=30_000)
    assert 1.0 < first.commits < 20.0
    assert first.proofs == pytest.approx(1.0, abs=0.05)
    assert first.per_commit == pytest.approx(first.labels / first.commits)
    longer = forecast(
        month("n - o > 0.01 +/- 0.01", adaptivity="firstChange", steps=10**6), examples=30_000
    )
    assert longer.commits < 40.0


ODD = [
    "n - 1.1 * o > 0.01 +/- 0.01",
    "n > 0.9 +/- 0.02",
    r"n > 0.8 +/- 0.05 /\ n - o < 0.1 +/- 0.02",
    r"n - 1.1 * o > 0.01 +/- 0.01 /\ n - o < 0.1 +/- 0.02",
    "n - o > 0.02 +/- 0.05",
]
LIVES = [
    *product(["firstChange"], MIXES.values(), [32, 1000]),
    *product(["full", "none"], [TUNING], [1, 1000]),
]


@each_case("condition", ODD)
@each_case("mode", ["fp-free", "fn-free"])
@each_case(("adaptivity", "mix", "steps"), LIVES)
def test_every_forecast_is_a_possible_life(
    condition: str, mode: str, adaptivity: str, mix: CommitMix, steps: int
) -> None:
    """Probabilities that rounding takes beyond 1 once gave NaN, and lives of 10^72 commits."""
    asked = month(condition, mode=mode, adaptivity=adaptivity, steps=steps)
    life = forecast(asked, mix, 20_000)
    numbers = (life.labels, life.per_commit, life.worst_commit, life.proofs, life.passes)
    assert all(math.isfinite(number) and number >= 0.0 for number in numbers)
    assert life.commits >= 1.0 - 1e-9
    assert life.commits <= steps * (1 + 1e-9)
    assert max(life.proofs, life.passes) <= life.commits * (1 + 1e-9)
    assert life.labels <= 20_000 * (1 + 1e-9)
    if adaptivity == "firstChange":
        assert life.proofs <= 1 + 1e-9


def test_an_answer_that_no_assumed_commit_gets_is_known() -> None:
    """Also if asking stops before the first label: once all such commits were taken to pass."""
    assert forecast(month("n - o > 0.02 +/- 0.02"), TUNING, 20_000).passes == 0.0
    for condition, mode, passes, fails in (
        ("n - o > 0.02 +/- 0.01", "fp-free", True, True),
        ("n - o > 0.02 +/- 0.05", "fp-free", False, True),
        ("n - 1.1 * o > 0.01 +/- 0.01", "fn-free", False, True),
        ("n - o > -0.2 +/- 0.02", "fn-free", True, False),
        (r"n - o > 0.01 +/- 0.01 /\ d < 0.05 +/- 0.005", "fn-free", True, True),
    ):
        life = forecast(month(condition, mode=mode))
        assert (not life.none_passes, not life.none_fails) == (passes, fails), condition


def test_each_mix_has_its_own_forecast() -> None:
    """Commits that change nothing are known to change nothing without a label."""
    found = {mix.name: forecast(month(), mix, 50_000) for mix in MIXES.values()}
    assert found[REFACTORING.name].labels < 1.0
    assert found[TUNING.name].labels < found[MIXED.name].labels < found[BOLD.name].labels


def test_a_billion_steps_take_about_as_long_as_32() -> None:
    """Far steps go in groups. Both are measured in one run, so a slow machine does not matter."""

    def seconds(steps: int) -> float:
        asked = month(steps=steps)
        spent = []
        for _ in range(3):
            begun = time.process_time()
            forecast(asked, examples=50_000)
            spent.append(time.process_time() - begun)
        return min(spent)

    assert seconds(10**9) <= 6.0 * seconds(32)


QUICK = (2, 7, 9)


@each_case("number", QUICK)
def test_a_forecast_is_close_to_simulated_lives(number: int) -> None:
    """Within 15%, beyond three standard errors of few lives; `make test-long` takes many.

    If the forecast were exact, a standard error of 10% would make a false alarm less likely than
    one in 100,000 for each script. The seed is fixed.
    """
    compared = compare(script_of(*SCRIPTS[number]), lives=12, workers=1)
    assert abs(compared.ratio - 1.0) <= AT_MOST + 3.0 * compared.error


@pytest.mark.long
@each_case("number", range(len(SCRIPTS)))
def test_a_forecast_is_close_to_many_simulated_lives(number: int) -> None:
    """Within 15%, beyond one standard error of 100 lives."""
    compared = compare(script_of(*SCRIPTS[number]), lives=100)
    assert abs(compared.ratio - 1.0) <= AT_MOST + compared.error
