"""Which testset and models are shown, and that nothing is before release."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from easeci.errors import MissingError, NoTestsetError, UsageError
from easeci.ledger.events import BaselineBuilt, TestsetReleased, TestsetRetired, TurnCame
from easeci.ledger.reasons import ByHand
from easeci.ledger.state import State
from easeci.views.released.choice import choose_comparison
from tests.histories import History, added

OLD = "b" * 40
END = (TestsetRetired(1, ByHand("by hand")), TestsetReleased(1))


def project_of(state: State) -> Any:
    """A project that is nothing but its state; its only branch is the second commit."""
    commits = SimpleNamespace(resolve={"main": "2" * 40, "other": "9" * 40}.__getitem__)
    return SimpleNamespace(state=state, repository=commits, sealed=lambda _: None)


def begun(**keys: str) -> History:
    history = History.begun(**keys)
    return history.add(BaselineBuilt(1, OLD, "predictions/o", "0" * 64, "o", "log", "0" * 64))


def pair(
    history: History, commit: str | None = None, against: str | None = None
) -> tuple[str, str | None]:
    """The first characters of the commits that are compared."""
    project = project_of(history.add(*END).state)
    chosen = choose_comparison(project, commit=commit, against=against)
    return chosen.new.commit[0], None if chosen.old is None else chosen.old.commit[0]


def test_nothing_is_shown_before_release() -> None:
    """By default or by number; the error says what to do."""
    history = begun().commit("1", True)
    for number in (None, 1):
        with pytest.raises(UsageError, match="still in use") as caught:
            choose_comparison(project_of(history.state), number)
        assert "testset retire" in str(caught.value.hint)
    history.add(END[0])
    for number in (None, 1):
        with pytest.raises(UsageError, match="not released") as caught:
            choose_comparison(project_of(history.state), number)
        assert "testset release" in str(caught.value.hint)
    history.add(END[1], added(2))
    assert choose_comparison(project_of(history.state)).testset == 1
    with pytest.raises(UsageError, match="testset 2 is still in use"):
        choose_comparison(project_of(history.state), 2)
    with pytest.raises(MissingError, match="no testset 3"):
        choose_comparison(project_of(history.state), 3)
    with pytest.raises(NoTestsetError):
        choose_comparison(project_of(State()))


def test_by_default_the_last_that_passed_stands_against_what_it_was_compared_with() -> None:
    assert pair(begun().commit("1", True).commit("2", False)) == ("1", "b")


def test_without_a_pass_it_is_the_last_model() -> None:
    assert pair(begun().commit("1", False).commit("2", False)) == ("2", "b")
    assert pair(begun()) == ("b", None)


def test_the_default_tells_nothing_of_hidden_verdicts() -> None:
    """Under none the same two models are shown, whatever has passed."""
    shown = set()
    for first, second in product((True, False), repeat=2):
        history = begun(adaptivity="none -> owner@example.org")
        history.commit("1", first, signal="accepted").commit("2", second, signal="accepted")
        if first:
            place = history.events.index(TurnCame(1, 2, OLD, 0))
            history.events[place] = TurnCame(1, 2, "1" * 40, 0)
        shown.add(pair(history))
    assert shown == {("2", "b")}


def test_a_commit_stands_against_the_baseline_of_its_time() -> None:
    history = begun().commit("1", True).commit("2", True)
    history.events[history.events.index(TurnCame(1, 2, OLD, 0))] = TurnCame(1, 2, "1" * 40, 0)
    assert pair(history) == ("2", "1")


def test_models_can_be_chosen_by_commit_branch_and_beginning() -> None:
    def history() -> History:
        return begun().commit("1", True).commit("2", False)

    assert pair(history(), commit="main", against="1111") == ("2", "1")
    assert pair(history(), commit="2" * 40) == ("2", "b")
    assert pair(history(), against="main") == ("1", "2")
    with pytest.raises(MissingError, match="other was not tested on testset 1") as caught:
        pair(history(), commit="other")
    assert caught.value.hint == f"Tested were {'b' * 10}, {'1' * 10}, {'2' * 10}."


def test_a_testset_that_tested_nothing_is_said_so() -> None:
    with pytest.raises(UsageError, match="no model was tested"):
        pair(History.begun())
