"""A testset as the ledger knows it: its steps, and the models of its commits."""

from __future__ import annotations

from easeci.ledger.events import BaselineBuilt, Built, Charged, Submitted
from easeci.ledger.reasons import ByHand
from tests.histories import History


def test_the_next_step_is_the_first_that_is_not_decided() -> None:
    testset = (
        History.begun().commit("1", False).commit("2", None).commit("3", None).state.testsets[1]
    )
    assert testset.next_step is testset.next_signal is testset.undecided_step is testset.steps[1]
    assert testset.steps_used == 3
    assert testset.history == "F"


def test_a_step_waits_for_labels_only_when_its_turn_has_come() -> None:
    history = History.begun()
    history.add(Submitted(1, "1" * 40, "", "main", True, 1), Charged(1, 1))
    testset = history.state.testsets[1]
    assert testset.next_step is testset.steps[0]
    assert testset.undecided_step is None


def test_an_ended_testset_has_no_next_step() -> None:
    history = History.begun(steps="2").commit("1", False).commit("2", None)
    testset = history.state.testsets[1]
    assert (testset.steps_used, testset.used_up) == (2, True)
    testset.retired = ByHand("by hand")
    assert testset.next_step is testset.next_signal is testset.undecided_step is None


def test_commits_of_one_model_have_the_same_predictions() -> None:
    history = History.begun()
    history.add(
        BaselineBuilt(1, "b" * 40, "f", "0" * 64, "fingerprint", "l", "1" * 64, model="m"),
        Submitted(1, "1" * 40, "", "main", True, 1, model="m"),
        Submitted(2, "2" * 40, "", "main", True, 1, model="other"),
    )
    state = history.state
    testset, (same, other) = state.testsets[1], state.submissions
    assert testset.baseline_predictions is testset.predictions[same.tested_model]
    assert other.tested_model not in testset.predictions


def test_a_baseline_keeps_its_model_when_its_commit_is_submitted_with_other_mounted_files() -> None:
    history = History.begun()
    history.add(
        BaselineBuilt(1, "b" * 40, "f", "0" * 64, "fingerprint", "l", "1" * 64, model="m"),
        Submitted(1, "b" * 40, "", "main", True, 1, model="other weights"),
    )
    testset = history.state.testsets[1]
    assert testset.real_model == testset.public_model == "m"
    assert testset.baseline_predictions is not None


def test_a_commit_of_an_older_version_is_a_model_of_its_own() -> None:
    history = History.begun()
    history.add(Submitted(1, "1" * 40, "", "main", True, 1), Built(1, "f", "0" * 64, "fingerprint"))
    state = history.state
    assert state.submission(1).tested_model == "1" * 40
    assert "1" * 40 in state.testsets[1].predictions
