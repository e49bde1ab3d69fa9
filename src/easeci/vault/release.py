"""Examples that developers get: the public sample, or a retired testset with its known labels."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl

from easeci.files import explained
from easeci.vault.examples import SealedExamples

LABELS_NAME = "labels.csv"


def write_release(examples: SealedExamples, labels: pl.Series | None, target: Path) -> None:
    """Copy the examples to a folder, and write the known labels beside them, unless it is None.

    The copies get the modes and times of new files: developers must be able to read them.
    """
    with explained(f"the examples of testset {examples.files.number} were not written to {target}"):
        target.mkdir(parents=True, exist_ok=True)
        for source in sorted(examples.folder.rglob("*")):
            copy = target / source.relative_to(examples.folder)
            if source.is_dir():
                copy.mkdir()
            else:
                shutil.copyfile(source, copy)
        if labels is not None:
            known = pl.DataFrame({"id": examples.ids, "label": labels}).drop_nulls()
            known.write_csv(target / LABELS_NAME)
