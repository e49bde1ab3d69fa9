"""A program is tried on a public sample, in the sandbox that ``run`` uses; no step is spent."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from easeci.build.detection import allowed_sandboxes
from easeci.build.fetch import FetchedCommits
from easeci.build.program import LOG_NAME, make_predictions
from easeci.build.repository import Repository
from easeci.errors import BuildError, DataError
from easeci.service.commits.build import program_of
from easeci.service.scripts import find_script, load_script
from easeci.vault.intake import load_offered
from easeci.vault.paths import open_vault
from easeci.vault.sealing import seal
from easeci.vault.testset import SealedTestset


@dataclass(frozen=True)
class Trial:
    """What a program did on a sample; ``classes`` counts its predictions."""

    commit: str
    examples: int
    seconds: float
    log: str
    classes: Mapping[str, int]
    failure: str | None


def try_program(
    repository: Repository,
    revision: str,
    examples: Path,
    *,
    files: Path | None = None,
    label_column: str | None = None,
    script: Path | None = None,
    unsandboxed: bool = False,
) -> Trial:
    """Run the program of a commit in the sandbox, and check its predictions."""
    program = program_of(load_script(script or find_script(repository.top or Path())))
    commit = repository.resolve(revision)
    offered = load_offered(examples, labels=None, label_column=label_column, files=files)
    sandboxes = allowed_sandboxes(repository, unsandboxed=unsandboxed)
    with tempfile.TemporaryDirectory(prefix="easeci-try-") as folder:
        vault, into = open_vault(Path(folder) / "store", "try"), Path(folder) / "built"
        seal(vault, 1, offered)
        sample = SealedTestset(vault, 1)
        seconds, failure, classes = 0.0, None, {}
        try:
            built = make_predictions(
                FetchedCommits(vault.commits).fetch(repository, commit),
                program,
                sample.examples_folder,
                into,
                sandboxes,
                repository=repository,
            )
            seconds = built.seconds
            stored = sample.predictions.store(built.predictions)
            classes = dict(sample.predictions.load(stored.name).value_counts().iter_rows())
        except (BuildError, DataError) as error:
            failure = error
        printed = into / LOG_NAME
        log = printed.read_text("utf-8", errors="replace") if printed.exists() else ""
    return Trial(
        commit=commit,
        examples=offered.size,
        seconds=seconds,
        log=log,
        classes=classes,
        failure=None if failure is None else failure.message,
    )
