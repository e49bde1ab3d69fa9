"""The baseline: the old model that commits are compared with."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from easeci.build import Sandbox, checkout, find_sandbox, save_archive
from easeci.errors import BuildError, UsageError
from easeci.ledger.events import BaselineArchived, BaselineBuilt, BaselineSet
from easeci.ledger.state import Testset
from easeci.script import Adaptivity
from easeci.service.builds import build
from easeci.service.project import Project


def set_baseline(
    project: Project,
    revision: str,
    *,
    unsandboxed: bool = False,
    waiting: Callable[[], None] | None = None,
) -> str:
    """Make a commit the baseline, before the testset's first step. Returns its id."""
    with project.exclusive(waiting):
        testset = project.state.active_testset
        if testset is not None and testset.steps_used:
            raise UsageError(
                f"testset {testset.number} has answered {testset.steps_used:,} steps: its baseline "
                "is the last commit that passed",
                hint="A baseline can be set before the first step of a testset.",
            )
        commit = project.repository.resolve(revision)
        if commit != project.state.baseline:
            project.append(BaselineSet(commit, "set"))
        if testset is not None:
            ensure_predictions(project, testset, find_sandbox(unsandboxed=unsandboxed))
        ensure_archive(project)
        keep_refs(project)
        return commit


def ensure_predictions(project: Project, testset: Testset, sandbox: Sandbox) -> None:
    """On a new testset the baseline's predictions are made by building its commit again."""
    commit = project.state.baseline
    if commit is None or not testset.script.needs_old_model or commit in testset.predictions:
        return
    result = build(project, testset, commit, sandbox, name=f"baseline-{commit[:20]}")
    made, log = result.predictions, result.log
    if made is None:
        raise BuildError(
            f"the baseline cannot be built on testset {testset.number}: {result.failure}",
            hint="The owner may choose another with `easeci baseline set COMMIT`.",
        )
    project.append(
        BaselineBuilt(
            testset=testset.number,
            commit=commit,
            file=made.name,
            digest=made.digest,
            fingerprint=made.fingerprint,
            log=log.file,
            log_digest=log.digest,
        )
    )


def ensure_archive(project: Project) -> None:
    """Keep the files of the baseline's commit, whatever becomes of the repository."""
    commit, kept = project.state.baseline, project.state.archive
    testset = project.state.latest_testset
    if testset is None or commit is None or (kept is not None and kept.commit == commit):
        return
    with tempfile.TemporaryDirectory(prefix="easeci-") as folder:
        tree, packed = Path(folder) / "tree", Path(folder) / "archive"
        tree.mkdir()
        checkout(project.repository, commit, tree)
        save_archive(tree, packed)
        file, digest = project.sealed(testset).store_archive(commit, packed)
    project.append(BaselineArchived(testset.number, commit, file, digest))
    if kept is not None:
        project.sealed(project.state.testsets[kept.testset]).remove_archive(kept.file)


def keep_refs(project: Project) -> None:
    """Refs that keep commits from being lost: of the baseline, and of all that is on its way.

    Under ``none`` every commit that was submitted keeps its ref, because which of them is the
    baseline is nobody's business but the owner's.
    """
    state = project.state
    wanted = {state.baseline} if state.baseline is not None else set()
    for submission in state.submissions:
        hidden = state.testsets[submission.testset].script.adaptivity is Adaptivity.NONE
        waits = submission.signal is None and submission.failure is None
        if hidden or waits:
            wanted.add(submission.commit)
    project.repository.keep_only(project.name, wanted)
