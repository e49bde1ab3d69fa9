"""Questions about the state of a project."""

from __future__ import annotations

from dataclasses import replace

from easeci.ledger.events import (
    BaselineSet,
    BuildFailed,
    Built,
    Promoted,
    Signalled,
    Submitted,
    TestsetRetired,
)
from easeci.ledger.reasons import ByHand
from tests.histories import History, added


def test_failed_builds_are_counted_and_forgotten() -> None:
    history = History.begun()
    history.add(
        Submitted(1, "1" * 40, "", "main", True, 1), BuildFailed(1, "exit code 1", "l", "1" * 64)
    )
    state = history.state
    assert state.build_failures(state.testsets[1]) == 1
    assert state.last_of(state.testsets[1], "1" * 40) is None
    assert not state.queue(state.testsets[1])


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
