"""Predictions for a testset: checked, stored under their fingerprint, loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import polars as pl

from easeci.files import create_file, explained
from easeci.tables.untrusted import load_untrusted_predictions
from easeci.vault import paths
from easeci.vault.classes import require_predicted_classes
from easeci.vault.examples import SealedExamples
from easeci.vault.sealed_files import SealedFiles, parquet

PART = 1 << 16


@dataclass(frozen=True)
class StoredPredictions:
    """Predictions in the vault. Equal fingerprints mean equal values, and the other way round."""

    name: str
    digest: str
    fingerprint: str


@dataclass(frozen=True)
class PredictionFiles:
    """The predictions that were stored for one testset."""

    files: SealedFiles
    examples: SealedExamples

    def store(self, source: Path, classes: Sequence[str] = ()) -> StoredPredictions:
        """Store predictions, which must cover the testset exactly.

        DataError if they do not, or if one of them is none of the declared classes. No error
        depends on labels.
        """
        with explained(f"the predictions for testset {self.files.number} were not stored"):
            values = load_untrusted_predictions(source, self.examples.ids).alias("prediction")
            require_predicted_classes(values, classes)
            fingerprint = self._fingerprint(values)
            name = self.files.named(f"{paths.PREDICTIONS}/{fingerprint}.parquet")
            content = parquet({"prediction": values})
            try:
                create_file(self.files.folder / name, content)
            except FileExistsError:
                content = self._stored_before(name, fingerprint, content)
        return StoredPredictions(name, self.files.vault.key.digest(content), fingerprint)

    def _fingerprint(self, values: pl.Series) -> str:
        """A keyed hash of the values. Their lengths come first, so that ab,c differs from a,bc."""
        lengths = values.str.len_bytes().to_numpy().astype("<u8").tobytes()
        size = len(values).to_bytes(8, "little")
        # A part after the other: as objects of Python, a million texts take much memory.
        starts = range(0, len(values), PART)
        texts = ("".join(values.slice(start, PART)).encode() for start in starts)
        return self.files.vault.key.digest_chunks(chain([size, lengths], texts), "predictions")

    def _stored_before(self, name: str, fingerprint: str, content: bytes) -> bytes:
        """The content of a file that exists. Another version may have written other bytes.

        A file that was never recorded comes from a killed command; it is written again.
        """
        if self.files.digests is not None and name not in self.files.digests:
            (self.files.folder / name).unlink()
            create_file(self.files.folder / name, content)
            return content
        if self._fingerprint(self.load(name)) != fingerprint:
            raise self.files.changed(name)
        return (self.files.folder / name).read_bytes()

    def load(self, name: str) -> pl.Series:
        """Stored predictions in the order of the file of examples, as text."""
        values = self.files.load_table(name)["prediction"]
        if len(values) != len(self.examples) or values.null_count():
            raise self.files.changed(name)
        return values
