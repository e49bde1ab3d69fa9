"""Predictions for a testset: checked, stored under their fingerprint, loaded.

With a scorer they are outputs, several for each example if the script has trials: all trials of an
example follow one another.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import polars as pl

from easeci.files import create_file, explained
from easeci.script import Script
from easeci.tables.column import ModelRanks, RankKind
from easeci.tables.packed import encoded_parts
from easeci.tables.untrusted import load_untrusted_predictions
from easeci.vault import paths
from easeci.vault.classes import require_predicted_classes
from easeci.vault.examples import SealedExamples
from easeci.vault.sealed_files import SealedFiles, parquet


@dataclass(frozen=True)
class PredictionForm:
    """What is expected of predictions: a class for each example, or outputs."""

    classes: tuple[str, ...] = ()
    """The classes that the script declares; empty if it declares none."""
    ranked: bool = False
    """Whether ranks must come with them."""
    trials: int | None = None
    """How many outputs each example has; None if predictions are classes."""

    @staticmethod
    def of(script: Script) -> PredictionForm:
        """What a script expects."""
        if script.is_scored:
            return PredictionForm(trials=script.trials)
        return PredictionForm(script.classes, script.needs_ranks)


CLASSES = PredictionForm()
"""Any classes, without ranks."""


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
        self, source: Path, form: PredictionForm = CLASSES, *, name_missing: bool = True
    ) -> StoredPredictions:
        """Store predictions, which must cover the testset exactly and have the expected form.

        DataError if they do not, if one of them is none of the declared classes, or if a rank or a
        trial is missing. No error depends on labels. Without ``name_missing``, none names an id
        that the file lacks.
        """
        with explained(f"the predictions for testset {self.files.number} were not stored"):
            made = load_untrusted_predictions(
                source,
                self.examples.ids,
                ranked=form.ranked,
                trials=form.trials,
                name_missing=name_missing,
            )
            values, ranks = made.values.alias("prediction"), made.ranks
            require_predicted_classes(values, form.classes)
            fingerprint = self._fingerprint(values, ranks)
            name = self.files.named(f"{paths.PREDICTIONS}/{fingerprint}.parquet")
            more = {} if ranks is None else {str(ranks.kind): ranks.values}
            content = parquet({"prediction": values, **more})
            try:
                create_file(self.files.folder / name, content)
            except FileExistsError:
                content = self._stored_before(name, fingerprint, content, form.trials or 1)
        return StoredPredictions(name, self.files.vault.key.digest(content), fingerprint)

    def _fingerprint(self, values: pl.Series, ranks: ModelRanks | None) -> str:
        """A keyed hash of values and ranks. Lengths come first, so that ab,c differs from a,bc."""
        lengths = values.str.len_bytes().to_numpy().astype("<u8").tobytes()
        size = len(values).to_bytes(8, "little")
        parts = chain([size, lengths], encoded_parts(values))
        if ranks is not None:
            numbers = ranks.values.to_numpy().astype("<f8").tobytes()
            parts = chain(parts, [ranks.kind.encode(), numbers])
        return self.files.vault.key.digest_chunks(parts, "predictions")

    def _stored_before(self, name: str, fingerprint: str, content: bytes, trials: int) -> bytes:
        """The content of a file that exists. Another version may have written other bytes.

        A file that was never recorded comes from a killed command; it is written again.
        """
        if self.files.digests is not None and name not in self.files.digests:
            (self.files.folder / name).unlink()
            create_file(self.files.folder / name, content)
            return content
        values, ranks = self._table(name, trials)
        if self._fingerprint(values, ranks) != fingerprint:
            raise self.files.changed(name)
        return (self.files.folder / name).read_bytes()

    def load(self, name: str, trials: int = 1) -> pl.Series:
        """Stored predictions in the order of the file of examples, as text.

        With ``trials``, so many outputs for each example: value i * trials + t is trial t of the
        example in row i.
        """
        return self._table(name, trials)[0]

    def load_ranks(self, name: str) -> ModelRanks:
        """The ranks that were stored with predictions, in the order of the file of examples.

        Only for predictions that were stored as ranked: a script that needs ranks was sealed with
        its testset, so all predictions there have them.
        """
        ranks = self._table(name, 1)[1]
        if ranks is None:
            raise self.files.changed(name)
        return ranks

    def _table(self, name: str, trials: int) -> tuple[pl.Series, ModelRanks | None]:
        table = self.files.load_table(name)
        values = table["prediction"]
        if len(values) != len(self.examples) * trials or values.null_count():
            raise self.files.changed(name)
        kinds = [kind for kind in RankKind if kind in table.columns]
        return values, ModelRanks(kinds[0], table[kinds[0]]) if kinds else None
