"""A testset as the ledger knows it: its steps, and what was answered before."""

from __future__ import annotations

from easeci.ledger.events import (
    BaselineBuilt,
    Built,
    Submitted,
)
from easeci.ledger.reasons import ByHand
from tests.histories import History


def test_a_step_that_is_charged_is_open_until_it_is_decided() -> None:
    testset = History.begun().commit("1", False).commit("2", None).state.testsets[1]
    assert testset.open_step is not None
    assert testset.open_step.number == 2
    assert testset.steps_used == 2
    assert testset.history == "F"


def test_the_same_predictions_against_the_same_baseline_were_answered_before() -> None:
    history = History.begun().commit("1", False)
    history.add(
        BaselineBuilt(1, "b" * 40, "f", "0" * 64, "fingerprint b", "l", "1" * 64),
        Submitted(2, "2" * 40, "", "main", True, 1),
        Built(2, "f", "0" * 64, "fingerprint 1"),
    )
    state = history.state
    testset = state.testsets[1]
    before = testset.answered_before(state.submission(2), "b" * 40)
    assert before is not None
    assert before.number == 1
    assert testset.answered_before(state.submission(2), "1" * 40) is None


def test_other_predictions_were_not_answered_before() -> None:
    history = History.begun().commit("1", False)
    history.add(
        Submitted(2, "2" * 40, "", "main", True, 1), Built(2, "f", "0" * 64, "fingerprint 2")
    )
    state = history.state
    assert state.testsets[1].answered_before(state.submission(2), "b" * 40) is None


def test_steps_run_out_and_only_an_undecided_one_waits_for_labels() -> None:
    history = History.begun(steps="2").commit("1", False)
    testset = history.state.testsets[1]
    assert (testset.steps_used, testset.used_up, testset.undecided_step) == (1, False, None)
    testset = history.commit("2", None).state.testsets[1]
    assert (testset.steps_used, testset.used_up) == (2, True)
    assert testset.undecided_step is testset.open_step is testset.steps[1]
    testset.retired = ByHand("by hand")
    assert testset.undecided_step is None
    assert testset.open_step is testset.steps[1]


def test_commits_without_predictions_are_never_the_same() -> None:
    testset = History.begun().commit("1", False).commit("2", False).state.testsets[1]
    testset.predictions["3" * 40] = testset.predictions["1" * 40]
    assert testset.same_predictions("1" * 40, "3" * 40)
    assert not testset.same_predictions("1" * 40, "2" * 40)
    assert not testset.same_predictions("8" * 40, "9" * 40)
