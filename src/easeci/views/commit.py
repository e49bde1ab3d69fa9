"""One commit: its signal for everybody, and for the owner the evidence behind it.

Nothing here records a look; :func:`easeci.service.looks.record_look` does.
"""

from __future__ import annotations

from dataclasses import dataclass

from easeci.ledger.disclosure import DisclosedRow, disclosed_row
from easeci.ledger.state import SentFile, Step, Submission
from easeci.ledger.verdicts import RecordedVerdict
from easeci.ledger.wording import sent_words, step_reason
from easeci.script import Estimator, Script
from easeci.service.commits.advance import evidence_of
from easeci.service.labelling.files import takes_labels
from easeci.service.project import Project
from easeci.verdict.curves import ClauseCurves, evidence_curves
from easeci.views.history import require_submission


@dataclass(frozen=True)
class CommitEvidence:
    """What the owner sees of a commit beyond its signal.

    ``step`` is the step that tested it, or the step whose answer it repeats. ``passed`` and
    ``verdict`` are None until it is decided; ``verdict`` stays None if the program failed on the
    testset. ``waiting``: it is built and not decided, because labels are missing for it or for a
    commit before it. ``became_baseline``: it passed, and so became the baseline. ``has_log``: its
    program ran, and what it printed is kept.
    """

    step: int | None
    repeats: bool
    baseline: str | None
    waiting: bool
    failure: str | None
    passed: bool | None
    verdict: RecordedVerdict | None
    became_baseline: bool
    has_log: bool
    why: str | None = None
    """Why it passed or failed, in one sentence; None until it is decided."""
    failed_scores: int = 0
    """How many outputs score 0 because the scorer could not score them."""
    takes_labels: bool = True
    """Whether labels decide it, or else scores that a judge or the owner's program gives."""
    sent: SentFile | None = None
    """The file that its predictions were sent as; None if they were made here."""

    @property
    def sent_words(self) -> str | None:
        """Who sent its predictions, and when; None if they were made here."""
        return None if self.sent is None else sent_words(self.sent)


@dataclass(frozen=True)
class CommitView:
    """One submission; ``owner`` is None in a developer's view."""

    shown: DisclosedRow
    owner: CommitEvidence | None


def commit_view(project: Project, number: int, *, owner: bool = False) -> CommitView:
    """One submission. Raises :class:`MissingError` if no submission has this number."""
    submission = require_submission(project, number)
    return CommitView(
        shown=disclosed_row(project.state, submission),
        owner=_evidence(project, submission) if owner else None,
    )


def _evidence(project: Project, submission: Submission) -> CommitEvidence:
    state = project.state
    testset, step = state.testsets[submission.testset], state.step_of(submission)
    undecided = submission.queued if step is None else step.passed is None
    return CommitEvidence(
        step=None if step is None else step.number,
        repeats=submission.repeats is not None,
        baseline=None if step is None else step.baseline,
        waiting=undecided and testset.retired is None,
        failure=submission.problem,
        passed=None if step is None else step.passed,
        verdict=None if step is None else step.verdict,
        became_baseline=submission.became_baseline,
        has_log=submission.log is not None,
        why=None if step is None else step_reason(step),
        sent=None if step is None else testset.sent_file(step.model),
        failed_scores=0 if step is None else step.failed_scores,
        takes_labels=takes_labels(testset),
    )


def commit_curves(project: Project, number: int) -> tuple[ClauseCurves, ...]:
    """How the evidence of each clause grew, recomputed with the labels that were known then.

    It reads the whole testset, so cache it by :func:`curves_key`. It is empty if the commit has no
    step, if its program failed on the testset, if its estimator is not sequential, or if the
    recorded verdict differs.
    """
    state, submission = project.state, require_submission(project, number)
    testset, step = state.testsets[submission.testset], state.step_of(submission)
    if step is None or not step.began or step.model not in testset.predictions:
        return ()  # its turn has not come, or its program failed
    if testset.estimator is not Estimator.SEQUENTIAL:
        return ()
    found = evidence_of(project, testset, step)
    curves = evidence_curves(
        found.script, found.facts, found.history, found.at_hand, prefixes=found.prefixes
    )
    return curves if _as_recorded(found.script, step, curves) else ()


def _as_recorded(script: Script, step: Step, curves: tuple[ClauseCurves, ...]) -> bool:
    """Whether each clause consulted as many labels as its verdict says.

    If an older version of easeci decided, this version may not be able to show how.
    """
    if step.verdict is None:
        return True
    return all(
        curve.labels[-1] == found.examples
        for clause, curve, found in zip(script.clauses, curves, step.verdict.clauses, strict=True)
        if clause.score.needs_labels
    )


def curves_key(project: Project, number: int) -> tuple[object, ...]:
    """A cache key: :func:`commit_curves` gives the same for equal keys."""
    submission = require_submission(project, number)
    testset, step = project.state.testsets[submission.testset], project.state.step_of(submission)
    if step is None:
        return (project.name, testset.number, None, 0)
    files = len(testset.label_files) if step.label_files is None else step.label_files
    scores = len(testset.score_files) if step.score_files is None else step.score_files
    return (project.name, testset.number, step.number, files, scores)
