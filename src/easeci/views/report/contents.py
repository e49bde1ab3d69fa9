"""What a report contains.

The developers' version is made of what :mod:`easeci.ledger.disclosure` gives and of the sealed
scripts, which developers have anyway. The owner's version also shows verdicts. The time of writing
is left out, so that the same history gives the same file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from easeci.ledger.disclosure import (
    DisclosedRow,
    disclosed_reason,
    disclosed_rows,
    disclosed_status,
    steps_used,
)
from easeci.ledger.state import State, Testset
from easeci.ledger.wording import baseline_words
from easeci.script import Script
from easeci.service.project import Project
from easeci.views.history import (
    DecidedStep,
    OwnerRow,
    decided_steps,
    latest_reason,
    owner_rows,
)
from easeci.views.status import next_act, owner_status, rests_on


@dataclass(frozen=True)
class TestsetReport:
    """A testset as a developer may see it, with its commits in the order of submission."""

    __test__ = False

    number: int
    name: str
    script: Script
    steps: int
    steps_used: int
    retired: str | None
    rows: tuple[DisclosedRow, ...]


@dataclass(frozen=True)
class TestsetFindings:
    """What the owner sees of a testset: facts, a row for each commit, and the decided steps."""

    __test__ = False

    facts: tuple[tuple[str, str], ...]
    rows: tuple[OwnerRow, ...]
    steps: tuple[DecidedStep, ...]


@dataclass(frozen=True)
class OwnerReport:
    """What the owner's version adds; ``testsets`` by their numbers.

    ``newest`` says why the newest decided commit passed or failed: a sentence, then what was
    measured.
    """

    newest: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    rests_on: tuple[str, ...]
    testsets: Mapping[int, TestsetFindings]


@dataclass(frozen=True)
class Report:
    """A whole report, the newest testset first; ``owner`` is None in the developers' version."""

    project: str
    next: str
    testsets: tuple[TestsetReport, ...]
    owner: OwnerReport | None = None


def make_report(project: Project, *, owner: bool) -> Report:
    """The report for developers, or for the owner."""
    shown = developer_report(project.name, project.state)
    if not owner:
        return shown
    return Report(shown.project, shown.next, shown.testsets, _owner_report(project))


def developer_report(name: str, state: State) -> Report:
    """The developers' version, from what was disclosed."""
    rows = disclosed_rows(state)
    testsets = [
        TestsetReport(
            number=testset.number,
            name=testset.name,
            script=testset.script,
            steps=testset.script.steps,
            steps_used=steps_used(state, testset),
            retired=disclosed_reason(state, testset),
            rows=tuple(row for row in rows if row.testset == testset.number),
        )
        for testset in state.testsets.values()
    ]
    return Report(name, next_act(disclosed_status(state)), tuple(reversed(testsets)))


def _owner_report(project: Project) -> OwnerReport:
    state = project.state
    baseline = "none"
    if state.baseline is not None:
        baseline = f"{state.baseline[:10]} ({baseline_words(state.baseline_how or '')})"
    rows = owner_rows(state)
    return OwnerReport(
        newest=latest_reason(rows),
        facts=(
            ("Baseline", baseline),
            ("Letters to send", f"{sum(not m.sent for m in state.messages):,}"),
            ("Looks beyond the signals", f"{len(state.looks):,}"),
            ("Head of the ledger", f"{project.head.number}:{project.head.code}"),
        ),
        rests_on=rests_on(state, state.latest_testset),
        testsets={
            testset.number: TestsetFindings(
                facts=_facts(project, testset),
                rows=tuple(row for row in rows if row.shown.testset == testset.number),
                steps=decided_steps(state, testset),
            )
            for testset in state.testsets.values()
        },
    )


def _facts(project: Project, testset: Testset) -> tuple[tuple[str, str], ...]:
    found = owner_status(project, testset)
    decided = sum(step.passed is not None for step in testset.steps)
    sent = testset.sent_steps
    planned = "" if found.needed is None else f" (planned: {found.needed:,})"
    corrected = f", {testset.corrected:,} corrected" if testset.corrected else ""
    return (
        ("Examples", f"{found.examples:,}{planned}"),
        ("Labels known", f"{found.labels:,}{corrected}"),
        ("Labels wanted now", f"{found.labels_wanted:,}"),
        ("Passed", f"{found.passed:,}"),
        ("Failed", f"{decided - found.passed:,}"),
        ("Undecided", f"{found.undecided:,}"),
        ("Waiting", f"{found.waiting:,}"),
        ("Build errors", f"{found.build_errors:,}"),
        *((("Steps on sent predictions", f"{sent:,}"),) if sent else ()),
        ("Estimator", str(testset.estimator)),
    )
