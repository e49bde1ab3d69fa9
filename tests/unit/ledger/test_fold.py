"""The state is what the events say."""

from __future__ import annotations

from dataclasses import replace

from easeci.ledger.events import (
    BaselineBuilt,
    BaselineSet,
    BuildFailed,
    Built,
    LabelsAdded,
    Promoted,
    Signalled,
    Submitted,
    TestsetRetired,
)
from easeci.ledger.fold import fold
from easeci.ledger.reasons import ByHand
from tests.histories import History, added


def test_the_last_commit_that_passed_is_the_baseline() -> None:
    state = History.begun().commit("1", True).commit("2", False).commit("3", True).state
    assert state.baseline == "3" * 40
    assert state.testsets[1].history == "PFP"


def test_a_commit_of_another_branch_does_not_become_the_baseline() -> None:
    history = History.begun()
    history.commit("1", True)
    index, submitted = next(
        (i, e) for i, e in enumerate(history.events) if isinstance(e, Submitted)
    )
    history.events[index] = Submitted(
        submitted.submission, submitted.commit, submitted.subject, "side", False, 1
    )
    assert history.state.baseline == "b" * 40


def test_a_pass_that_is_repeated_on_the_branch_makes_the_baseline() -> None:
    history = History.begun()
    history.add(
        Submitted(1, "1" * 40, "", "side", False, 1), Built(1, "f", "0" * 64, "fingerprint")
    )
    state = history.state
    assert state.queue(state.testsets[1])[0].commit == "1" * 40
    again = History.begun().commit("1", True)
    again.add(
        Submitted(2, "2" * 40, "", "main", True, 1),
        Built(2, "f", "0" * 64, "fingerprint 1"),
        Signalled(2, "pass", repeats=1),
    )
    assert again.state.baseline == "2" * 40


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


def test_failed_builds_are_counted_and_forgotten() -> None:
    history = History.begun()
    history.add(
        Submitted(1, "1" * 40, "", "main", True, 1), BuildFailed(1, "exit code 1", "l", "1" * 64)
    )
    state = history.state
    assert state.build_failures(state.testsets[1]) == 1
    assert state.last_of(state.testsets[1], "1" * 40) is None
    assert not state.queue(state.testsets[1])


def test_labels_are_counted_and_their_files_kept_in_order() -> None:
    history = History.begun()
    history.add(
        LabelsAdded(1, "labels/1", "1" * 64, 10), LabelsAdded(1, "labels/2", "2" * 64, 5, 3)
    )
    testset = history.state.testsets[1]
    assert (testset.labels, testset.corrected) == (15, 3)
    assert testset.label_files == ["labels/1", "labels/2"]
    assert testset.files["labels/2"] == "2" * 64


def test_a_retired_testset_is_no_longer_active() -> None:
    history = History.begun().add(TestsetRetired(1, ByHand("by hand")))
    assert history.state.active_testset is None
    latest = history.state.latest_testset
    assert latest is not None
    assert latest.retired == ByHand("by hand")
    history.add(added(2))
    active = history.state.active_testset
    assert active is not None
    assert active.number == 2


def test_folding_in_parts_is_folding_at_once() -> None:
    """What a command appends leaves it with the state that the next command folds."""
    from easeci.ledger.events import parse_event
    from easeci.ledger.fold import apply

    records = History.begun().commit("1", True).commit("2", None).records
    grown = fold(records[:3])
    for record in records[3:]:
        apply(grown, parse_event(record.kind, record.version, record.text), record)
    assert grown == fold(records)


def test_commits_wait_in_the_order_in_which_they_were_built() -> None:
    """Not in that of submission: a build that was killed and begun again comes later, and that
    must not depend on whether anything waits."""
    history = History.begun()
    history.add(
        Submitted(1, "1" * 40, "", "main", True, 1),
        Submitted(2, "2" * 40, "", "main", True, 1),
        Built(2, "f", "0" * 64, "second"),
        Built(1, "g", "0" * 64, "first"),
    )
    state = history.state
    assert [waiting.number for waiting in state.queue(state.testsets[1])] == [2, 1]


def test_a_step_remembers_the_labels_that_it_was_decided_with() -> None:
    history = History.begun()
    history.add(LabelsAdded(1, "labels/0001.parquet", "0" * 64, 5)).commit("1", True)
    history.add(LabelsAdded(1, "labels/0002.parquet", "1" * 64, 5)).commit("2", None)
    first, second = history.state.testsets[1].steps
    assert (first.label_files, second.label_files) == (1, None)


def baselines(history: History) -> list[int]:
    state = history.state
    return sorted(state.baseline_steps(state.testsets[1]))


def test_steps_whose_commits_became_the_baseline_are_known() -> None:
    history = History.begun().commit("1", True).commit("2", False).commit("3", True)
    assert baselines(history) == [1, 3]


def side(history: History) -> History:
    """The same history with its commits on another branch, which gives no baselines."""
    for index, event in enumerate(history.events):
        if isinstance(event, Submitted):
            history.events[index] = replace(event, branch="side", candidate=False)
    return history


def test_a_pass_on_another_branch_makes_a_baseline_when_it_comes_to_the_branch() -> None:
    history = side(History.begun().commit("1", True).commit("2", False))
    assert baselines(history) == []
    assert baselines(history.add(Promoted(1))) == [1]


def test_a_repeated_answer_marks_the_step_only_if_the_commit_is_its_own() -> None:
    """Another commit with the same predictions becomes the baseline, but no step has tested it."""
    for commit, expected in (("1", [1]), ("2", [])):
        history = side(History.begun().commit("1", True))
        history.add(
            Submitted(2, commit * 40, "", "main", True, 1),
            Built(2, "f", "0" * 64, "fingerprint 1"),
            Signalled(2, "pass", repeats=1),
        )
        assert history.state.baseline == commit * 40
        assert history.state.submission(2).became_baseline
        assert baselines(history) == expected


def test_a_baseline_chosen_by_hand_is_no_step_s() -> None:
    history = History.begun().commit("1", False).add(BaselineSet("1" * 40, "set"))
    assert history.state.baseline == "1" * 40
    assert baselines(history) == []
    assert baselines(History.begun().add(BaselineSet("1" * 40, "set")).commit("1", True)) == []
