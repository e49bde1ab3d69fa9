"""The public sample is written to a folder, for the owner and for developers alike."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from easeci.errors import UsageError
from easeci.files import explained
from easeci.service.public_sample import find_sample


@dataclass(frozen=True)
class SampleWritten:
    """What was written, and where."""

    testset: int
    folder: str
    examples: int
    labels: int


def write_sample(
    target: Path, folder: Path = Path(), *, store: Path | None = None, name: str | None = None
) -> SampleWritten:
    """Write the active testset's sample to a folder that is new or empty.

    ``folder`` lies in the repository. It is copied from the store, or from where the owner has
    published it.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is not an empty folder", hint="Name one that is new or empty.")
    with find_sample(folder, store=store, name=name) as sample:
        with explained(f"the sample was not written to {target}"):
            shutil.copytree(sample.folder, target, dirs_exist_ok=True)
        return SampleWritten(sample.testset, str(target), sample.examples, sample.labels)
