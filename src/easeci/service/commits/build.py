"""Predictions of a commit on a testset: built in the sandbox, checked, stored in the vault."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
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
from easeci.build.sandbox import Limits, Sandbox
from easeci.errors import BuildError, DataError, UsageError
from easeci.ledger.state import Testset
from easeci.script import Script
from easeci.service.project import Project
from easeci.vault.build_files import StoredFile
from easeci.vault.codes import require_known_classes
from easeci.vault.predictions import StoredPredictions
from easeci.vault.testset import SealedTestset

TRY = "`easeci try --examples FILE` runs it on a public sample and shows everything."


@dataclass(frozen=True)
class BuildResult:
    """Predictions, or why there are none; and the owner's log of it."""

    predictions: StoredPredictions | None
    failure: BuildError | None
    log: StoredFile
    """What the program printed; empty if it never ran."""


def program_of(script: Script) -> Program:
    """The script's program with its limits; an error if the script names none."""
    if script.program is None:
        raise UsageError(
            "the script names no program",
            hint="Add a line such as   script: ./test_model.py   to it.",
        )
    usual = Limits()
    return Program(
        command=script.program,
        limits=Limits(
            seconds=script.timeout_seconds or usual.seconds,
            memory_bytes=script.memory_bytes or usual.memory_bytes,
        ),
        mounts=script.mounts,
    )


def build(
    project: Project,
    testset: Testset,
    commit: str,
    sandboxes: Sequence[Sandbox],
    *,
    name: str,
    tree: CleanTree | None = None,
) -> BuildResult:
    """Run the commit's program on the testset's examples.

    What the program printed, and what was wrong with its predictions in detail, may speak of the
    examples: it goes to the owner's log, and the failure says only what kind of thing it is.
    """
    sealed = project.sealed(testset)
    stored, failure = None, None
    with tempfile.TemporaryDirectory(prefix="easeci-") as folder:
        into = Path(folder)
        try:
            built = make_predictions(
                _source(project, commit, tree),
                program_of(testset.script),
                sealed.examples_folder,
                into,
                sandboxes,
                repository=project.repository,
                hidden=(project.store.folder,),
            )
            stored = sealed.predictions.store(built.predictions)
            _require_known_classes(project, testset, stored)
        except BuildError as error:
            failure = error
        except DataError as error:
            with (into / LOG_NAME).open("a", encoding="utf-8") as log:
                log.write(f"\neaseci: {error}\n")
            failure = BuildError(
                "its predictions cannot be used: they do not cover the testset one by one, or are "
                "written in another way than its labels",
                hint=TRY,
            )
        printed = into / LOG_NAME
        kept = sealed.builds.store_log(name, printed.read_bytes() if printed.exists() else b"")
    return BuildResult(None if failure else stored, failure, kept)


def _source(project: Project, commit: str, tree: CleanTree | None) -> BuildSource:
    """The archive, if the commit is the baseline that is archived; otherwise the commit itself."""
    kept = project.state.archive
    if kept is not None and kept.commit == commit:
        return ArchiveSource(
            project.sealed(project.state.testsets[kept.testset]).builds.archive_path(kept.file)
        )
    fetched = project.fetch(commit)
    if tree is None:
        return fetched
    tree.fill(fetched)
    return TreeSource(tree.folder)


def _require_known_classes(project: Project, testset: Testset, stored: StoredPredictions) -> None:
    """Refuse, before a step is spent, classes that are written in another way than the labels."""
    digests = testset.files | {stored.name: stored.digest}
    sealed = SealedTestset(project.vault, testset.number, digests)
    require_known_classes(sealed, stored.name, testset.label_files)
