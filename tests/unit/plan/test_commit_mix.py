"""Mixes of commits: laws that add up, and that fit what the script says about its commits."""

from __future__ import annotations

import numpy as np
import pytest

from easeci.evidence.cells import CODE_OF
from easeci.plan.commit_mix import BOLD, MIXED, MIXES, REFACTORING, CommitMix
from easeci.script.outcomes import Cell
from tests.cases import each_case
from tests.scripts import script

NEW, OLD, BOTH = (int(CODE_OF[cell]) for cell in (Cell.NEW_RIGHT, Cell.OLD_RIGHT, Cell.BOTH_WRONG))


@each_case("mix", MIXES.values())
def test_a_law_has_the_gain_and_the_difference_of_its_commit(mix: CommitMix) -> None:
    """Probabilities add up to 1; n − o is the gain and d what the mix says, where there is room."""
    gains = np.linspace(-mix.largest, mix.largest, 7)
    law = mix.law(gains, np.array(mix.accuracy))
    assert law.min() >= 0.0
    assert law.sum(axis=-1) == pytest.approx(1.0)
    assert law[:, NEW] - law[:, OLD] == pytest.approx(gains)
    assert law[:, [NEW, OLD, BOTH]].sum(axis=-1) == pytest.approx(mix.difference)


def test_a_model_corrects_no_more_than_is_wrong() -> None:
    law = MIXED.law(np.array([0.05, -0.05]), np.array([0.97, 0.03]))
    assert law.min() >= 0.0
    assert law.sum(axis=-1) == pytest.approx(1.0)
    assert law[0, NEW] == pytest.approx(0.03)
    assert law[1, OLD] == pytest.approx(0.03)


def test_a_mix_has_one_plain_sentence_and_its_own_name() -> None:
    assert list(MIXES) == ["mixed", "refactoring", "tuning", "bold"]
    for name, mix in MIXES.items():
        assert mix.name == name
        assert "%" in mix.sentence()
        assert len(mix.sentence()) <= 110


@each_case(
    ("condition", "mix", "gains", "changes"),
    [
        (
            r"n - o > 0.01 +/- 0.005 /\ d < 0.05 +/- 0.005",
            MIXED,
            "most commits gain or lose less than 2 points, none gains more than 2.9",
            "4%",
        ),
        (
            r"n - o > 0.01 +/- 0.005 /\ d < 0.01 +/- 0.001",
            MIXED,
            "no commit gains or loses more than 0.58 points",
            "0.8%",
        ),
        (
            r"n - o > 0.01 +/- 0.005 /\ d < 0.05 +/- 0.005",
            BOLD,
            "commits bring new models: no commit gains or loses more than 2.9 points",
            "4%",
        ),
        (
            "n > 0.97 +/- 0.01",
            MIXED,
            "most commits gain or lose less than 2 points, none gains more than 2.7",
            "6.2%",
        ),
        (
            "n - o > 0.02 +/- 0.01",
            MIXED,
            "most commits gain or lose less than 2 points, 1 in 44 gains more than 4",
            "8%",
        ),
    ],
)
def test_the_sentence_is_true_of_the_mix_that_is_fitted(
    condition: str, mix: CommitMix, gains: str, changes: str
) -> None:
    fitted = mix.fitted(script(condition))
    assert fitted.sentence() == f"{gains}; each changes {changes} of the predictions"


def test_a_mix_is_fitted_to_commits_that_can_pass_in_both_modes() -> None:
    """In fn-free, testsets are sized for more than that; such commits would all fail."""
    pair = r"n - o > 0.01 +/- 0.01 /\ d < 0.05 +/- 0.005"
    for mode in ("fp-free", "fn-free"):
        assert MIXED.fitted(script(pair, mode=mode)).difference == pytest.approx(0.04)


def test_a_mix_changes_no_more_than_the_script_says() -> None:
    """By a clause on d, or by its expected difference; a smaller mix stays as it is."""
    plain = "n - o > 0.02 +/- 0.01"
    assert MIXED.fitted(script(plain)) == MIXED
    assert MIXED.fitted(script(plain, difference=0.04)).difference == pytest.approx(0.04)
    assert MIXED.fitted(script(plain, difference=0.04)).largest == pytest.approx(0.0288)
    bounded = script(rf"{plain} /\ d < 0.06 +/- 0.01")
    assert MIXED.fitted(bounded).difference == pytest.approx(0.04)
    assert BOLD.fitted(bounded).difference == pytest.approx(0.04)
    assert REFACTORING.fitted(bounded) == REFACTORING


def test_the_first_accuracy_is_at_a_threshold_that_an_accuracy_can_reach() -> None:
    assert MIXED.fitted(script("n > 0.9 +/- 0.01")).accuracy == pytest.approx(0.9)
    assert MIXED.fitted(script("n < 0.8 +/- 0.01")).accuracy == pytest.approx(0.8)
    assert MIXED.fitted(script("n - 1.1 * o > 0.01 +/- 0.01")).accuracy == 0.7
    assert MIXED.fitted(script("n - 1.1 * o > -0.08 +/- 0.01")).accuracy == pytest.approx(0.8)
    assert MIXED.fitted(script("n - o > 0.01 +/- 0.01")).accuracy == 0.7
