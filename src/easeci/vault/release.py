"""Release: a retired testset becomes a folder for the developers, with the known labels."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from easeci.files import explained
from easeci.vault.testset import SealedTestset


def write_release(testset: SealedTestset, target: Path, label_files: Sequence[str]) -> None:
    """Copy the examples to a folder, and write the known labels beside them.

    The copies get the modes and times of new files: developers must be able to read them.
    """
    labels = testset.labels.values(label_files)
    known = pl.DataFrame({"id": testset.examples.ids, "label": labels}).drop_nulls()
    with explained(f"testset {testset.number} was not released to {target}"):
        target.mkdir(parents=True, exist_ok=True)
        for source in sorted(testset.examples_folder.rglob("*")):
            copy = target / source.relative_to(testset.examples_folder)
            if source.is_dir():
                copy.mkdir()
            else:
                shutil.copyfile(source, copy)
        known.write_csv(target / "labels.csv")
