"""Limits by inversion: against the definition, against exact limits, and with unsettled labels."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from easeci.evidence.bets import Floats
from easeci.evidence.cells import Counts
from easeci.evidence.clause_test import table_of
from easeci.evidence.confidence import (
    BOLDEST,
    SPACING,
    Seen,
    Table,
    mean_limits,
    share_limits,
)
from easeci.script import Score
from easeci.verdict.exact import lower_limit
from tests.cases import each_case

NEW = Score(Fraction(1), Fraction(0), Fraction(0))
GAIN = Score(Fraction(1), Fraction(-1), Fraction(0))
RATIO = Score(Fraction(1), Fraction(-11, 10), Fraction(0))
DIFFERENCE = Score(Fraction(0), Fraction(0), Fraction(1))
LAW = (0.85, 0.05, 0.06, 0.03, 0.01)


def wealth(scores: Floats, counts: Floats, log_alpha: float, longest: int, mean: float) -> float:
    """The wealth against "at most this mean" by its definition: a sum of products."""
    smallest = math.sqrt(-8.0 * log_alpha / longest)
    sizes = [BOLDEST]
    while sizes[-1] > smallest:
        sizes.append(sizes[-1] / SPACING)
    total = 0.0
    for size in sizes:
        bet = size / (scores.max() - scores.min())
        if bet * (mean - scores.min()) < 1.0:
            factors = (1.0 + bet * (scores - mean)) ** counts
            total += float(np.prod(factors)) / len(sizes)
    return total


@each_case("scores", [(0.0, 1.0), (-1.0, 0.0, 1.0), (-0.1, 0.0, 1.0, -1.1), (0.0, 0.5, 1.0)])
@each_case("log_alpha", [math.log(0.2), math.log(1e-3)])
def test_a_limit_is_the_largest_mean_that_the_wealth_rejects(
    scores: tuple[float, ...], log_alpha: float
) -> None:
    """Just below the limit the wealth is at least 1/α, just above it is less."""
    table, span = np.array(scores), max(scores) - min(scores)
    random = np.random.default_rng(len(scores))
    rows = random.integers(0, 30, (12, len(scores))).astype(float)
    together = mean_limits(table, rows, log_alpha, 100)
    for counts, limit in zip(rows, together, strict=True):
        (alone,) = mean_limits(table, counts[None, :], log_alpha, 100)
        assert alone == pytest.approx(limit, abs=1e-11 * span)
        target = math.exp(-log_alpha)
        if limit > min(scores):
            below = wealth(table, counts, log_alpha, 100, limit - 1e-9)
            assert below >= target * (1.0 - 1e-6)
        assert wealth(table, counts, log_alpha, 100, limit + 1e-9) < target * (1.0 + 1e-6)


def seen(score: Score, counts: tuple[int, ...], log_side: float, examples: int) -> Seen:
    """All examples of these cells walked, in a testset of so many."""
    differing = sum(counts[2:])
    if score.label_matters_when_agreeing or not score.needs_labels:
        return Seen(table_of(score), counts, counts, 0, examples, differing, log_side)
    labelled = (0, 0, *counts[2:])
    relevant = round(differing * examples / sum(counts))
    zeros = sum(counts[:2])
    return Seen(table_of(score), labelled, labelled, zeros, examples, relevant, log_side)


@each_case("examples", [300, 6_000, 67_706, 1_000_000])
@each_case(("score", "most"), [(NEW, 1.5), (GAIN, 1.5), (RATIO, 0.6), (DIFFERENCE, 1.0 + 1e-9)])
def test_the_interval_is_almost_as_short_as_the_exact_one(
    examples: int, score: Score, most: float
) -> None:
    """With every label it is not much longer than the limits that hold for the last label alone.

    Where those are Chernoff's, as for n - 1.1 * o, it is much shorter.
    """
    counts = tuple(round(share * examples) for share in LAW)
    whole = Counts((*counts, 0, 0, 0, 0))
    for log_side in (math.log(1e-3 / 2), math.log(1e-6)):
        exact = -lower_limit(-score, whole, log_side, None) - lower_limit(
            score, whole, log_side, None
        )
        low, high = seen(score, counts, log_side, examples).interval
        assert 0.0 < high - low <= most * exact
        assert low < float(whole.mean(score)) < high


def test_few_labels_of_a_large_testset_already_say_something() -> None:
    """The second way helps where the gain is a large part of the disagreement."""
    after = (2_850, 0, 135, 15, 0)  # 150 labels; 5% differ, 90% of those are gains
    low, high = seen(GAIN, after, math.log(1e-3), 67_706).interval
    assert 0.02 < low < 0.04 < high < 0.052
    zeros_alone = Table((1.0, -1.0, 0.0), (True, True, True))
    counts = (135, 15, 2_850)
    _, other = Seen(zeros_alone, counts, counts, 0, 67_706, 0, math.log(1e-3)).interval
    assert high < other


def test_no_label_leaves_what_the_share_of_disagreement_says() -> None:
    nothing = (0, 0, 0, 0, 0)
    found = Seen(table_of(GAIN), nothing, nothing, 3, 10_000, 500, math.log(1e-4)).interval
    _, most = share_limits(500, 10_000, math.log(1e-4) + math.log(0.5 * 0.2))
    assert found == pytest.approx((-most, most), abs=1e-9)
    none_differ = Seen(table_of(GAIN), nothing, nothing, 10_000, 10_000, 0, math.log(1e-4))
    low, high = none_differ.interval
    assert -0.002 < low < 0.0 < high < 0.002


def test_an_unsettled_label_widens_the_interval_on_both_sides() -> None:
    lowest, highest = (800, 110, 60, 30, 0), (810, 100, 60, 30, 0)
    settled = [Seen(table_of(NEW), c, c, 0, 5_000, 90, -8.0).interval for c in (lowest, highest)]
    found = Seen(table_of(NEW), lowest, highest, 0, 5_000, 90, -8.0).interval
    assert found == (settled[0][0], settled[1][1])


@each_case("score", [NEW, GAIN, RATIO, DIFFERENCE])
def test_the_negative_score_has_the_negative_interval(score: Score) -> None:
    low, high = seen(score, (700, 100, 120, 70, 10), -6.0, 1_000).interval
    assert seen(-score, (700, 100, 120, 70, 10), -6.0, 1_000).interval == pytest.approx(
        (-high, -low), abs=1e-11
    )


def test_extreme_counts_have_an_interval_within_the_range() -> None:
    for counts in itertools.product((0, 1, 400), repeat=5):
        if sum(counts):
            for score in (NEW, GAIN, RATIO, DIFFERENCE):
                low, high = seen(score, counts, -20.0, sum(counts)).interval
                assert float(score.lowest) <= low <= high <= float(score.highest)
