"""The state is what the events say."""

from __future__ import annotations

from easeci.ledger.disclosure import disclosed_rows, disclosed_status
from easeci.ledger.events import (
    LABELLING,
    SENT,
    BaselineBuilt,
    Built,
    Charged,
    LabelsAdded,
    LabelsExported,
    Signalled,
    Submitted,
    TestsetReleased,
    TokenMade,
    TokenRemoved,
)
from easeci.ledger.fold import fold
from easeci.views.status import rests_on
from tests.histories import History


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


def test_labels_are_counted_and_their_files_kept_in_order() -> None:
    history = History.begun()
    history.add(
        LabelsAdded(1, "labels/1", "1" * 64, 10), LabelsAdded(1, "labels/2", "2" * 64, 5, 3)
    )
    testset = history.state.testsets[1]
    assert (testset.labels, testset.corrected) == (15, 3)
    assert testset.label_files == ["labels/1", "labels/2"]
    assert testset.files["labels/2"] == "2" * 64


def test_folding_in_parts_is_folding_at_once() -> None:
    """What a command appends leaves it with the state that the next command folds."""
    from easeci.ledger.events import parse_event
    from easeci.ledger.fold import apply

    records = History.begun().commit("1", True).commit("2", None).records
    grown = fold(records[:3])
    for record in records[3:]:
        apply(grown, parse_event(record.kind, record.version, record.text), record)
    assert grown == fold(records)


def test_a_step_remembers_the_labels_that_it_was_decided_with() -> None:
    history = History.begun()
    history.add(LabelsAdded(1, "labels/0001.parquet", "0" * 64, 5)).commit("1", True)
    history.add(LabelsAdded(1, "labels/0002.parquet", "1" * 64, 5)).commit("2", None)
    first, second = history.state.testsets[1].steps
    assert (first.label_files, second.label_files) == (1, None)


def test_an_export_is_a_look_of_labellers_and_tokens_change_no_state() -> None:
    """Nothing that developers are shown depends on either."""
    history = History.begun().commit("1", True)
    before = disclosed_status(history.state), disclosed_rows(history.state)
    rests = rests_on(history.state, history.state.latest_testset)
    history.add(LabelsExported(1, 20, "csv"), TokenMade("ann", "owner"), TokenRemoved("ann"))
    state = history.state
    assert [view for _, view in state.looks] == [LABELLING]
    assert (disclosed_status(state), disclosed_rows(state)) == before
    assert rests_on(state, state.latest_testset) == rests


def test_a_testset_remembers_its_first_release() -> None:
    history = History.begun().add(TestsetReleased(1))
    first = history.state.testsets[1].released_at
    assert first is not None
    assert history.add(TestsetReleased(1, "ann")).state.testsets[1].released_at == first


def test_the_origin_of_predictions_is_kept_with_the_model() -> None:
    """Also if the same model is charged again; what an older version recorded was made here."""
    history = History.begun().add(
        Submitted(1, "1" * 40, "", "main", True, 1, model="sent"),
        Charged(1, 1, with_file=True),
        Built(1, "f", "0" * 64, "p", origin=SENT, sent_by="ann", sent_digest="d"),
        Submitted(2, "2" * 40, "", "main", True, 1, model="sent"),
        Charged(2, 2),
        Built(2, "f", "0" * 64, "p"),
        Submitted(3, "3" * 40, "", "main", True, 1, model="made"),
        Charged(3, 3),
        Built(3, "g", "0" * 64, "q", "log", "1" * 64),
    )
    state = history.state
    testset, sent = state.testsets[1], state.testsets[1].sent_file("sent")
    assert sent is not None
    assert (sent.by, sent.digest) == ("ann", "d")
    assert (testset.sent_file("made"), testset.sent_steps) == (None, 2)
    assert [submission.sent for submission in state.submissions] == [True, False, False]
    assert disclosed_status(state).sent_steps == 2


def test_a_baseline_may_have_been_sent() -> None:
    """Then it has no log."""
    history = History.begun().add(
        BaselineBuilt(1, "b" * 40, "f", "0" * 64, "p", None, None, "m", SENT, "ann", "d")
    )
    testset = history.state.testsets[1]
    assert testset.sent_baseline
    assert (testset.sent_steps, testset.sent_models, testset.files["f"]) == (0, {"m"}, "0" * 64)
    assert testset.baseline_predictions is not None
    assert testset.baseline_predictions.sent is not None
    line = next(line for line in rests_on(history.state, testset) if "sent as a file" in line)
    assert "for a baseline: the answers" in line
