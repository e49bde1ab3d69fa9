"""The baseline: the old model that commits are compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from easeci.build.detection import allowed_sandboxes
from easeci.build.sandbox import Sandbox
from easeci.errors import BuildError, UsageError
from easeci.ledger.events import BaselineBuilt, BaselineFailed, BaselineSet, Event
from easeci.ledger.state import Testset
from easeci.service.commits.advance import acting
from easeci.service.commits.build import build
from easeci.service.project import Project


def set_baseline(
    project: Project,
    revision: str,
    *,
    unsandboxed: bool = False,
    waiting: Callable[[], None] | None = None,
) -> str:
    """Make a commit the baseline, before the testset's first step. Returns its id."""
    with acting(project, waiting):
        testset = project.state.active_testset
        if testset is not None and testset.steps_used:
            raise UsageError(
                f"testset {testset.number} has answered {testset.steps_used:,} steps: its baseline "
                "is the last commit that passed",
                hint="A baseline can be set before the first step of a testset.",
            )
        commit = project.repository.resolve(revision)
        project.fetch(commit)
        events: list[Event] = []
        if testset is not None and _lacks_predictions(testset, commit):
            sandboxes = allowed_sandboxes(project.repository, unsandboxed=unsandboxed)
            events.append(_predictions(project, testset, commit, sandboxes))
        if commit != project.state.baseline:
            events.append(BaselineSet(commit, "set"))
        if events:
            project.append(*events)
        return commit


def ensure_predictions(project: Project, testset: Testset, sandboxes: Sequence[Sandbox]) -> None:
    """On a new testset the baseline's predictions are made by building its commit again."""
    commit = project.state.baseline
    if commit is not None and _lacks_predictions(testset, commit):
        project.append(_predictions(project, testset, commit, sandboxes))


def _lacks_predictions(testset: Testset, commit: str) -> bool:
    return testset.script.needs_old_model and commit not in testset.predictions


def _predictions(
    project: Project, testset: Testset, commit: str, sandboxes: Sequence[Sandbox]
) -> BaselineBuilt:
    """Build a baseline. Its failure is recorded, so that the owner can read what it printed."""
    result = build(project, testset, commit, sandboxes, name=f"baseline-{commit[:20]}")
    made, log = result.predictions, result.log
    if made is None:
        reason = "" if result.failure is None else result.failure.message
        project.append(BaselineFailed(testset.number, commit, reason, log.file, log.digest))
        raise BuildError(
            f"the baseline (commit {commit[:10]}) cannot be built on testset {testset.number}: "
            f"{reason}",
            hint="The owner reads what it printed with `easeci log --owner --build baseline`, and "
            "may choose another with `easeci baseline set COMMIT`.",
        )
    return BaselineBuilt(
        testset=testset.number,
        commit=commit,
        file=made.name,
        digest=made.digest,
        fingerprint=made.fingerprint,
        log=log.file,
        log_digest=log.digest,
    )
