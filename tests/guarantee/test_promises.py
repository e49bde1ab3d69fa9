"""Whole conditions keep both promises, in both modes, at levels that can be seen.

Each rate is measured on 80 testsets at a promised .1; a right engine exceeds ``ALLOWED`` less than
once in 100,000 times.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from easeci.evidence.clause_test import FUTILITY_SHARE, Goal, Targets
from easeci.evidence.levels import StepLevels
from easeci.evidence.sizing import examples_needed
from easeci.script import Mode, compile_condition, parse_condition
from easeci.verdict.sequential import decide_sequentially
from tests.cases import each_case

RUNS = 80
ALLOWED = 21
LEVEL = math.log(0.1)
LEVELS = StepLevels(LEVEL, LEVEL, LEVEL)


def pass_rate(condition: str, mode: Mode, law: list[float], size: int) -> int:
    clauses = compile_condition(parse_condition(condition))
    draw = np.random.default_rng(2)
    testsets = (draw.choice(5, size, p=law).astype(np.uint8) for _ in range(RUNS))
    return sum(bool(decide_sequentially(clauses, mode, LEVELS, t).passed) for t in testsets)


def size_for(condition: str, mode: Mode, difference: float) -> int:
    """Large enough that exhaustion takes no more than its share of β."""
    clauses = compile_condition(parse_condition(condition))
    share = math.log(len(clauses))
    spoiled = LEVEL + math.log(1.0 - FUTILITY_SHARE) - (share if mode is Mode.FP_FREE else 0.0)
    safety = LEVEL - (share if mode is Mode.FN_FREE else 0.0)
    targets = Targets.of(StepLevels(safety, LEVEL, LEVEL))
    return max(
        examples_needed(Goal.of(clause, mode), targets, spoiled, difference) for clause in clauses
    )


BOTH = "n - o > 0.05 +/- 0.05 /\\ n > 0.6 +/- 0.05"
ONE = "n - o > 0.05 +/- 0.05"
PASSES: Callable[[int], int] = int
FAILS: Callable[[int], int] = lambda passed: RUNS - passed  # noqa: E731

CASES = [
    # (condition, mode, cell law, which answer is the wrong one)
    (ONE, Mode.FP_FREE, [0.6, 0.1, 0.175, 0.125, 0.0], PASSES),  # at the threshold: false
    (ONE, Mode.FP_FREE, [0.6, 0.1, 0.225, 0.075, 0.0], FAILS),  # clearly true
    (ONE, Mode.FN_FREE, [0.6, 0.1, 0.175, 0.125, 0.0], FAILS),  # as good as true
    (ONE, Mode.FN_FREE, [0.6, 0.1, 0.125, 0.175, 0.0], PASSES),  # clearly false
    (BOTH, Mode.FP_FREE, [0.6, 0.1, 0.175, 0.125, 0.0], PASSES),  # one clause false
    (BOTH, Mode.FP_FREE, [0.475, 0.225, 0.225, 0.075, 0.0], FAILS),  # both clearly true
    (BOTH, Mode.FN_FREE, [0.425, 0.275, 0.175, 0.125, 0.0], FAILS),  # both as good as true
    (BOTH, Mode.FN_FREE, [0.6, 0.1, 0.125, 0.175, 0.0], PASSES),  # one clearly false
]


@each_case(("condition", "mode", "law", "wrong"), CASES)
def test_wrong_answers_are_as_rare_as_promised(
    condition: str, mode: Mode, law: list[float], wrong: Callable[[int], int]
) -> None:
    size = size_for(condition, mode, 0.3)
    assert wrong(pass_rate(condition, mode, law, size)) <= ALLOWED
