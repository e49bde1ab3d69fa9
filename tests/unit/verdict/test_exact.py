"""Exact decisions: limits against an independent formula, and extreme testsets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from easeci.verdict.decide import decide
from easeci.verdict.logic import Result
from tests.cases import each_case
from tests.cells import codes_of
from tests.scripts import script

CONDITIONS = [
    "n > 0.5 +/- 0.1",
    "d < 0.5 +/- 0.1",
    "n - o > 0 +/- 0.1",
    "o - n < 0.1 +/- 0.1",
    "n - 1.1 * o > -0.1 +/- 0.1",
    r"n - o > 0 +/- 0.1 /\ d < 0.5 +/- 0.1",
]


@each_case(("right", "size"), [(0, 10), (7, 10), (10, 10), (1, 1), (900, 1000)])
def test_one_variable_has_clopper_and_pearsons_limits(right: int, size: int) -> None:
    """Against the quantiles of the beta distribution, one-sided at δ = 0.1."""
    asked = script("n > 0.5 +/- 0.1", reliability=0.9, estimator="exact")
    codes = np.repeat(np.array([0, 1], np.uint8), [right, size - right])
    (result,) = decide(asked, codes).clauses
    low = stats.beta.ppf(0.1, right, size - right + 1) if right else 0.0
    high = stats.beta.ppf(0.9, right + 1, size - right) if right < size else 1.0
    assert float(result.interval.low) == pytest.approx(low, abs=1e-9)
    assert float(result.interval.high) == pytest.approx(high, abs=1e-9)


@each_case("condition", CONDITIONS)
@each_case("mode", ["fp-free", "fn-free"])
@each_case("code", range(5))
@each_case("size", [1, 300])
def test_testsets_of_one_kind(condition: str, mode: str, code: int, size: int) -> None:
    """Extreme testsets are decided: no or full disagreement, all right or wrong, one example."""
    asked = script(condition, reliability=0.9, mode=mode, estimator="exact")
    verdict = decide(asked, np.full(size, code, np.uint8))
    assert verdict.passed is not None
    for result in verdict.clauses:
        assert result.estimate is not None
        assert result.interval.low <= result.estimate <= result.interval.high


def test_a_clear_gain_needs_far_fewer_examples_than_published() -> None:
    codes = codes_of(agree_right=1300, new_right=150, old_right=30)
    exact = script("n - o > 0.02 +/- 0.02", reliability=0.999, estimator="exact")
    published = script("n - o > 0.02 +/- 0.02", reliability=0.999, estimator="hoeffding")
    assert decide(exact, codes).result is Result.TRUE
    assert decide(published, codes).result is Result.UNKNOWN


def test_a_clause_on_d_makes_the_other_more_decisive() -> None:
    """d < A bounds the variance of n - o; without it the bound must be found in the data."""
    codes = codes_of(agree_right=900, new_right=80, old_right=20)
    alone = script("n - o > 0.03 +/- 0.02", reliability=0.999, estimator="exact")
    both = script(
        r"n - o > 0.03 +/- 0.02 /\ d < 0.11 +/- 0.02", reliability=0.999, estimator="exact"
    )
    assert (
        decide(both, codes).clauses[0].interval.low > decide(alone, codes).clauses[0].interval.low
    )


def test_the_price_of_a_history_is_its_surprise() -> None:
    """The limit is tightest at the start, then after fails, after passes, and at δ / 2^steps."""
    codes = codes_of(agree_right=900, new_right=80, old_right=20)
    asked = script("n - o > 0 +/- 0.02", steps=32, adaptivity="full", estimator="exact")
    lows = [
        decide(asked, codes, history).clauses[0].interval.low
        for history in ("", "F" * 16, "P" * 8 + "F" * 8, None)
    ]
    assert lows == sorted(lows, reverse=True)
    assert len(set(lows)) == 4
