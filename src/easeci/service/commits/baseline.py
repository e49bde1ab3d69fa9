"""The baseline: the old model that commits are compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from easeci.build.checkout import CleanTree
from easeci.build.detection import allowed_sandboxes
from easeci.build.sandbox import Sandbox
from easeci.build.workspace import open_scratch
from easeci.errors import BuildError, EaseciError, UsageError
from easeci.ledger.events import SENT, BaselineBuilt, BaselineFailed, BaselineSet, Event
from easeci.ledger.state import Step, Testset
from easeci.service.commits.advance import acting
from easeci.service.commits.build import (
    BuildResult,
    build,
    current_model,
    program_of,
    sample_built,
)
from easeci.service.commits.sent import SentPredictions, sent_baseline
from easeci.service.project import Project


@dataclass(frozen=True)
class ChosenBaseline:
    """The commit that the owner chose. ``file_read``: as in the answer of a run."""

    commit: str
    file_read: bool | None = None


class BaselineError(BuildError):
    """A baseline that cannot be built on a testset, and the build that failed."""

    def __init__(self, commit: str, testset: int, failed: BuildResult) -> None:
        self.reason = "" if failed.failure is None else failed.failure.message
        self.log = failed.log
        self.printed = failed.printed
        super().__init__(
            f"the baseline (commit {commit[:10]}) cannot be built on testset {testset}: "
            f"{self.reason}",
            hint="The owner reads what it printed with `easeci log --owner --build baseline`, and "
            "may choose another with `easeci baseline set COMMIT`.",
        )


def set_baseline(
    project: Project,
    revision: str,
    *,
    unsandboxed: bool = False,
    predictions: SentPredictions | None = None,
    waiting: Callable[[], None] | None = None,
) -> ChosenBaseline:
    """Make a commit the baseline, before the testset's first step.

    Its program makes its predictions, unless they are given: they were made elsewhere then.
    """
    with acting(project, waiting):
        testset = project.state.active_testset
        if testset is not None and any(_is_under_way(step) for step in testset.steps):
            raise UsageError(
                f"testset {testset.number} has tested a commit: its baseline is the last one that "
                "passed",
                hint="A baseline can be set before the first step of a testset.",
            )
        commit = project.repository.resolve(revision)
        project.fetch(commit)
        if predictions is not None:
            _require_comparison(project, testset)
        events: list[Event] = []
        if testset is not None and _is_to_be_built(testset, commit):
            events += _sent_predictions(project, testset, commit, predictions) or (
                _recorded_predictions(project, testset, commit, unsandboxed=unsandboxed)
            )
        read = any(isinstance(event, BaselineBuilt) and event.origin == SENT for event in events)
        if (project.state.baseline, project.state.public_baseline) != (commit, commit):
            events.append(BaselineSet(commit, "set"))
        if events:
            project.append(*events)
        return ChosenBaseline(commit, None if predictions is None else read)


def _require_comparison(project: Project, testset: Testset | None) -> None:
    """Refuse predictions of a baseline that nothing will be compared with."""
    if testset is None:
        project.require_active()
    elif not testset.script.needs_old_model:
        raise UsageError(
            "the condition compares with no old model, so a baseline needs no predictions",
            hint="Leave --predictions out.",
        )


def _sent_predictions(
    project: Project, testset: Testset, commit: str, file: SentPredictions | None
) -> list[Event]:
    """The predictions that are sent as a file, now or before; empty if the program makes them.

    A model that has predictions keeps them, whatever is sent later.
    """
    model = current_model(project, testset, commit)
    known = testset.predictions.get(model)
    if known is not None and (file is not None or known.sent is not None):
        made = (known.file, known.digest, known.fingerprint, None, None, model)
        return [BaselineBuilt(testset.number, commit, *made)]
    return [] if file is None else [sent_baseline(project, testset, commit, model, file)]


def _is_under_way(step: Step) -> bool:
    """Whether the turn of a step has come. A step that adopts its commit has no other turn."""
    return step.began or step.passed is not None


def ensure_predictions(project: Project, testset: Testset, *, unsandboxed: bool) -> None:
    """Build the baseline on a testset that an older version sealed without doing so.

    A developer hears that it is not ready, and never why. It is not tried twice. Without a program
    the owner has to send its predictions.
    """
    commit, failed = project.state.baseline, testset.baseline_failure
    lacks = testset.script.needs_old_model and testset.baseline_predictions is None
    if commit is None or not lacks:
        return
    no_program = testset.script.program is None
    act = "`easeci baseline set COMMIT`"
    if no_program:
        act = "`easeci baseline set COMMIT --predictions FILE`"
    not_ready = BuildError(
        f"the baseline is not ready on testset {testset.number}",
        hint=f"The owner reads why with `easeci status --owner`, and chooses another with {act}.",
    )
    if no_program or (failed is not None and failed.commit == commit):
        raise not_ready
    try:
        found = _recorded_predictions(project, testset, commit, unsandboxed=unsandboxed)
        project.append(*found)
    except BuildError:
        raise not_ready from None


def _is_to_be_built(testset: Testset, commit: str) -> bool:
    return testset.script.needs_old_model and commit not in testset.built_models


def _recorded_predictions(
    project: Project, testset: Testset, commit: str, *, unsandboxed: bool
) -> list[Event]:
    """Build a baseline. Its failure is recorded, so that the owner can read what it printed."""
    program_of(testset.script)
    sandboxes = allowed_sandboxes(project.repository, unsandboxed=unsandboxed)
    try:
        return baseline_predictions(project, testset, commit, sandboxes)
    except BaselineError as error:
        log = error.log
        project.append(BaselineFailed(testset.number, commit, error.reason, log.file, log.digest))
        raise


def baseline_predictions(
    project: Project, testset: Testset, commit: str, sandboxes: Sequence[Sandbox]
) -> list[Event]:
    """Build a baseline on the public sample and on the sealed examples."""
    events: list[Event] = []
    model = _known_model(project, testset, commit)
    with open_scratch((*project.repository.folders, project.store.folder)) as scratch:
        tree, name = CleanTree(commit, scratch / "tree"), f"baseline-{commit[:20]}"
        if testset.sample:
            result = build(
                project,
                testset,
                commit,
                sandboxes,
                name=f"{name}-sample",
                on_sample=True,
                tree=tree,
            )
            made = result.predictions
            if made is None:
                raise BaselineError(commit, testset.number, result)
            events.append(sample_built(testset, commit, model, made, result))
        result = build(project, testset, commit, sandboxes, name=name, tree=tree)
    made, log = result.predictions, result.log
    if made is None:
        raise BaselineError(commit, testset.number, result)
    built = BaselineBuilt(
        testset=testset.number,
        commit=commit,
        file=made.name,
        digest=made.digest,
        fingerprint=made.fingerprint,
        log=log.file,
        log_digest=log.digest,
        model=model,
    )
    return [built, *events]


def _known_model(project: Project, testset: Testset, commit: str) -> str:
    """The model of a baseline; its own if only its archive is left of it."""
    kept = project.state.archive
    try:
        return current_model(project, testset, commit)
    except EaseciError:
        if kept is not None and kept.commit == commit:
            return commit
        raise
