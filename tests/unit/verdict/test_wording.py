"""Why a commit passed or failed: the sentences that the owner reads."""

from __future__ import annotations

import math

import numpy as np
import pytest

from easeci.evidence.clause_test import Goal
from easeci.evidence.endings import Ending
from easeci.script import Mode, NormalClause, Score, compile_condition, parse_condition
from easeci.verdict.logic import Result
from easeci.verdict.wording import (
    ClauseFinding,
    _clear,
    amount,
    briefly,
    contains_threshold,
    interval_words,
    why,
)
from tests.cases import each_case

TRUE, FALSE, UNKNOWN = Result.TRUE, Result.FALSE, Result.UNKNOWN
PROVEN, FUTILE, EXHAUSTED, OPEN = Ending.PROVEN, Ending.FUTILE, Ending.EXHAUSTED, Ending.OPEN


def clause(text: str) -> NormalClause:
    (found,) = compile_condition(parse_condition(text))
    return found


def finding(
    text: str,
    result: Result,
    ended: Ending | None,
    labels: int = 56,
    shown: tuple[float, float] = (-0.03, 0.04),
    *,
    asked: bool = True,
) -> ClauseFinding:
    return ClauseFinding(clause(text), result, ended, labels, *shown, asked=asked)


GAIN, ZERO, LOSS = "n - o > 0.01 +/- 0.02", "n - o > 0 +/- 0.02", "n - o > -0.05 +/- 0.01"


@each_case(
    ("found", "passed", "sentence"),
    [
        (
            finding(GAIN, UNKNOWN, FUTILE),
            False,
            "not shown to be better: stopped asking after 56 labels, because a gain of 5 points or "
            "more is ruled out",
        ),
        (
            finding(GAIN, UNKNOWN, FUTILE, 1),
            False,
            "not shown to be better: stopped asking after 1 label, because a gain of 5 points or "
            "more is ruled out",
        ),
        (
            finding(GAIN, UNKNOWN, FUTILE, 0),
            False,
            "not shown to be better: asked for no label, because a gain of 5 points or more is "
            "ruled out",
        ),
        (
            finding(GAIN, UNKNOWN, FUTILE, 1_234, asked=False),
            False,
            "not shown to be better: asked for no label beyond the 1,234 at hand, because a gain "
            "of 5 points or more is ruled out",
        ),
        (
            finding(GAIN, UNKNOWN, EXHAUSTED, 1_228),
            False,
            "not shown to be better: examples ran out after 1,228 labels",
        ),
        (
            finding(GAIN, UNKNOWN, None),
            False,
            "not shown to be better: the examples leave -3.0 to +4.0 points possible",
        ),
        (finding(GAIN, FALSE, FUTILE, shown=(-0.08, -0.02)), False, "shown to be worse, after 56 labels"),
        (finding(GAIN, FALSE, FUTILE), False, "shown to gain less than 1 point, after 56 labels"),
        (finding(ZERO, FALSE, FUTILE), False, "shown to be worse, after 56 labels"),
        (finding(LOSS, FALSE, FUTILE), False, "shown to be worse by more than 5 points, after 56 labels"),
        (finding(GAIN, TRUE, PROVEN), True, "shown to be better by more than 1 point, after 56 labels"),
        (finding(ZERO, TRUE, PROVEN), True, "shown to be better, after 56 labels"),
        (finding(LOSS, TRUE, PROVEN, 0), True, "shown to lose less than 5 points"),
        (
            finding(LOSS, UNKNOWN, FUTILE),
            False,
            "not shown to lose less than 5 points: stopped asking after 56 labels, because a loss "
            "of 3 points or less is ruled out",
        ),
        (
            finding("n - o > -0.02 +/- 0.01", UNKNOWN, FUTILE),
            False,
            "not shown to lose less than 2 points: stopped asking after 56 labels, because being "
            "at least as good is ruled out",
        ),
        (
            finding("n > 0.8 +/- 0.02", UNKNOWN, FUTILE),
            False,
            "accuracy not shown to be above 80%: stopped asking after 56 labels, because 84% or "
            "more is ruled out",
        ),
        (finding("n > 0.8 +/- 0.02", TRUE, PROVEN), True, "accuracy shown to be above 80%, after 56 labels"),
        (finding("n > 0.8 +/- 0.02", FALSE, None), False, "accuracy shown to be below 80%, after 56 labels"),
        (finding("d < 0.1 +/- 0.01", UNKNOWN, EXHAUSTED, 0), False, "the difference d not shown to be below 10%: examples ran out"),
        (finding("d < 0.1 +/- 0.01", FALSE, EXHAUSTED, 0), False, "the difference d shown to be above 10%"),
        (
            finding("n - 1.1 * o > 0.01 +/- 0.01", UNKNOWN, FUTILE),
            False,
            "n - 1.1 * o not shown to be above 1 point: stopped asking after 56 labels, because 3 "
            "points or more is ruled out",
        ),
        (
            finding("n - o < 0.1 +/- 0.02", UNKNOWN, FUTILE),
            False,
            "n - o not shown to be below 10 points: stopped asking after 56 labels, because 6 "
            "points or less is ruled out",
        ),
    ],
)  # fmt: skip
def test_reasons_in_fp_free(found: ClauseFinding, passed: bool, sentence: str) -> None:
    assert why([found], passed=passed) == sentence


