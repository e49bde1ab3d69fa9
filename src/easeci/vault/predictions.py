"""Predictions for a testset: checked, stored under their fingerprint, loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import polars as pl

from easeci.files import create_file, explained
from easeci.tables.column import ModelScores, ScoreKind
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

    def store(
        self,
        source: Path,
        classes: Sequence[str] = (),
        *,
        scored: bool = False,
        name_missing: bool = True,
    ) -> StoredPredictions:
        """Store predictions, which must cover the testset exactly; with ``scored``, their scores.

        DataError if they do not, if one of them is none of the declared classes, or if a score is
        wanted and missing. No error depends on labels. Without ``name_missing``, none names an id
        that the file lacks.
        """
        with explained(f"the predictions for testset {self.files.number} were not stored"):
            made = load_untrusted_predictions(
                source, self.examples.ids, scored=scored, name_missing=name_missing
            )
            values, scores = made.values.alias("prediction"), made.scores
            require_predicted_classes(values, classes)
            fingerprint = self._fingerprint(values, scores)
            name = self.files.named(f"{paths.PREDICTIONS}/{fingerprint}.parquet")
            more = {} if scores is None else {str(scores.kind): scores.values}
            content = parquet({"prediction": values, **more})
            try:
                create_file(self.files.folder / name, content)
            except FileExistsError:
                content = self._stored_before(name, fingerprint, content)
        return StoredPredictions(name, self.files.vault.key.digest(content), fingerprint)

    def _fingerprint(self, values: pl.Series, scores: ModelScores | None) -> str:
        """A keyed hash of values and scores. Lengths come first, so that ab,c differs from a,bc."""
        lengths = values.str.len_bytes().to_numpy().astype("<u8").tobytes()
        size = len(values).to_bytes(8, "little")
        # A part after the other: as objects of Python, a million texts take much memory.
        starts = range(0, len(values), PART)
        texts = ("".join(values.slice(start, PART)).encode() for start in starts)
        parts = chain([size, lengths], texts)
        if scores is not None:
            numbers = scores.values.to_numpy().astype("<f8").tobytes()
            parts = chain(parts, [scores.kind.encode(), numbers])
        return self.files.vault.key.digest_chunks(parts, "predictions")

    def _stored_before(self, name: str, fingerprint: str, content: bytes) -> bytes:
        """The content of a file that exists. Another version may have written other bytes.

        A file that was never recorded comes from a killed command; it is written again.
        """
        if self.files.digests is not None and name not in self.files.digests:
            (self.files.folder / name).unlink()
            create_file(self.files.folder / name, content)
            return content
        values, scores = self._table(name)
        if self._fingerprint(values, scores) != fingerprint:
            raise self.files.changed(name)
        return (self.files.folder / name).read_bytes()

    def load(self, name: str) -> pl.Series:
        """Stored predictions in the order of the file of examples, as text."""
        return self._table(name)[0]

    def load_scores(self, name: str) -> ModelScores:
        """The scores that were stored with predictions, in the order of the file of examples.

        Only for predictions that were stored as scored: a script that needs scores was sealed with
        its testset, so all predictions there have them.
        """
        scores = self._table(name)[1]
        if scores is None:
            raise self.files.changed(name)
        return scores

    def _table(self, name: str) -> tuple[pl.Series, ModelScores | None]:
        table = self.files.load_table(name)
        values = table["prediction"]
        if len(values) != len(self.examples) or values.null_count():
            raise self.files.changed(name)
        kinds = [kind for kind in ScoreKind if kind in table.columns]
        return values, ModelScores(kinds[0], table[kinds[0]]) if kinds else None
