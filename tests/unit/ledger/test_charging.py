"""Which commits are charged: free answers depend only on what developers know already."""

from __future__ import annotations

from dataclasses import replace

import pytest

from easeci.ledger.charging import (
    charge,
    free_answer,
    is_unchanged,
    known_submission,
    takes_file,
)
from easeci.ledger.events import (
    SENT,
    BaselineBuilt,
    BaselineSet,
    Built,
    Charged,
    Event,
    SampleBuilt,
    SealedRunFailed,
    Signalled,
    StepShared,
    Submitted,
    TurnCame,
)
from easeci.ledger.signals import Signal
from easeci.ledger.state import State
from tests.histories import History

BASELINE = "b" * 40


def begun(**keys: str) -> History:
    """A testset with a baseline of model "old"."""
    history = History.begun(**keys)
    return history.add(
        BaselineBuilt(1, BASELINE, "f", "0" * 64, "old", "l", "1" * 64, model="old"),
        SampleBuilt(1, BASELINE, "s", "0" * 64, "on sample", "l", "1" * 64, 0.1, "old"),
    )


def after_test(history: History, name: str, passed: bool | None, *, model: str = "m") -> History:
    """A commit of a model that was charged, and answered unless it waits."""
    history.commit(name, passed)
    number = history.submissions
    place = next(
        i
        for i, event in enumerate(history.events)
        if isinstance(event, Submitted) and event.submission == number
    )
    commit = name * 40
    history.events[place] = Submitted(number, commit, "", "main", True, 1, model=model)
    compared = history.state.testsets[1].public_model
    turn = history.events.index(TurnCame(1, number, BASELINE, 0))
    history.events[turn] = TurnCame(1, number, BASELINE, 0, compared or "old")
    return history


def submitted(history: History, model: str, *, candidate: bool = True) -> Submitted:
    number = len(history.state.submissions) + 1
    return Submitted(number, "9" * 40, "", "main", candidate, 1, model=model)


def answer(history: History, model: str, *, candidate: bool = True) -> list[Event]:
    """What a new commit of this model is answered for nothing."""
    state = history.state
    return free_answer(state, state.testsets[1], submitted(history, model, candidate=candidate))


def test_a_model_that_was_never_seen_has_no_free_answer() -> None:
    assert answer(begun(), "new") == []


@pytest.mark.parametrize("candidate", [True, False])
def test_the_model_of_the_baseline_is_the_baseline(candidate: bool) -> None:
    """On the branch of baselines its commit becomes the baseline's."""
    signalled, *more = answer(begun(), "old", candidate=candidate)
    assert signalled == Signalled(1, Signal.BASELINE)
    assert more == ([BaselineSet("9" * 40, "same")] if candidate else [])


def test_a_model_that_was_answered_shares_that_step() -> None:
    assert answer(after_test(begun(), "1", False), "m") == [StepShared(2, 1)]


def test_a_model_that_waits_shares_its_step() -> None:
    assert answer(after_test(begun(), "1", None), "m") == [StepShared(2, 1)]


def test_against_another_baseline_it_is_charged_on_the_predictions_that_were_kept() -> None:
    history = after_test(after_test(begun(), "1", False), "2", True, model="better")
    assert answer(history, "m") == []
    history.add(submitted(history, "m"))
    state = history.state
    assert charge(state, state.testsets[1], state.submission(3)) == [
        Charged(3, 3),
        Built(3, "predictions/1", "0" * 64, "fingerprint 1"),
    ]


def test_a_model_that_failed_is_charged_again_and_not_run_again() -> None:
    history = begun().add(
        Submitted(1, "1" * 40, "", "main", True, 1, model="m"),
        Charged(1, 1),
        SealedRunFailed(1, "exit code 3"),
        Submitted(2, "2" * 40, "", "main", True, 1, model="m"),
    )
    state = history.state
    found = charge(state, state.testsets[1], state.submission(2))
    assert found == [Charged(2, 2), SealedRunFailed(2, "exit code 3")]


def test_under_none_the_same_model_is_free_whatever_the_baseline_is() -> None:
    """After any hidden verdict; and so is the baseline that the testset began with."""
    for passed in (True, False):
        history = after_test(begun(adaptivity="none -> a@b.org"), "1", passed)
        assert answer(history, "m") == [StepShared(2, 1)]
        assert answer(history, "old") == [Signalled(2, Signal.ACCEPTED)]
        assert answer(history, "new") == []


def unchanged(state: State) -> bool:
    return is_unchanged(state.testsets[1], state.submissions[-1])


