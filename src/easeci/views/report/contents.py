"""A report: one HTML file that asks no other host for anything.

The developers' version is made of what :mod:`easeci.ledger.disclosure` gives and of the sealed
scripts, which they have anyway. The owner's version shows verdicts too, and that somebody looked is
recorded. No time of writing is in it: the same history gives the same file.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from easeci.charts import require_charts
from easeci.errors import UsageError
from easeci.ledger.disclosure import (
    DisclosedRow,
    disclosed_reason,
    disclosed_row,
    disclosed_status,
    steps_used,
)
from easeci.ledger.events import Looked
from easeci.ledger.state import State, Submission, Testset
from easeci.script import Script
from easeci.service.project import Project
from easeci.views.history import DecidedStep, OwnerFinding, decided_steps, finding_of
from easeci.views.status import owner_status, rests_on

PUBLIC, PRIVATE = 0o644, 0o600


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
    """What the owner sees of a testset: facts, and a finding for each of its rows."""

    __test__ = False

    facts: tuple[tuple[str, str], ...]
    rows: tuple[OwnerFinding, ...]
    steps: tuple[DecidedStep, ...]


@dataclass(frozen=True)
class OwnerReport:
    """What the owner sees beyond the developers' report, by testset."""

    facts: tuple[tuple[str, str], ...]
    rests_on: tuple[str, ...]
    testsets: Mapping[int, TestsetFindings]


@dataclass(frozen=True)
class Report:
    """``testsets`` are the newest first; ``owner`` is None in the developers' version."""

    project: str
    next: str
    testsets: tuple[TestsetReport, ...]
    owner: OwnerReport | None = None


@dataclass(frozen=True)
class Written:
    """Where the report is, and what it holds."""

    file: Path
    owner: bool
    testsets: int
    commits: int


def write_report(project: Project, path: Path, *, owner: bool = False) -> Written:
    """Write the report, or replace the one that is there as a whole."""
    from easeci.views.report.page import page

    if owner:
        require_charts()
    with _replaced(path, PRIVATE if owner else PUBLIC) as file:
        if owner:
            with project.exclusive():
                project.append(Looked("report"))
        found = make_report(project, owner=owner)
        file.write(page(found).encode("utf-8", errors="replace"))
    return Written(
        file=path.absolute(),
        owner=owner,
        testsets=len(found.testsets),
        commits=sum(len(testset.rows) for testset in found.testsets),
    )


def make_report(project: Project, *, owner: bool) -> Report:
    shown = developer_report(project.name, project.state)
    if not owner:
        return shown
    return Report(shown.project, shown.next, shown.testsets, _owner_report(project))


def developer_report(name: str, state: State) -> Report:
    rows: dict[int, list[DisclosedRow]] = {number: [] for number in state.testsets}
    for submission in state.submissions:
        rows[submission.testset].append(disclosed_row(state, submission))
    testsets = [
        TestsetReport(
            number=testset.number,
            name=testset.name,
            script=testset.script,
            steps=testset.script.steps,
            steps_used=steps_used(state, testset),
            retired=disclosed_reason(state, testset),
            rows=tuple(rows[testset.number]),
        )
        for testset in state.testsets.values()
    ]
    return Report(name, _next(state), tuple(reversed(testsets)))


def _next(state: State) -> str:
    shown = disclosed_status(state)
    if shown.testset is None:
        return "There is no testset yet: the owner adds one."
    if shown.retired is not None:
        return "A new testset is needed; until then no commit is tested."
    left = shown.steps - shown.steps_used
    steps = "1 step is left" if left == 1 else f"{left:,} steps are left"
    waiting = f"; signals that wait for labels: {shown.pending:,}" if shown.pending else ""
    return f"Testset {shown.testset} is in use, {steps}{waiting}."


def _owner_report(project: Project) -> OwnerReport:
    state = project.state
    baseline = "none"
    if state.baseline is not None:
        baseline = f"{state.baseline[:10]} ({state.baseline_how})"
    submissions: dict[int, list[Submission]] = {number: [] for number in state.testsets}
    for submission in state.submissions:
        submissions[submission.testset].append(submission)
    return OwnerReport(
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
                rows=tuple(finding_of(state, s) for s in submissions[testset.number]),
                steps=decided_steps(state, testset),
            )
            for testset in state.testsets.values()
        },
    )


def _facts(project: Project, testset: Testset) -> tuple[tuple[str, str], ...]:
    found = owner_status(project, testset)
    decided = sum(step.passed is not None for step in testset.steps)
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
        ("Estimator", str(testset.estimator)),
    )


@contextmanager
def _replaced(path: Path, mode: int) -> Iterator[IO[bytes]]:
    """A file that takes the place of ``path`` when it is whole; whether it can is known first."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise UsageError(f"{path} cannot be written: it is not a file", hint="Name one with -o.")
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            os.fchmod(file.fileno(), mode)
        temporary.replace(target)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)
