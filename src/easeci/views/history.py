"""The history of a project: rows of the log, what builds printed, and the steps decided so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from easeci.errors import MissingError, UsageError
from easeci.ledger.disclosure import DisclosedRow, disclosed_rows
from easeci.ledger.state import SentFile, State, Submission, Testset
from easeci.ledger.verdicts import RecordedVerdict
from easeci.ledger.wording import sent_words, step_in_short, step_reason
from easeci.service.project import Project


@dataclass(frozen=True)
class OwnerRow:
    """One submission as the owner sees it: what developers see, and what was found."""

    shown: DisclosedRow
    passed: bool | None
    verdict: RecordedVerdict | None
    baseline: str | None
    failure: str | None
    why: str | None = None
    """Why it passed or failed, in one sentence; None if it is not decided."""
    adopted: bool = False
    """Whether it became the first baseline without a test."""
    briefly: str = ""
    """The answer and its reason in a few words, for tables."""
    failed_scores: int = 0
    """How many outputs score 0 because the scorer could not score them."""
    sent: SentFile | None = None
    """The file that its predictions were sent as; None if they were made here."""

    @property
    def sent_words(self) -> str | None:
        """Who sent its predictions, and when; None if they were made here."""
        return None if self.sent is None else sent_words(self.sent)

    @property
    def intervals(self) -> tuple[str, ...]:
        """The interval of each clause, in points or percent; empty if there is no verdict.

        A clause is named by its score, unless it is the only one.
        """
        clauses = () if self.verdict is None else self.verdict.clauses
        if len(clauses) == 1:
            return (clauses[0].interval_words,)
        return tuple(f"{found.clause.score}: {found.interval_words}" for found in clauses)


def latest_reason(rows: Sequence[OwnerRow]) -> tuple[str, ...]:
    """Why the newest decided commit passed or failed, and what was measured of each clause.

    The first line is one sentence; empty if no commit is decided yet.
    """
    decided = [row for row in rows if row.why is not None and not row.adopted]
    if not decided:
        return ()
    row = decided[-1]
    step = "" if row.shown.step is None else f" (step {row.shown.testset}.{row.shown.step})"
    sentence = f"Last verdict{step}: {'PASS' if row.passed else 'FAIL'}: {row.why}."
    if row.verdict is None:
        return (sentence, f"Why: {row.failure or 'it did not end before its tick'}")
    note = row.verdict.interval_note
    return (
        sentence,
        *(
            f"{found.clause.score} = {found.estimate_words}, interval {found.interval_words}"
            for found in row.verdict.clauses
        ),
        *(() if note is None else (note,)),
        *(
            (f"{row.failed_scores:,} outputs could not be scored; each scores 0.",)
            if row.failed_scores
            else ()
        ),
    )


def owner_rows(state: State) -> tuple[OwnerRow, ...]:
    """Every submission with its verdict, in order."""
    return tuple(
        _owner_row(state, submission, shown)
        for submission, shown in zip(state.submissions, disclosed_rows(state), strict=True)
    )


def _owner_row(state: State, submission: Submission, shown: DisclosedRow) -> OwnerRow:
    step = state.step_of(submission)
    if step is None:
        return OwnerRow(shown, None, None, None, submission.problem)
    return OwnerRow(
        shown,
        step.passed,
        step.verdict,
        step.baseline,
        submission.problem,
        step_reason(step),
        step.adopted,
        step_in_short(step),
        step.failed_scores,
        state.testsets[step.testset].sent_file(step.model),
    )


def baseline_log(project: Project) -> str:
    """What the baseline printed when its build failed."""
    testset = project.state.latest_testset
    failed = None if testset is None else testset.baseline_failure
    if testset is None or failed is None:
        raise UsageError("the baseline was built: there is nothing to read")
    return project.sealed(testset).builds.load_log(failed.log)


def scorer_log(project: Project) -> str:
    """What the owner's scorer printed when it last failed."""
    testset = project.state.latest_testset
    if testset is None or testset.scorer_log is None:
        raise UsageError("the scorer has not failed: there is nothing to read")
    return project.sealed(testset).builds.load_log(testset.scorer_log)


def build_log(project: Project, number: int) -> str:
    """What the program of a submission printed."""
    submission = require_submission(project, number)
    testset = project.state.testsets[submission.testset]
    if submission.log is None:
        how = "was sent with its predictions" if submission.sent else "was not built"
        raise MissingError(f"commit number {number:,} {how}: there is nothing to read")
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
    """Every decided step of a testset that has a verdict. For the owner only."""
    baselines = state.baseline_steps(testset)
    return tuple(
        DecidedStep(step.number, step.verdict, step.passed, step.number in baselines)
        for step in testset.steps
        if step.verdict is not None
    )
