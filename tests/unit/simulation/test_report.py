"""Rates have exact limits, and findings follow from them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from scipy import stats

from easeci.simulation import Finding, Rate
from easeci.simulation.developers import Life
from easeci.simulation.report import LabelUse, LifeLabels


def test_limits_are_clopper_and_pearsons() -> None:
    for broken, testsets in ((0, 40), (3, 40), (40, 40), (17, 200)):
        rate = Rate(broken, testsets)
        low = stats.beta.ppf(0.025, broken, testsets - broken + 1) if broken else 0.0
        high = stats.beta.ppf(0.975, broken + 1, testsets - broken) if broken < testsets else 1.0
        assert rate.low == pytest.approx(low)
        assert rate.high == pytest.approx(high)


def test_findings() -> None:
    """A promise is broken only if the lower limit is above it; a tiny one can't be seen kept."""
    tenth = Fraction(1, 10)
    assert Rate(0, 200).against(tenth) is Finding.KEPT
    assert Rate(28, 200).against(tenth) is Finding.KEPT
    assert Rate(31, 200).against(tenth) is Finding.BROKEN
    assert Rate(0, 200).against(Fraction(1, 10_000)) is Finding.UNSEEN
    assert Rate(1, 200).against(Fraction(1, 10_000)) is Finding.BROKEN
    assert Rate(0, 200).against(None) is Finding.NOT_PROMISED


def test_labels_are_summed_up() -> None:
    use = LabelUse.of([1, 2, 3, 4, 5, 6, 7, 8, 9, 100], 100)
    assert (use.mean, use.median, use.nine_tenths, use.most) == (14.5, 5, 9, 100)
    assert sum(use.histogram) == use.commits == 10


def test_labels_of_lives_have_a_mean_and_a_standard_error() -> None:
    """Per commit it is the ratio of two means; of one life, nothing is known about the error."""
    lives = [
        Life("FF", (5, 5), (5, 3), False),
        Life("P", (4,), (4,), False),
        Life("FFP", (9, 9, 9), (6, 0, 0), False),
    ]
    found = LifeLabels.of(lives, 3)
    assert found.per_life.mean == pytest.approx(6.0)
    assert found.per_life.error == pytest.approx(2.0 / 3.0**0.5)
    assert found.per_commit.mean == pytest.approx(18 / 6)
    # By the delta method: residuals 8 − 6, 4 − 3, 6 − 9, over a mean of 2 commits.
    assert found.per_commit.error == pytest.approx((7.0 / 3.0) ** 0.5 / 2.0)
    assert LifeLabels.of(lives[:1], 3).per_life.error == 0.0
