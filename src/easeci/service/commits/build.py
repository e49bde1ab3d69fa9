"""Predictions of a commit on examples: built in the sandbox, checked, stored in the vault."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from easeci.build.checkout import CleanTree
from easeci.build.program import (
    LOG_NAME,
    ArchiveSource,
    BuildSource,
    Program,
    TreeSource,
    make_predictions,
)
from easeci.build.same_model import model_of
from easeci.build.sandbox import Limits, Sandbox
from easeci.errors import BuildError, DataError, EaseciError, UsageError
from easeci.ledger.events import SampleBuilt
from easeci.ledger.state import Testset
from easeci.script import Script
from easeci.service.project import Project
from easeci.vault.build_files import StoredFile
from easeci.vault.predictions import PredictionForm, StoredPredictions


@dataclass(frozen=True)
class BuildResult:
    """Predictions, or why there are none; and what the program printed."""

    predictions: StoredPredictions | None
    failure: EaseciError | None
    log: StoredFile
    printed: str
    """Empty if the program never ran."""
    seconds: float


def program_of(script: Script) -> Program:
    """The script's program with its limits; an error if the script names none."""
    if script.program is None:
        raise UsageError(
            "the script names no program",
            hint="Add a line such as   script: ./test_model.py   before a testset is sealed; or "
            "give predictions that were made elsewhere: `easeci run COMMIT --predictions FILE`.",
        )
    return Program(
        command=script.program,
        limits=Limits(
            seconds=script.longest_seconds,
            memory_bytes=script.memory_bytes or Limits.memory_bytes,
        ),
        mounts=script.mounts,
        ignore=script.ignore,
    )


def build(
    project: Project,
    testset: Testset,
    commit: str,
    sandboxes: Sequence[Sandbox],
    *,
    name: str,
    on_sample: bool = False,
    tree: CleanTree | None = None,
) -> BuildResult:
    """Run the commit's program on the sealed examples, or on the public sample.

    What it prints on sealed examples, and what is wrong with its predictions there, may speak of
    the examples: only the owner may read the log and the failure then.
    """
    sealed = project.sealed(testset)
    examples = sealed.sample if on_sample else sealed
    assert examples is not None, "the testset has a sample"
    stored, failure, seconds = None, None, 0.0
    with tempfile.TemporaryDirectory(prefix="easeci-") as folder:
        into = Path(folder)
        try:
            built = make_predictions(
                _source(project, testset, commit, tree),
                program_of(testset.script),
                examples.examples_folder,
                into,
                sandboxes,
                repository=project.repository,
                hidden=(project.store.folder,),
            )
            seconds = built.seconds
            form = PredictionForm.of(testset.script)
            stored = examples.predictions.store(built.predictions, form)
        except (BuildError, DataError) as error:
            with (into / LOG_NAME).open("a", encoding="utf-8") as log:
                log.write(f"\neaseci: {error}\n")
            failure = error
        file = into / LOG_NAME
        printed = file.read_bytes() if file.exists() else b""
        kept = sealed.builds.store_log(name, printed)
    return BuildResult(stored, failure, kept, printed.decode("utf-8", "replace"), seconds)


def sample_built(
    testset: Testset, commit: str, model: str, made: StoredPredictions, result: BuildResult
) -> SampleBuilt:
    """The event for predictions on the public sample."""
    return SampleBuilt(
        testset=testset.number,
        commit=commit,
        file=made.name,
        digest=made.digest,
        fingerprint=made.fingerprint,
        log=result.log.file,
        log_digest=result.log.digest,
        seconds=round(result.seconds, 3),
        model=model,
    )


def current_model(project: Project, testset: Testset, commit: str) -> str:
    """The model that a commit is now: its files that count, and the mounted files."""
    script = testset.script
    return model_of(
        project.fetch(commit),
        script.ignore,
        script.mounts,
        project.vault.mounted,
        hidden=(project.store.folder, *project.repository.folders),
    )


def fill(project: Project, testset: Testset, tree: CleanTree) -> None:
    """Check out the commit of a tree, unless that is done; ignored files are left out."""
    tree.fill(project.fetch(tree.commit), testset.script.ignore)


def _source(project: Project, testset: Testset, commit: str, tree: CleanTree | None) -> BuildSource:
    """The archive, if the commit is the baseline that is archived; otherwise the commit itself.

    An archive lacks the files that its testset's script ignored. Where another script ignores
    others, the commit is preferred as long as it is there.
    """
    kept = project.state.archive
    if kept is None or kept.commit != commit:
        if tree is None:
            raise ValueError("a commit that is not archived is built from its tree")
        fill(project, testset, tree)
        return TreeSource(tree.folder)
    archived_for = project.state.testsets[kept.testset]
    if tree is not None and archived_for.script.ignore != testset.script.ignore:
        with suppress(EaseciError):
            fill(project, testset, tree)
            return TreeSource(tree.folder)
    return ArchiveSource(project.sealed(archived_for).builds.archive_path(kept.file))
