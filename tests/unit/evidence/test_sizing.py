"""Testsets are large enough for the promise, and forecasts are close to what happens."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from easeci.evidence.clause_test import Goal, SequentialTest, Targets
from easeci.evidence.codes import Codes
from easeci.evidence.endings import Ending
from easeci.evidence.labelled import LabelledTestset
from easeci.evidence.levels import StepLevels
from easeci.evidence.sizing import examples_needed, forecast_labels, labels_at
from easeci.script import Mode, compile_condition, parse_condition
from tests.cases import each_case

LEVEL = math.log(1e-4 / 32)
TARGETS = Targets.of(StepLevels(LEVEL, LEVEL, LEVEL))


def goal_of(condition: str, mode: Mode = Mode.FP_FREE) -> Goal:
    return Goal.of(compile_condition(parse_condition(condition))[0], mode)


def draw(law: list[float], size: int, source: np.random.Generator) -> Codes:
    return source.choice(5, size, p=law).astype(np.uint8)


def test_known_sizes() -> None:
    """The size lies between the exact size of a fixed sample (21,558) and twice that."""
    size = examples_needed(goal_of("n - o > 0.02 +/- 0.01"), TARGETS, LEVEL - math.log(10), 0.1)
    assert 21_558 < size < 43_116


@pytest.mark.long
@each_case(
    ("condition", "difference", "law"),
    [
        ("n - o > 0.02 +/- 0.05", 0.3, [0.6, 0.1, 0.21, 0.09, 0.0]),
        ("n - o > -0.1 +/- 0.05", 0.3, [0.6, 0.1, 0.15, 0.15, 0.0]),
        ("n - o > 0 +/- 0.05", 0.3, [0.6, 0.1, 0.2, 0.1, 0.0]),
        ("n > 0.7 +/- 0.05", 0.3, [0.6, 0.1, 0.2, 0.1, 0.0]),
        ("d > 0.2 +/- 0.05", 1.0, [0.6, 0.1, 0.2, 0.1, 0.0]),
    ],
)
def test_a_clear_gain_is_seldom_missed_for_lack_of_examples(
    condition: str, difference: float, law: list[float]
) -> None:
    """At Φ = c + 2ε, a testset sized for a miss in 20 misses in at most 1 of 20 draws.

    400 draws: a right size fails this less than once in 10,000 times.
    """
    targets = Targets.of(StepLevels(math.log(0.01), -1e9, math.log(0.01)))
    goal = goal_of(condition)
    size = examples_needed(goal, targets, math.log(0.05), difference)
    source = np.random.default_rng(5)
    missed = 0
    for _ in range(400):
        codes = draw(law, size, source)
        differing = int(np.count_nonzero(codes >= 2))
        walk = SequentialTest.of(goal, targets, size, differing).walk(LabelledTestset(codes))
        missed += walk.ending is not Ending.PROVEN
    assert missed <= 20 + 18


def test_sizes_are_computed_at_once() -> None:
    start = time.perf_counter()
    for condition in ("n - o > 0.02 +/- 0.01", "n > 0.8 +/- 0.01", "d < 0.1 +/- 0.01"):
        assert examples_needed(goal_of(condition), TARGETS, LEVEL, 0.1) > 1000
    assert time.perf_counter() - start < 2.0


def test_forecasts_order_the_commits_as_one_expects() -> None:
    found = forecast_labels(goal_of("n - o > 0.02 +/- 0.01"), TARGETS, 67_706, 0.1)
    assert found.unchanged < found.middle
    assert found.better < found.middle <= found.worst
    assert 100 < found.unchanged < 260


def test_a_forecast_is_near_the_mean_of_simulations() -> None:
    goal = goal_of("n - o > 0.02 +/- 0.01")
    forecast = labels_at(SequentialTest.of(goal, TARGETS, 20_000, 2_000), 0.1, 0.0)
    source = np.random.default_rng(1)
    labels = []
    for _ in range(60):
        codes = draw([0.8, 0.1, 0.05, 0.05, 0.0], 20_000, source)
        differing = int(np.count_nonzero(codes >= 2))
        labels.append(
            SequentialTest.of(goal, TARGETS, 20_000, differing).walk(LabelledTestset(codes)).labels
        )
    assert 0.75 < forecast / np.mean(labels) < 1.4


def test_where_nothing_is_promised_one_example_is_enough() -> None:
    """A constant at the end of the range: no mean lies beyond it."""
    impossible = Goal(goal_of("n > 0.5 +/- 0.1").score, 1.0, 0.1)
    assert examples_needed(impossible, TARGETS, LEVEL, 1.0) == 1
