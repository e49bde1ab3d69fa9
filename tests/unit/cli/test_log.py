"""What ``log`` prints."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from easeci.cli.log import _show_owner
from easeci.cli.terminal import output
from easeci.ledger.testset import SentFile
from easeci.views.history import owner_rows
from tests.histories import CLAUSE, VERDICT, History


@pytest.fixture
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output(), "width", 80)


@pytest.mark.usefixtures("_eighty_columns")
def test_each_decided_commit_of_the_owners_log_has_its_intervals(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Below its answer, in full even where there are several clauses and 80 columns."""
    history = History.begun().commit("1", True).commit("2", False).commit("3", None)
    rows = owner_rows(history.state)
    _show_owner(rows)
    shown = capsys.readouterr().out
    table = shown[shown.index("signal") :]
    assert table.count("-100.0 to +1.5 points") == 2
    few = replace(CLAUSE, text="d < 0.1 +/- 0.02", low=0.05, high=0.08)
    both = replace(VERDICT, clauses=(CLAUSE, few))
    _show_owner(tuple(replace(row, verdict=both) for row in rows[:2]))
    shown = capsys.readouterr().out
    assert shown.count("n - o: -100.0 to +1.5 points") == 2
    assert shown.count("d: 5.0% to 8.0%") == 2
    assert max(map(cell_len, shown.splitlines())) <= 80


@pytest.mark.usefixtures("_eighty_columns")
def test_a_file_that_was_sent_hides_nothing_of_the_owners_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Who sent it is wrapped; commits, signals, intervals and labels stay whole."""
    history = History.begun().commit("1", True).commit("2", False)
    sent = SentFile("somebody with a long name", "2026-11-18T15:36:00Z", "0" * 64)
    few = replace(CLAUSE, text="n.concise > 0.8 +/- 0.02", low=0.8, high=0.9, scores=("concise",))
    both = replace(VERDICT, clauses=(CLAUSE, few))
    rows = tuple(replace(row, sent=sent, verdict=both) for row in owner_rows(history.state))
    _show_owner(rows)
    shown = capsys.readouterr().out
    table = shown[shown.index("signal") :]
    assert "…" not in table
    assert table.count("-100.0 to +1.5 points") == 2
    assert all(row.shown.commit[:10] in table for row in rows)
    assert table.count(" FAIL ") == 1
    assert re.search(r"pass.* \d+ *$", table, re.MULTILINE)  # how many labels, at the end
    assert max(map(cell_len, shown.splitlines())) <= 80
