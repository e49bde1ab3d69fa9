"""Limits by inversion: against the definition, against exact limits, and with unsettled labels."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from easeci.evidence.bets import Floats
from easeci.evidence.clause_test import Goal, SequentialTest, Targets, table_of
from easeci.evidence.codes import Counts
from easeci.evidence.confidence import (
    BOLDEST,
    SPACING,
    Seen,
    SeenQuotient,
    SeenRank,
    Table,
    Walked,
    mean_limits,
    ratio_limits,
    share_limits,
)
from easeci.evidence.labelled import LabelledTestset
from easeci.script import Mode, Score
from easeci.verdict.exact import lower_limit
from tests.cases import each_case
from tests.measures import Shown, alphabet_of, clause_of, detector, law_of, value_of

NEW = Score.linear(Fraction(1), Fraction(0), Fraction(0))
GAIN = Score.linear(Fraction(1), Fraction(-1), Fraction(0))
RATIO = Score.linear(Fraction(1), Fraction(-11, 10), Fraction(0))
DIFFERENCE = Score.linear(Fraction(0), Fraction(0), Fraction(1))
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
    if score.counts_everywhere or not score.needs_labels:
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


# -- ratios


def ratio_wealth(
    table: Table, counts: Floats, log_alpha: float, longest: int, mean: float
) -> float:
    """The wealth against "the ratio is at most this" by its definition: a sum of products."""
    assert table.per is not None
    entries = np.array(table.scores) - mean * np.array(table.per)
    unit = max(float(np.ptp(table.scores)), *table.per)
    sizes = [BOLDEST]
    while sizes[-1] > math.sqrt(-8.0 * log_alpha / longest):
        sizes.append(sizes[-1] / SPACING)
    total = 0.0
    for size in sizes:
        factors = 1.0 + size / unit * entries
        if factors.min() > 0.0:
            total += float(np.prod(factors**counts)) / len(sizes)
    return total


@each_case("condition", ["recall(k) > 0.5 +/- 0.1", "f1(k) > 0.5 +/- 0.1", "n / o > 1 +/- 0.1"])
@each_case("log_alpha", [math.log(0.2), math.log(1e-3)])
def test_a_limit_of_a_ratio_is_the_largest_that_the_wealth_rejects(
    condition: str, log_alpha: float
) -> None:
    table = table_of(clause_of(condition).score)
    outcomes, groups = len(table.scores), len(table.unsettled)
    random = np.random.default_rng(outcomes)
    counts = np.zeros((8, outcomes + groups))
    counts[:, :outcomes] = random.integers(0, 20, (8, outcomes))
    limits = ratio_limits(table, counts, log_alpha, 300)
    assert limits.max() > 0.1
    for row, limit in zip(counts, limits, strict=True):
        (alone,) = ratio_limits(table, row[None, :], log_alpha, 300)
        assert alone == pytest.approx(limit, abs=1e-9)
        target, used = math.exp(-log_alpha), row[:outcomes]
        if limit > 0.0:
            assert ratio_wealth(table, used, log_alpha, 300, limit - 1e-7) >= target * (1 - 1e-4)
        assert ratio_wealth(table, used, log_alpha, 300, limit + 1e-7) < target * (1.0 + 1e-4)


def test_nothing_seen_leaves_all_that_a_ratio_can_be() -> None:
    for condition in ("recall(k) > 0.5 +/- 0.1", "n / o > 1 +/- 0.1"):
        score = clause_of(condition).score
        table = table_of(score)
        nothing = np.zeros((1, len(table.scores) + len(table.unsettled)))
        low, high = Walked(table, nothing, nothing, np.zeros(1), 100, 100).limits(-5.0)
        assert low[0] <= float(score.lowest)
        assert high[0] >= float(score.highest)


def test_an_unsettled_label_of_a_ratio_counts_at_its_worst_for_each_limit() -> None:
    """The interval holds those of all labels that it could have had."""
    table = table_of(clause_of("f1(k) > 0.5 +/- 0.1").score)
    base = np.zeros(len(table.scores) + len(table.unsettled))
    base[: len(table.scores)] = 6.0

    def interval(counts: Floats) -> tuple[float, float]:
        row = counts[None, :]
        low, high = Walked(table, row, row, np.zeros(1), 300, 300).limits(-4.0)
        return float(low[0]), float(high[0])

    for number, group in enumerate(table.unsettled):
        seen = base.copy()
        seen[len(table.scores) + number] += 9.0
        low, high = interval(seen)
        for outcome in group:
            settled = base.copy()
            settled[outcome] += 9.0
            least, most = interval(settled)
            assert low <= least + 1e-9
            assert most <= high + 1e-9


def intervals(condition: str, law: Floats, size: int, runs: int) -> list[tuple[float, float]]:
    clause = clause_of(condition)
    found = []
    for seed in range(runs):
        random = np.random.default_rng(seed)
        outcomes = random.choice(clause.score.alphabet.outcomes, size, p=law).astype(np.uint8)
        testset = LabelledTestset(Shown(alphabet_of(clause.score)).facts(outcomes))
        goal = Goal.of(clause, Mode.FP_FREE)
        walk = SequentialTest.on(goal, Targets(1e6, 1e6, 1e6), testset).walk(testset)
        found.append(walk.seen(clause.score, walk.labels, math.log(0.05)).interval)
    return found


@each_case(
    "condition",
    [
        "precision(k) > 0.5 +/- 0.1",
        "recall(k) > 0.5 +/- 0.1",
        "n / o > 1 +/- 0.1",
        "n.f1(k) - o.f1(k) > 0 +/- 0.1",
        "n - o - precision(k) > -0.5 +/- 0.1",
    ],
)
def test_intervals_hold_the_truth(condition: str) -> None:
    """At 90%, of 20 intervals hardly ever more than 7 miss it; and they are not too long."""
    score = clause_of(condition).score
    law = (
        detector(score, 0.3, (0.8, 0.1)) if score.classes else np.array([0.5, 0.2, 0.2, 0.08, 0.02])
    )
    truth = value_of(score, law)
    found = intervals(condition, law, 800, 20)
    assert sum(not low <= truth <= high for low, high in found) <= 7
    assert max(high - low for low, high in found) < 0.5


def test_a_mean_in_a_difference_counts_its_zeros() -> None:
    """n − o is 0 where the models agree, and all of these examples are walked for precision."""
    condition = "n - o - precision(k) > -0.8 +/- 0.1"
    known = {(0, 0, 0): 0.6, (1, 1, 1): 0.2}
    score = clause_of(condition).score
    law = law_of(
        score,
        lambda o: (
            0.15 * o.new_right + 0.05 * o.old_right
            if o.differ and (o.new, o.old, o.label) == (1, 1, 1)
            else known.get((o.new, o.old, o.label), 0.0) * o.new_right * (1 - o.differ)
        ),
    )
    truth = value_of(score, law)
    assert truth == pytest.approx(-0.9)
    found = intervals(condition, law, 3000, 5)
    assert all(low <= truth <= high for low, high in found)


def test_combined_intervals() -> None:
    def seen(low: int, high: int) -> Seen:
        return Seen(
            table_of(NEW), (low, 100 - low, 0, 0, 0), (high, 100 - high, 0, 0, 0), 0, 100, 0, -3.0
        )

    each = (seen(80, 80), seen(50, 50), seen(20, 20))
    assert SeenRank(each, 1).interval == each[2].interval
    assert SeenRank(each, 3).interval == each[0].interval
    assert SeenRank(each, 2).error == pytest.approx(3 * each[0].error)
    low, high = each[0].interval
    quotient = SeenQuotient(each[0], (0.5, 0.9), (0.0, 1.0))
    assert quotient.interval == pytest.approx((low / 0.9, min(high / 0.5, 1.0)))
    assert share_limits(0, 0, -3.0) == (0.0, 1.0)
