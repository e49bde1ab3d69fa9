"""The history of a project: what the owner sees beside the signals."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from easeci.errors import MissingError, UsageError
from easeci.ledger.disclosure import disclosed_rows
from easeci.ledger.events import BaselineSet
from easeci.verdict.logic import Result
from easeci.views.history import (
    baseline_log,
    build_log,
    decided_steps,
    latest_reason,
    owner_rows,
    require_submission,
)
from tests.histories import CLAUSE, VERDICT, History

HISTORY = History.begun().commit("1", True).commit("2", False).commit("3", None)


def test_the_owner_sees_each_row_of_the_developers_and_its_verdict() -> None:
    state = HISTORY.state
    rows = owner_rows(state)
    assert [row.shown for row in rows] == disclosed_rows(state)
    assert [row.passed for row in rows] == [True, False, None]
    assert [row.verdict is None for row in rows] == [False, False, True]


def test_only_decided_steps_are_counted_and_the_new_baseline_is_marked() -> None:
    history = History.begun().commit("1", True).add(BaselineSet("1" * 40, "passed"))
    history.commit("2", False).commit("3", None)
    state = history.state
    steps = decided_steps(state, state.testsets[1])
    assert [(step.number, step.passed) for step in steps] == [(1, True), (2, False)]
    assert [step.became_baseline for step in steps] == [True, False]


@pytest.mark.parametrize("number", [-1, 0, 4])
def test_a_number_that_no_commit_has_is_refused(number: int) -> None:
    """Zero and less must not count from the end."""
    project: Any = SimpleNamespace(state=HISTORY.state)
    with pytest.raises(MissingError, match="there is no commit number"):
        require_submission(project, number)
    assert require_submission(project, 3).commit == "3" * 40


def test_where_nothing_was_printed_there_is_nothing_to_read() -> None:
    project: Any = SimpleNamespace(state=HISTORY.state)
    with pytest.raises(UsageError, match="the baseline was built"):
        baseline_log(project)
    with pytest.raises(MissingError, match="commit number 1 was not built"):
        build_log(project, 1)


def test_the_newest_reason_comes_with_what_was_measured() -> None:
    passed, failed, waiting = owner_rows(HISTORY.state)
    assert failed.why == "shown to gain less than 2 points, after 9 labels"
    assert (waiting.why, waiting.briefly) == (None, "")
    assert latest_reason([passed, failed, waiting]) == (
        f"Last verdict (step 1.2): FAIL: {failed.why}.",
        "n - o = +1.0 points, interval -100.0 to +1.5 points",
    )
    assert latest_reason([waiting]) == ()
    proven = replace(CLAUSE, result=Result.TRUE, low=0.01, high=0.03, interval_error=0.001)
    inside = replace(passed, verdict=replace(VERDICT, passed=True, clauses=(proven,)))
    assert "may contain the threshold" in latest_reason([inside])[-1]


def test_every_decided_commit_has_an_interval_for_each_clause() -> None:
    """In points; clauses are named only where there are several."""
    passed, failed, waiting = owner_rows(HISTORY.state)
    assert failed.intervals == ("-100.0 to +1.5 points",)
    assert (len(passed.intervals), waiting.intervals) == (1, ())
    few = replace(CLAUSE, text="d < 0.1 +/- 0.02", low=0.05, high=0.08)
    both = replace(passed, verdict=replace(VERDICT, clauses=(CLAUSE, few)))
    assert both.intervals == ("n - o: -100.0 to +1.5 points", "d: 5.0% to 8.0%")


def test_a_reason_without_a_verdict_stands_alone() -> None:
    _, failed, _ = owner_rows(HISTORY.state)
    without = replace(failed, verdict=None, why="its program failed", failure="exit code 3")
    assert latest_reason([without]) == (
        "Last verdict (step 1.2): FAIL: its program failed.",
        "Why: exit code 3",
    )
    assert latest_reason([replace(without, adopted=True)]) == ()