@each_case(
    ("found", "passed", "sentence"),
    [
        (
            finding(GAIN, UNKNOWN, FUTILE),
            True,
            "not shown to gain less than 1 point: stopped asking after 56 labels, because a loss "
            "of 3 points or more is ruled out",
        ),
        (
            finding("n - o > 0.05 +/- 0.01", UNKNOWN, FUTILE),
            True,
            "not shown to gain less than 5 points: stopped asking after 56 labels, because a gain "
            "of 3 points or less is ruled out",
        ),
        (
            finding("n - o > 0.02 +/- 0.01", UNKNOWN, FUTILE),
            True,
            "not shown to gain less than 2 points: stopped asking after 56 labels, because being "
            "no better is ruled out",
        ),
        (
            finding(ZERO, UNKNOWN, EXHAUSTED),
            True,
            "not shown to be worse: examples ran out after 56 labels",
        ),
        (
            finding(LOSS, UNKNOWN, EXHAUSTED),
            True,
            "not shown to be worse by more than 5 points: examples ran out after 56 labels",
        ),
        (
            finding("n > 0.8 +/- 0.02", UNKNOWN, FUTILE),
            True,
            "accuracy not shown to be below 80%: stopped asking after 56 labels, because 76% or "
            "less is ruled out",
        ),
        (finding(ZERO, FALSE, PROVEN), False, "shown to be worse, after 56 labels"),
    ],
)
def test_reasons_in_fn_free(found: ClauseFinding, passed: bool, sentence: str) -> None:
    assert why([found], passed=passed) == sentence


def test_the_clause_that_decides_is_named() -> None:
    proven = finding("n > 0.8 +/- 0.02", TRUE, PROVEN)
    waiting = finding("n > 0.9 +/- 0.02", UNKNOWN, OPEN)
    given_up, over = finding(GAIN, UNKNOWN, FUTILE), finding(ZERO, UNKNOWN, EXHAUSTED)
    false = finding("d < 0.1 +/- 0.01", FALSE, EXHAUSTED, 0)
    assert why([proven, waiting, over, given_up], passed=False).endswith(f"(clause {GAIN})")
    assert why([proven, over], passed=False).endswith(f"(clause {ZERO})")
    assert why([given_up, false], passed=False) == (
        "the difference d shown to be above 10% (clause d < 0.1 +/- 0.01)"
    )
    assert why([proven, finding(GAIN, TRUE, PROVEN)], passed=True) == (
        "accuracy shown to be above 80%, after 56 labels; shown to be better by more than 1 point, "
        "after 56 labels"
    )
    assert why([waiting], passed=None) == "waits for labels"


@each_case(
    ("found", "passed", "words"),
    [
        (finding(GAIN, TRUE, PROVEN), True, "shown"),
        (finding(GAIN, FALSE, FUTILE), False, "shown false"),
        (finding(GAIN, UNKNOWN, FUTILE), False, "stopped asking"),
        (finding(GAIN, UNKNOWN, FUTILE, asked=False), False, "ruled out"),
        (finding(GAIN, UNKNOWN, EXHAUSTED), True, "examples ran out"),
        (finding(GAIN, UNKNOWN, None), False, "not shown"),
        (finding(GAIN, UNKNOWN, OPEN), None, "waits"),
    ],
)
def test_a_reason_for_a_table(found: ClauseFinding, passed: bool | None, words: str) -> None:
    assert briefly([found], passed=passed) == words


def test_differences_are_in_points_and_accuracies_in_percent() -> None:
    gain, accuracy = clause(GAIN).score, clause("n > 0.8 +/- 0.02").score
    assert amount(gain, 0.024) == "+2.4 points"
    assert amount(gain, -0.0042) == "-0.42 points"
    assert amount(accuracy, 0.908) == "90.8%"
    assert interval_words(gain, 0.0156, 0.0316) == "+1.6 to +3.2 points"
    assert interval_words(gain, -0.00001, 0.0004) == "+0.00 to +0.04 points"
    assert interval_words(accuracy, 0.89, 0.923) == "89.0% to 92.3%"


def test_an_interval_that_contains_the_threshold_of_a_proven_clause_is_known() -> None:
    assert contains_threshold(finding(GAIN, TRUE, PROVEN, shown=(0.009, 0.04)))
    assert not contains_threshold(finding(GAIN, TRUE, PROVEN, shown=(0.02, 0.04)))
    assert not contains_threshold(finding(GAIN, UNKNOWN, FUTILE, shown=(0.009, 0.04)))
    assert not contains_threshold(finding(GAIN, TRUE, None, shown=(0.009, 0.04)))


@each_case("text", [GAIN, LOSS, "n > 0.99 +/- 0.02", "d < 0.01 +/- 0.02", "n - o < 0.1 +/- 0.5"])
@each_case("mode", list(Mode))
def test_what_is_ruled_out_is_what_futility_tests(text: str, mode: Mode) -> None:
    found = clause(text)
    goal = Goal.of(found, mode)
    sign = math.copysign(1.0, float(np.dot(_vector(goal.score), _vector(found.score))))
    ruled_out = float(_clear(found, passed=mode is Mode.FN_FREE))
    assert ruled_out == pytest.approx(sign * goal.clear, abs=1e-12)


def _vector(score: Score) -> list[float]:
    return [float(score.new), float(score.old), float(score.difference)]
