"""The history of a project: rows of the log, what builds printed, and the steps decided so far."""

from __future__ import annotations

from dataclasses import dataclass

from easeci.errors import MissingError, UsageError
from easeci.ledger.disclosure import DisclosedRow, disclosed_rows
from easeci.ledger.state import State, Submission, Testset
from easeci.ledger.verdicts import RecordedVerdict
from easeci.service.project import Project


@dataclass(frozen=True)
class OwnerRow:
    """One submission as the owner sees it: what developers see, and what was found."""

    shown: DisclosedRow
    passed: bool | None
    verdict: RecordedVerdict | None
    baseline: str | None
    failure: str | None


def owner_rows(state: State) -> tuple[OwnerRow, ...]:
    """Every submission with its verdict, in order."""
    return tuple(
        _owner_row(state, submission, shown)
        for submission, shown in zip(state.submissions, disclosed_rows(state), strict=True)
    )


def _owner_row(state: State, submission: Submission, shown: DisclosedRow) -> OwnerRow:
    step = state.step_of(submission)
    if step is None:
        return OwnerRow(shown, None, None, None, submission.failure)
    return OwnerRow(shown, step.passed, step.verdict, step.baseline, submission.failure)


def baseline_log(project: Project) -> str:
    """What the baseline printed when its build failed."""
    testset = project.state.latest_testset
    failed = None if testset is None else testset.baseline_failure
    if testset is None or failed is None:
        raise UsageError("the baseline was built: there is nothing to read")
    return project.sealed(testset).builds.load_log(failed.log)


def build_log(project: Project, number: int) -> str:
    """What the program of a submission printed."""
    submission = require_submission(project, number)
    testset = project.state.testsets[submission.testset]
    if submission.log is None:
        raise MissingError(f"commit number {number:,} was not built: there is nothing to read")
    return project.sealed(testset).builds.load_log(submission.log)


def require_submission(project: Project, number: int) -> Submission:
    """The submission of this number; an error if there is none."""
    if not 1 <= number <= len(project.state.submissions):
        raise MissingError(
            f"there is no commit number {number:,}",
            hint="`easeci log` shows the number of every commit.",
        )
    return project.state.submission(number)


@dataclass(frozen=True)
class DecidedStep:
    """A decided step. ``became_baseline``: its commit became the baseline."""

    number: int
    verdict: RecordedVerdict
    passed: bool | None
    became_baseline: bool


def decided_steps(state: State, testset: Testset) -> tuple[DecidedStep, ...]:
    """Every decided step of a testset. For the owner only."""
    baselines = state.baseline_steps(testset)
    return tuple(
        DecidedStep(step.number, step.verdict, step.passed, step.number in baselines)
        for step in testset.steps
        if step.verdict is not None
    )
