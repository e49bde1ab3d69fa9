"""Intervals hold the truth at every label at once.

Simulated at .9: a path counts as a miss if at any of its labels the interval lacks the true mean. A
right engine has more misses than ``allowed`` less than once in 1,000 times. On tiny testsets all
paths are enumerated, so that nothing is left to chance.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from easeci.bounds import binomial
from easeci.evidence.bets import Floats
from easeci.evidence.cells import differs
from easeci.evidence.clause_test import Goal, SequentialTest, Targets, Walk, table_of
from easeci.evidence.codes import Codes
from easeci.evidence.confidence import Seen, Walked
from easeci.evidence.labelled import LabelledTestset
from easeci.script import Mode, Score, compile_condition, parse_condition
from easeci.script.outcomes import Cell
from tests.cases import each_case

LAW = (0.5, 0.2, 0.14, 0.1, 0.06)
SIZE = 150
SIDE = math.log(0.05)
TARGETS = Targets(1e9, 1e9, 1e9)  # walks never stop


def allowed(runs: int, error: float = 0.1) -> int:
    """The most misses that a right engine has, but for one time in 1,000."""
    return next(k for k in range(runs) if float(np.exp(binomial.log_sf(k, runs, error))) < 1e-3)


def walk_of(condition: str, codes: Codes) -> Walk:
    (clause,) = compile_condition(parse_condition(f"{condition} > 0 +/- 0.1"))
    goal = Goal.of(clause, Mode.FP_FREE)
    test = SequentialTest.of(goal, TARGETS, len(codes), int(differs(codes).sum()))
    return test.walk(LabelledTestset(codes))


def whole_path(condition: str, codes: Codes) -> Walked:
    walk = walk_of(condition, codes)
    return walk.walked(walk.test.goal.score, np.arange(len(walk.codes) + 1))


def missed(low: Floats, high: Floats, truth: float) -> bool:
    return bool((low > truth).any() or (high < truth).any())


def misses(condition: str, runs: int, law: tuple[float, ...] = LAW) -> int:
    draw = np.random.default_rng(5)
    found = 0
    for _ in range(runs):
        path = whole_path(condition, draw.choice(5, SIZE, p=law).astype(np.uint8))
        low, high = path.limits(SIDE)
        found += missed(low, high, float(np.dot(path.table.scores, law)))
    return found


CONDITIONS = ["n", "n - o", "n - 1.1 * o"]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_truth_is_inside_at_every_label_at_once(condition: str) -> None:
    assert misses(condition, 120) <= allowed(120)


@pytest.mark.long
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("law", [LAW, (0.9, 0.05, 0.03, 0.01, 0.01), (0.2, 0.1, 0.35, 0.35, 0.0)])
def test_the_truth_is_inside_on_many_more_paths(condition: str, law: tuple[float, ...]) -> None:
    assert misses(condition, 3_000, law) <= allowed(3_000)


def test_limits_for_one_label_would_not_do() -> None:
    """The check can fail: exact limits for each label by itself miss far more often."""
    draw, found, runs = np.random.default_rng(6), 0, 60
    lower, upper = cache(binomial.lower_limit), cache(binomial.upper_limit)
    truth = LAW[0] + LAW[2]
    for _ in range(runs):
        right = np.isin(draw.choice(5, 100, p=LAW), (0, 2)).cumsum()
        low = [lower(int(k), i, SIDE) for i, k in enumerate(right, 1)]
        high = [upper(int(k), i, SIDE) for i, k in enumerate(right, 1)]
        found += missed(np.array(low), np.array(high), truth)
    assert found > allowed(runs)


def enumerated(score: Score, law: tuple[Fraction, ...], size: int, side: float) -> Fraction:
    """The probability that the interval lacks the truth at some label, over all testsets."""
    table = table_of(score)
    truth = float(sum(p * score.of(cell) for p, cell in zip(law, Cell, strict=True)))
    inside: dict[tuple[object, ...], bool] = {}
    total = Fraction(0)
    for codes in itertools.product([c for c in range(5) if law[c]], repeat=size):
        weight = math.prod((law[code] for code in codes), start=Fraction(1))
        relevant = [i for i, c in enumerate(codes) if c >= 2 or score.counts_everywhere]
        ends = [*relevant, size]
        for labels, end in enumerate(ends):
            used = [codes[i] for i in relevant[:labels]]
            counts = tuple(used.count(code) for code in range(5))
            key = (counts, end - labels, len(relevant))
            if key not in inside:
                seen = Seen(table, counts, counts, end - labels, size, len(relevant), side)
                low, high = seen.interval
                inside[key] = low <= truth <= high
            if not inside[key]:
                total += weight
                break
    return total


HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
NOTHING = Fraction(0)


@each_case("side", [0.05, 0.2, 0.4])
@each_case(
    ("score", "law", "size"),
    [
        (
            Score.linear(Fraction(1), NOTHING, NOTHING),
            (Fraction(4, 5), Fraction(1, 5), *[NOTHING] * 3),
            10,
        ),
        (Score.linear(Fraction(1), NOTHING, NOTHING), (HALF, HALF, *[NOTHING] * 3), 10),
        (
            Score.linear(Fraction(1), -Fraction(1), NOTHING),
            (THIRD, NOTHING, THIRD, THIRD, NOTHING),
            8,
        ),
        (
            Score.linear(Fraction(1), -Fraction(1), NOTHING),
            (Fraction(3, 4), NOTHING, Fraction(3, 16), Fraction(1, 16), NOTHING),
            8,
        ),
        (
            Score.linear(Fraction(1), Fraction(-11, 10), NOTHING),
            (HALF, NOTHING, Fraction(1, 4), Fraction(1, 4), NOTHING),
            8,
        ),
    ],
)
def test_all_tiny_testsets_together_miss_no_more_than_the_level(
    side: float, score: Score, law: tuple[Fraction, ...], size: int
) -> None:
    assert enumerated(score, law, size, math.log(side)) <= 2 * side
