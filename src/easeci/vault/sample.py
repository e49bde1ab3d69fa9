"""The public sample of a testset: examples that were set aside when it was sealed.

They are not part of the testset, and developers may see and label them. Every build runs on them
first, and nothing that is found out about them is secret. The sample has the form of a testset, in
a folder inside the testset's own, and its files are verified like all others.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from easeci.vault import paths
from easeci.vault.example_rows import Rows
from easeci.vault.examples import SealedExamples
from easeci.vault.labels import LabelFiles
from easeci.vault.predictions import PredictionFiles
from easeci.vault.sealed_files import SealedFiles


def draw_sample(examples: int, size: int) -> tuple[Rows, Rows]:
    """Rows that stay in the testset, and rows of the sample: chosen at random, by a secret seed."""
    generator = np.random.Generator(np.random.PCG64(secrets.randbits(256)))
    chosen = np.sort(generator.choice(examples, size, replace=False))
    return np.delete(np.arange(examples), chosen), chosen


@dataclass(frozen=True)
class SealedSample:
    """The sample of one testset."""

    files: SealedFiles

    @property
    def size(self) -> int:
        """How many examples it has."""
        return len(self.examples)

    @property
    def ids(self) -> pl.Series:
        """In the order of the file of examples."""
        return self.examples.ids

    @property
    def examples_folder(self) -> Path:
        """What programs see."""
        return self.examples.folder

    @cached_property
    def examples(self) -> SealedExamples:
        """Ids and rows."""
        return SealedExamples(self.files)

    @cached_property
    def predictions(self) -> PredictionFiles:
        """Predictions for its examples. Their names are relative to the testset's folder."""
        return PredictionFiles(self.files, self.examples)

    def labels(self) -> pl.Series:
        """The labels that came with it, in the order of the ids; null where none is known."""
        file = self.files.named(paths.FIRST_LABELS)
        return LabelFiles(self.files, self.examples).values([file] if self.files.has(file) else [])
