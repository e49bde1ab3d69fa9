"""Skipped and disputed labels never endanger safety, no matter who chose them."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.bounds.binomial import lower_limit
from easeci.evidence.cells import Code, differs
from easeci.evidence.clause_test import Goal, SequentialTest, Targets
from easeci.evidence.codes import Codes, Counts
from easeci.evidence.levels import StepLevels
from easeci.script import Estimator, Mode, compile_condition, parse_condition
from easeci.verdict.decide import decide
from easeci.verdict.logic import Result
from easeci.verdict.sequential import decide_sequentially
from tests.cases import each_case
from tests.scripts import script as script_of

LOOSE = StepLevels(math.log(0.3), math.log(0.3), math.log(0.3))
CONDITIONS = [
    "n - o > 0.1 +/- 0.2",
    "n - o > -0.2 +/- 0.1",
    "n > 0.4 +/- 0.2",
    "n - 1.1 * o > -0.1 +/- 0.2",
]


def unsettled(codes: Codes, skipped: object) -> Codes:
    """The same codes with some of the labels skipped."""
    hidden = np.where(differs(codes), Code.DIFFER_UNSETTLED, Code.AGREE_UNSETTLED)
    return np.where(np.asarray(skipped), hidden, codes).astype(np.uint8)


@each_case("condition", CONDITIONS)
@each_case("mode", list(Mode))
def test_no_choice_of_skipped_labels_gets_further_than_the_truth(
    condition: str, mode: Mode
) -> None:
    """For all testsets of three examples, skipping any labels only lowers each curve."""
    (clause,) = compile_condition(parse_condition(condition))
    tests = {
        differing: SequentialTest.of(Goal.of(clause, mode), Targets.of(LOOSE), 3, differing)
        for differing in range(4)
    }
    for cells in product(range(5), repeat=3):
        truth = np.array(cells, np.uint8)
        test = tests[Counts.of(truth).differing]
        top = test.curves(truth)
        for skipped in product((False, True), repeat=3):
            seen = unsettled(truth, skipped)
            for worst, real in zip(test.curves(seen), top, strict=True):
                assert worst.evidence <= real.evidence + 1e-12


@settings(max_examples=40, deadline=None)
@given(
    condition=st.sampled_from([*CONDITIONS, "n - o > 0 +/- 0.1 /\\ d < 0.8 +/- 0.1"]),
    mode=st.sampled_from(list(Mode)),
    estimator=st.sampled_from([Estimator.EXACT, Estimator.HOEFFDING, Estimator.SEQUENTIAL]),
    cells=st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=30),
)
def test_what_is_shown_despite_unsettled_labels_is_shown_whatever_they_are(
    condition: str, mode: Mode, estimator: Estimator, cells: list[tuple[int, bool]]
) -> None:
    """An interval contains those of all completions, and no verdict waits for these labels."""
    script = script_of(condition, reliability="0.7", mode=str(mode), steps="1")
    script = replace(script, estimator=estimator)
    truth = np.array([code for code, _ in cells], np.uint8)
    seen = unsettled(truth, [skipped for _, skipped in cells])
    verdict = decide(script, seen, "")
    assert verdict.passed is not None
    assert verdict.wanted == ()
    complete = decide(script, truth, "")
    for worst, real in zip(verdict.clauses, complete.clauses, strict=True):
        if estimator is not Estimator.SEQUENTIAL:
            assert worst.interval.low <= real.interval.low
            assert worst.interval.high >= real.interval.high
            assert worst.result in (real.result, Result.UNKNOWN)


def draw(size: int, law: list[float], seed: int) -> Codes:
    return np.random.default_rng(seed).choice(5, size, p=law).astype(np.uint8)


def rate_limit(errors: int, runs: int) -> float:
    """The error rate is above this, but for one chance in ten thousand."""
    return lower_limit(errors, runs, math.log(1e-4))


AT_THRESHOLD = [0.6, 0.1, 0.17, 0.12, 0.01]  # n - o = 0.05
CLEARLY_GOOD = [0.55, 0.1, 0.25, 0.05, 0.05]  # n - o = 0.2


@each_case(("delta", "share"), [(0.1, 1.0), (0.2, 1.0), (0.2, 0.3)])
def test_one_who_skips_what_hurts_gains_nothing(delta: float, share: float) -> None:
    """No more wrong passes at the threshold if labels in favour of the old model are skipped."""
    level = math.log(delta)
    levels = StepLevels(level, level, level)
    clauses = compile_condition(parse_condition("n - o > 0.05 +/- 0.075"))
    runs, wrong, naive = 100, 0, 0
    for seed in range(runs):
        truth = draw(300, AT_THRESHOLD, seed)
        chosen = np.random.default_rng(seed + 10**6).random(300) < share
        hurts = (truth == Code.OLD_RIGHT) & chosen
        seen = unsettled(truth, hurts)
        wrong += decide_sequentially(clauses, Mode.FP_FREE, levels, seen).passed is True
        if share == 1.0:
            dropped = decide_sequentially(clauses, Mode.FP_FREE, levels, truth[~hurts])
            naive += dropped.passed is True
    assert rate_limit(wrong, runs) <= delta
    # Leaving skipped examples out would break the promise.
    if share == 1.0:
        assert rate_limit(naive, runs) > delta


@each_case("delta", [0.1, 0.2])
def test_one_who_skips_what_helps_cannot_make_it_look_hopeless(delta: float) -> None:
    """A clearly good commit is given up on, or claimed False, with probability at most δ."""
    level = math.log(delta)
    levels = StepLevels(level, level, level)
    clauses = compile_condition(parse_condition("n - o > 0.05 +/- 0.075"))
    runs, futile, claimed = 100, 0, 0
    for seed in range(runs):
        truth = draw(300, CLEARLY_GOOD, seed)
        seen = unsettled(truth, truth == Code.NEW_RIGHT)
        verdict = decide_sequentially(clauses, Mode.FP_FREE, levels, seen)
        evidence = verdict.clauses[0].evidence
        assert evidence is not None
        futile += evidence.ending.value == "futile"
        claimed += verdict.result is Result.FALSE
    assert rate_limit(futile, runs) <= delta
    assert rate_limit(claimed, runs) <= delta


def test_cannot_tell_is_an_answer_and_skipped_is_not() -> None:
    """An answer "can't tell" counts both models as wrong; a skipped label counts at its worst."""
    script = replace(
        script_of("n > 0.5 +/- 0.1", reliability="0.9", steps="1"), estimator=Estimator.EXACT
    )
    codes = np.array([Code.AGREE_RIGHT] * 30 + [Code.AGREE_WRONG] * 10, np.uint8)
    wrong = decide(script, codes, "").clauses[0]
    assert wrong.estimate == 0.75
    codes[30:] = Code.AGREE_UNSETTLED
    skipped = decide(script, codes, "").clauses[0]
    assert skipped.estimate is None
    assert skipped.interval.low == wrong.interval.low
    assert skipped.interval.high == 1
