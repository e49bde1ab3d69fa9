"""The evidence on one commit: its signal for everybody, and for the owner what it rests on.

Nothing here records a look. Whoever shows an owner's view to somebody does that.
"""

from __future__ import annotations

from dataclasses import dataclass

from easeci.ledger.disclosure import DisclosedRow, disclosed_row
from easeci.ledger.state import Step, Testset
from easeci.ledger.verdicts import RecordedVerdict
from easeci.script import Comparison, Estimator, LinearClause, Mode, Script
from easeci.service.commits.advance import evidence_of
from easeci.service.project import Project
from easeci.verdict.curves import ClauseCurves, evidence_curves
from easeci.views.history import require_submission


@dataclass(frozen=True)
class ClauseFinding:
    """What the verdict says of one clause; ``estimate`` is None if no mean can be told."""

    clause: LinearClause
    zone: tuple[float, float]
    estimate: float | None
    interval: tuple[float, float]
    outcome: str


@dataclass(frozen=True)
class CommitEvidence:
    """What the owner sees of a commit beyond its signal.

    ``step`` is the step that it was tested as, or that of the commit whose answer it repeats.
    ``outcome``, ``passed`` and ``labels`` are None while it is not decided. ``waiting`` says that
    it is built and not decided: labels are missing, for it or for those before it. ``verdict`` is
    the verdict as recorded.
    ``became_baseline`` says whether the baseline changed to it because it passed.
    """

    step: int | None
    repeats: bool
    baseline: str | None
    waiting: bool
    failure: str | None
    outcome: str | None
    passed: bool | None
    labels: int | None
    estimator: str | None
    clauses: tuple[ClauseFinding, ...]
    verdict: RecordedVerdict | None
    became_baseline: bool
    has_log: bool


@dataclass(frozen=True)
class CommitView:
    """One submission; ``owner`` is None in a developer's view."""

    shown: DisclosedRow
    owner: CommitEvidence | None


def commit_view(project: Project, number: int, *, owner: bool = False) -> CommitView:
    """One submission. Raises :class:`MissingError` if there is none of this number."""
    submission = require_submission(project, number)
    return CommitView(
        shown=disclosed_row(project.state, submission),
        owner=commit_evidence(project, number) if owner else None,
    )


def commit_evidence(project: Project, number: int) -> CommitEvidence:
    """What the owner sees of it, from the record alone: fast."""
    state, submission = project.state, require_submission(project, number)
    testset, step = state.testsets[submission.testset], state.step_of(submission)
    verdict = None if step is None else step.verdict
    undecided = submission.queued if step is None else step.passed is None
    return CommitEvidence(
        step=None if step is None else step.number,
        repeats=submission.repeats is not None,
        baseline=None if step is None else step.baseline,
        waiting=undecided and testset.retired is None,
        failure=submission.failure,
        outcome=None if verdict is None else verdict.result,
        passed=None if step is None else step.passed,
        labels=None if verdict is None else verdict.labels,
        estimator=None if verdict is None else verdict.estimator,
        clauses=() if verdict is None else _findings(testset, verdict),
        verdict=verdict,
        became_baseline=submission.became_baseline,
        has_log=submission.log is not None,
    )


def _findings(testset: Testset, verdict: RecordedVerdict) -> tuple[ClauseFinding, ...]:
    mode = testset.script.mode
    return tuple(
        ClauseFinding(
            clause=clause,
            zone=zone_of(clause, mode),
            estimate=found.estimate,
            interval=(found.low, found.high),
            outcome=found.result,
        )
        for clause, found in zip(testset.script.clauses, verdict.clauses, strict=True)
    )


def zone_of(clause: LinearClause, mode: Mode) -> tuple[float, float]:
    """Twice the tolerance from the threshold on: on the good side in fp-free, else on the bad."""
    upwards = (clause.comparison is Comparison.GREATER) == (mode is Mode.FP_FREE)
    other = clause.threshold + (2 if upwards else -2) * clause.tolerance
    return float(min(clause.threshold, other)), float(max(clause.threshold, other))


def commit_curves(project: Project, number: int) -> tuple[ClauseCurves, ...]:
    """How the evidence of each clause grew, recomputed from the vault with the labels of that time.

    It reads the whole testset: keep what it gives, by :func:`curves_key`. Empty if the commit has
    no step, its estimator is not sequential, or what is recomputed is not what was recorded.
    """
    state, submission = project.state, require_submission(project, number)
    testset, step = state.testsets[submission.testset], state.step_of(submission)
    if step is None or testset.estimator is not Estimator.SEQUENTIAL:
        return ()
    curves = evidence_curves(*evidence_of(project, testset, step))
    return curves if _as_recorded(testset.script, step, curves) else ()


def _as_recorded(script: Script, step: Step, curves: tuple[ClauseCurves, ...]) -> bool:
    """Whether each clause consulted as many labels as its verdict says.

    Another version of the statistics may have decided: then its way can't be shown by this one.
    """
    if step.verdict is None:
        return True
    return all(
        curve.labels[-1] == found.examples
        for clause, curve, found in zip(script.clauses, curves, step.verdict.clauses, strict=True)
        if clause.score.needs_labels
    )


def curves_key(project: Project, number: int) -> tuple[object, ...]:
    """Two calls of :func:`commit_curves` with equal keys give the same."""
    submission = require_submission(project, number)
    testset, step = project.state.testsets[submission.testset], project.state.step_of(submission)
    if step is None:
        return (project.name, testset.number, None, 0)
    files = len(testset.label_files) if step.label_files is None else step.label_files
    return (project.name, testset.number, step.number, files)
