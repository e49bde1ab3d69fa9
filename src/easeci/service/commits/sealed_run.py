"""A commit's program runs on the sealed examples, under a charge that is recorded before.

From the moment that it is given a sealed example, whatever goes wrong is a failure of its step, and
only the owner reads why. A run that ends for a reason around it, such as a kill or a full disk, is
repeated under the same charge; the third that does so is a failure too, because a program can
cause such ends. Developers see the step as pending throughout.
"""

from __future__ import annotations

from collections.abc import Sequence

from easeci.build.checkout import CleanTree
from easeci.build.detection import allowed_sandboxes
from easeci.build.sandbox import Sandbox
from easeci.build.workspace import open_scratch
from easeci.errors import EaseciError, InfrastructureError
from easeci.ledger.events import Built, Event, SealedRunBegun, SealedRunFailed, SealedRunInterrupted
from easeci.ledger.state import Submission, Testset
from easeci.service.commits.build import build, current_model
from easeci.service.project import Project

MOST_RUNS = 3
"""A run on the sealed examples that does not end by itself is begun so many times."""
INTERRUPTED = f"its run on the sealed examples was interrupted {MOST_RUNS} times"


def run_on_sealed(
    project: Project,
    testset: Testset,
    submission: Submission,
    sandboxes: Sequence[Sandbox],
    tree: CleanTree,
) -> None:
    """Run the program of a charged submission on the sealed examples, and record how it ended."""
    project.append(SealedRunBegun(submission.number))
    name = f"commit-{submission.number:06}"
    if submission.runs > 1:
        name += f"-{submission.runs}"
    try:
        _require_same_files(project, testset, submission)
        result = build(project, testset, submission.commit, sandboxes, name=name, tree=tree)
        _require_same_files(project, testset, submission)
    except Exception as error:  # noqa: BLE001 - a program may cause it, so nobody else hears of it
        reason = str(error) if isinstance(error, EaseciError) else type(error).__name__
        _interrupt(project, submission, reason)
        return
    made, log, number = result.predictions, result.log, submission.number
    if made is None:
        reason = "" if result.failure is None else str(result.failure)
        project.append(SealedRunFailed(number, reason, log.file, log.digest))
    else:
        project.append(
            Built(number, made.name, made.digest, made.fingerprint, log.file, log.digest)
        )


def _require_same_files(project: Project, testset: Testset, submission: Submission) -> None:
    """The mounted files must be those of the model that was charged."""
    if not testset.script.mounts or not submission.model:
        return
    if submission.model != current_model(project, testset, submission.commit):
        raise InfrastructureError(
            "the mounted files are not those that the commit was charged with"
        )


def _interrupt(project: Project, submission: Submission, reason: str) -> None:
    """Record that a run ended for a reason around it; the third time it is a failure."""
    events: list[Event] = [SealedRunInterrupted(submission.number, reason)]
    if submission.runs >= MOST_RUNS:
        events.append(SealedRunFailed(submission.number, INTERRUPTED))
    project.append(*events)


def finish_runs(
    project: Project,
    testset: Testset,
    waiting: Sequence[Submission],
    *,
    unsandboxed: bool = False,
) -> None:
    """Begin, or repeat, runs on sealed examples that have not ended; the caller acts alone."""
    for submission in waiting:
        if submission.runs >= MOST_RUNS:
            project.append(SealedRunFailed(submission.number, INTERRUPTED))
            continue
        try:
            sandboxes = allowed_sandboxes(project.repository, unsandboxed=unsandboxed)
        except EaseciError:
            return  # not now: why must not tell that a run was interrupted
        with open_scratch((*project.repository.folders, project.store.folder)) as scratch:
            tree = CleanTree(submission.commit, scratch / "tree")
            run_on_sealed(project, testset, submission, sandboxes, tree)
