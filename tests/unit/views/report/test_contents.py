"""What a report contains, for developers and for the owner."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from easeci.ledger.chain import Head
from easeci.ledger.events import Looked, TestsetRetired
from easeci.ledger.reasons import ByHand
from easeci.views.report.contents import make_report
from tests.histories import History, added


def project_of(history: History) -> Any:
    """A project that is nothing but its state."""
    return SimpleNamespace(name="a model", state=history.state, head=Head(7, "beef"))


def test_each_commit_stands_once_under_its_testset_the_newest_first() -> None:
    history = History.begun().commit("1", True).commit("2", False)
    history.add(TestsetRetired(1, ByHand("by hand")), added(2))
    report = make_report(project_of(history), owner=False)
    assert [testset.number for testset in report.testsets] == [2, 1]
    assert [len(testset.rows) for testset in report.testsets] == [0, 2]
    assert report.owner is None


def test_the_owners_version_holds_all_of_the_developers() -> None:
    project = project_of(History.begun().commit("1", True))
    shown, whole = (make_report(project, owner=owner) for owner in (False, True))
    assert (whole.project, whole.next, whole.testsets) == (
        shown.project,
        shown.next,
        shown.testsets,
    )
    assert whole.owner is not None
    (row,) = whole.owner.testsets[1].rows
    assert row.passed is True


def test_the_facts_count_what_was_decided_and_what_was_looked_at() -> None:
    history = History.begun().commit("1", True).commit("2", False).commit("3", False)
    report = make_report(project_of(history.add(Looked("status"), Looked("log"))), owner=True)
    assert report.owner is not None
    facts = dict(report.owner.facts)
    assert facts["Looks beyond the signals"] == "2"
    assert facts["Head of the ledger"] == "7:beef"
    counted = dict(report.owner.testsets[1].facts)
    assert (counted["Passed"], counted["Failed"]) == ("1", "2")