@pytest.mark.parametrize(
    ("keys", "fingerprint", "found"),
    [
        ({}, "on sample", True),
        ({}, "other", False),
        ({"unchanged": "test"}, "on sample", False),
        ({"adaptivity": "none -> a@b.org"}, "on sample", False),
        ({"condition": "n > 0.9 +/- 0.01"}, "on sample", False),
    ],
)
def test_unchanged_is_the_same_on_the_sample_unless_it_would_tell_a_verdict(
    keys: dict[str, str], fingerprint: str, found: bool
) -> None:
    history = begun(**keys).add(
        Submitted(1, "1" * 40, "", "main", True, 1, model="m"),
        SampleBuilt(1, "1" * 40, "s", "0" * 64, fingerprint, "l", "1" * 64, 0.1, "m"),
    )
    assert unchanged(history.state) == found


def test_an_unchanged_commit_is_looked_at_again_when_the_baseline_has_moved() -> None:
    history = begun().add(
        Submitted(1, "1" * 40, "", "main", True, 1, model="m"),
        SampleBuilt(1, "1" * 40, "s", "0" * 64, "on sample", "l", "1" * 64, 0.1, "m"),
        Signalled(1, Signal.UNCHANGED),
    )
    history.submissions = 1

    def known(test: bool) -> bool:
        state = history.state
        found = known_submission(state, state.testsets[1], "1" * 40, True, test=test)
        return found is not None

    assert known(test=False)
    assert not known(test=True)
    history.add(
        Submitted(2, "2" * 40, "", "main", True, 1, model="better"),
        BaselineSet("2" * 40, "set"),
    )
    assert not known(test=False)


def known(history: History, name: str, *, test: bool = False) -> int | None:
    """The number of the submission whose signal a commit has already."""
    state = history.state
    found = known_submission(state, state.testsets[1], name * 40, True, test=test)
    return None if found is None else found.number


def test_asking_again_is_free_whatever_has_passed_since() -> None:
    """Also for a commit that passed and is the baseline no more. Only ``test`` tests it again."""
    for passed in (True, False):
        history = after_test(after_test(begun(), "1", passed), "2", True, model="better")
        assert known(history, "1") == 1
        assert known(history, "1", test=True) is None
        assert known(history, "2", test=True) == 2


def test_a_commit_that_failed_is_the_baseline_once_its_model_is() -> None:
    history = after_test(begun(), "1", False)
    assert known(history, "1") == 1
    history = after_test(history, "2", True, model="m")
    assert known(history, "1") is None
    assert answer(history, "m")[0] == Signalled(3, Signal.BASELINE)


@pytest.mark.parametrize("passed", [True, False])
def test_a_commit_of_the_public_baseline_moves_it_whatever_is_decided_and_hidden(
    passed: bool,
) -> None:
    """A hidden pass stays the real baseline; developers see the same with and without it."""
    history = after_test(begun(disclose="24h"), "1", passed)
    history.events = [e for e in history.events if not isinstance(e, Signalled)]
    events = answer(history, "old")
    assert events == [Signalled(2, Signal.BASELINE), BaselineSet("9" * 40, "same")]
    state = history.add(submitted(history, "old"), *events).state
    testset = state.testsets[1]
    assert (state.public_baseline, testset.public_model) == ("9" * 40, "old")
    assert state.baseline == ("1" if passed else "9") * 40
    assert testset.real_model == ("m" if passed else "old")
    told = history.add(Signalled(1, "pass" if passed else "fail")).state
    assert told.public_baseline == told.baseline


SENT_NOW = Built(2, "predictions/sent", "0" * 64, "sent", origin=SENT, sent_by="ann")


def test_predictions_that_are_sent_are_charged_with_their_origin() -> None:
    history = begun()
    history.add(submitted(history, "m"))
    state, sent = history.state, replace(SENT_NOW, submission=1)
    found = charge(state, state.testsets[1], state.submission(1), sent)
    assert found == [Charged(1, 1, with_file=True), sent]


def test_a_model_keeps_its_predictions_whatever_is_sent() -> None:
    """Made by a program, or failed: a second set of predictions would be a second answer."""
    made = after_test(begun(), "1", False)
    failed = begun().add(
        Submitted(1, "1" * 40, "", "main", True, 1, model="m"),
        Charged(1, 1),
        SealedRunFailed(1, "exit code 3"),
    )
    for history, kept in (
        (made, Built(2, "predictions/1", "0" * 64, "fingerprint 1")),
        (failed, SealedRunFailed(2, "exit code 3")),
    ):
        state, new = history.state, submitted(history, "m")
        assert not takes_file(state.testsets[1], new)
        assert charge(state, state.testsets[1], new, SENT_NOW)[1:] == [kept]


def test_a_file_is_read_if_no_commit_of_its_model_was_charged() -> None:
    """Also if it is the model of a baseline: that may follow from hidden verdicts."""
    history = after_test(begun(), "1", False)
    testset = history.state.testsets[1]
    assert takes_file(testset, submitted(history, "new"))
    assert takes_file(testset, submitted(history, "old"))
