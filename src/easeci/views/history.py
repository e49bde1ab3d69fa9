"""The history of a project: rows of the log, what builds printed, and the steps decided so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from easeci.errors import MissingError, UsageError
from easeci.ledger.disclosure import DisclosedRow, disclosed_rows
from easeci.ledger.state import State, Submission, Testset
from easeci.service.project import Project
from easeci.views.status import _record_look


@dataclass(frozen=True)
class OwnerRow:
    """One submission as the owner sees it."""

    shown: DisclosedRow
    passed: bool | None
    verdict: Mapping[str, Any] | None
    baseline: str | None
    failure: str | None


def log(project: Project) -> list[DisclosedRow]:
    """Every submission with its signal, as developers may see it."""
    return disclosed_rows(project.state)


def owner_log(project: Project) -> list[OwnerRow]:
    """Every submission with its verdict; recorded as a look."""
    _record_look(project, "log")
    return read_owner_log(project)


def read_owner_log(project: Project) -> list[OwnerRow]:
    """As :func:`owner_log`, for who records looks."""
    state = project.state
    return [
        OwnerRow(shown, finding.passed, finding.verdict, finding.baseline, finding.failure)
        for shown, finding in zip(
            disclosed_rows(state), (finding_of(state, s) for s in state.submissions), strict=True
        )
    ]


@dataclass(frozen=True)
class OwnerFinding:
    """What the owner sees of a submission beyond its signal."""

    passed: bool | None
    verdict: Mapping[str, Any] | None
    baseline: str | None
    failure: str | None


def finding_of(state: State, submission: Submission) -> OwnerFinding:
    step = state.step_of(submission)
    if step is None:
        return OwnerFinding(None, None, None, submission.failure)
    return OwnerFinding(step.passed, step.verdict, step.baseline, submission.failure)


def baseline_log(project: Project) -> str:
    """What the baseline printed when it could not be built; recorded as a look."""
    _failed_baseline(project)
    _record_look(project, "build")
    return read_baseline_log(project)


def read_baseline_log(project: Project) -> str:
    """As :func:`baseline_log`, for who records looks."""
    testset, log = _failed_baseline(project)
    return project.sealed(testset).builds.load_log(log)


def _failed_baseline(project: Project) -> tuple[Testset, str]:
    testset = project.state.latest_testset
    failed = None if testset is None else testset.baseline_failure
    if testset is None or failed is None:
        raise UsageError("the baseline was built: there is nothing to read")
    return testset, failed.log


def build_log(project: Project, number: int) -> str:
    """What the program of a submission printed; recorded as a look."""
    require_submission(project, number)
    _record_look(project, "build")
    return read_build_log(project, number)


def read_build_log(project: Project, number: int) -> str:
    """As :func:`build_log`, for who records looks."""
    submission = require_submission(project, number)
    testset = project.state.testsets[submission.testset]
    if submission.log is None:
        raise MissingError(f"commit number {number:,} was not built: there is nothing to read")
    return project.sealed(testset).builds.load_log(submission.log)


def require_submission(project: Project, number: int) -> Submission:
    """The submission of this number, or an error that says where numbers are shown."""
    if not 1 <= number <= len(project.state.submissions):
        raise MissingError(
            f"there is no commit number {number:,}",
            hint="`easeci log` shows the number of every commit.",
        )
    return project.state.submission(number)


@dataclass(frozen=True)
class DecidedStep:
    """A step as a history shows it; ``became_baseline`` says so of its commit."""

    number: int
    verdict: Mapping[str, Any]
    passed: bool | None
    became_baseline: bool


def decided_steps(state: State, testset: Testset) -> tuple[DecidedStep, ...]:
    """Every decided step of a testset, for the owner's eyes."""
    baselines = state.baseline_steps(testset)
    return tuple(
        DecidedStep(step.number, step.verdict, step.passed, step.number in baselines)
        for step in testset.steps
        if step.verdict
    )
