"""Predictions that were made elsewhere, such as on another machine, and are sent as a file.

The file is read like that of a program: in a process of its own, with limits. It is checked before
anything is recorded or charged, so a wrong one costs nothing. The refusal depends on ids, classes
and the format, and never on labels. It names no id that the file lacks, because the ids of sealed
examples are secret.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from easeci.errors import DataError
from easeci.files import explained
from easeci.ledger.events import SENT, BaselineBuilt, Built
from easeci.ledger.state import Testset
from easeci.service.project import Project
from easeci.vault.predictions import PredictionForm, StoredPredictions


@dataclass(frozen=True)
class SentPredictions:
    """A file of predictions, and the name of the account that sends it."""

    path: Path
    by: str = ""


@dataclass(frozen=True)
class _Received:
    stored: StoredPredictions
    digest: str


def sent_step(project: Project, testset: Testset, submission: int, file: SentPredictions) -> Built:
    """Check and store the predictions of a submission; the event that is to be recorded."""
    received = _receive(project, testset, file.path)
    stored = received.stored
    return Built(
        submission,
        stored.name,
        stored.digest,
        stored.fingerprint,
        origin=SENT,
        sent_by=file.by,
        sent_digest=received.digest,
    )


def sent_baseline(
    project: Project, testset: Testset, commit: str, model: str, file: SentPredictions
) -> BaselineBuilt:
    """Check and store the predictions of a baseline; the event that is to be recorded."""
    received = _receive(project, testset, file.path)
    stored = received.stored
    return BaselineBuilt(
        testset.number,
        commit,
        stored.name,
        stored.digest,
        stored.fingerprint,
        None,
        None,
        model,
        origin=SENT,
        sent_by=file.by,
        sent_digest=received.digest,
    )


def _receive(project: Project, testset: Testset, path: Path) -> _Received:
    """Store the predictions of a file, and take the digest of the file that was read."""
    script, path = testset.script, path.absolute()  # the process that reads it works elsewhere
    before = _version(path)
    try:
        stored = project.sealed(testset).predictions.store(
            path, PredictionForm.of(script), name_missing=False
        )
    except DataError as error:
        raise DataError(error.message, hint=_hint(testset, error.hint)) from None
    with explained(f"{path.name} cannot be read"), path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if _version(path) != before:
        raise DataError(f"{path.name} was changed while it was read", hint="Send it again.")
    return _Received(stored, digest)


def _version(path: Path) -> tuple[int, ...] | None:
    """What changes if a file is written or replaced; None if there is no file."""
    try:
        about = path.stat()
    except OSError:
        return None  # the reader says why
    return about.st_ino, about.st_size, about.st_mtime_ns


def _hint(testset: Testset, given: str | None) -> str:
    """What to do about a file that was refused."""
    parts = [] if given is None else [given]
    if testset.sample:
        parts.append(
            f"The {testset.sample:,} examples of the public sample are no part of the testset "
            "(`easeci testset sample --to DIR` writes them)."
        )
    return " ".join([*parts, "Nothing was recorded, and no step was spent."])
