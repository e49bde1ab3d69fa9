"""Scores of outputs: files that are never rewritten, and the look-up of what they say together.

A score belongs to an example, one of its outputs, and the reference that the output was compared
with. It belongs to no model: equal outputs have equal scores. A file has one row for each score:
id, the digests of output and reference, the score's name, the score (null if it is unsettled),
whether the scorer failed, and why. The reference is empty if the scorer needs none.

A score that is there never changes. Only an unsettled one is settled by a later file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from easeci.evidence.bets import Floats
from easeci.evidence.codes import Flags
from easeci.files import create_file, explained
from easeci.vault import paths
from easeci.vault.build_files import StoredFile
from easeci.vault.key import Key
from easeci.vault.sealed_files import SealedFiles, parquet

KEY = ("id", "output", "reference", "name")
"""The columns that name a score."""
COLUMNS = (*KEY, "score", "failed", "reason")


@dataclass(frozen=True)
class TrialScores:
    """What is known of one score of a model: arrays of shape (examples, trials).

    ``values`` are NaN where there is no score. ``unsettled`` marks outputs that were imported
    without one, and ``failed`` those that the scorer could not score: their score is 0.
    """

    values: Floats
    unsettled: Flags
    failed: Flags

    @property
    def missing(self) -> Flags:
        """Where a score may still come from the scorer."""
        return np.asarray(np.isnan(self.values) & ~self.unsettled)


@dataclass(frozen=True)
class ScoreFiles:
    """The scores that were stored for one testset."""

    files: SealedFiles

    def store(self, rows: pl.DataFrame, recorded: int) -> StoredFile:
        """Store rows as the next file, if ``recorded`` are there. The caller acts alone.

        A file of that number that was never recorded comes from a killed command: it is replaced.
        """
        name = f"{paths.SCORES}/{recorded + 1:04d}.parquet"
        content = parquet({column: rows[column] for column in COLUMNS})
        with explained(f"the scores for testset {self.files.number} were not stored"):
            target = self.files.folder / name
            target.parent.mkdir(mode=0o700, exist_ok=True)  # older testsets lack the folder
            target.unlink(missing_ok=True)
            create_file(target, content)
        return StoredFile(name, self.files.vault.key.digest(content))

    def known(self, names: Sequence[str]) -> pl.DataFrame:
        """All scores of these files, one row for each; a later file settles what is unsettled."""
        tables = [self.files.load_table(name) for name in names]
        if not tables:
            return empty_scores(pl.String)
        # What is settled comes first, in the order of the files: the first score stays.
        found = pl.concat(tables).sort(pl.col("score").is_null(), maintain_order=True)
        return found.unique(list(KEY), keep="first", maintain_order=True)


def empty_scores(ids: pl.DataType | type[pl.DataType]) -> pl.DataFrame:
    """A table of scores without a row; its ids have a type."""
    types = {"id": ids, "score": pl.Float64, "failed": pl.Boolean}
    return pl.DataFrame(schema={column: types.get(column, pl.String) for column in COLUMNS})


def look_up(
    known: pl.DataFrame, outputs: pl.DataFrame, name: str, shape: tuple[int, int]
) -> TrialScores:
    """The scores of this name for outputs, which have columns id, output and reference."""
    on = list(KEY[:3])
    rows = known.filter(pl.col("name") == name).select(*on, "score", "failed")
    rows = rows.with_columns(found=pl.lit(True), id=pl.col("id").cast(outputs["id"].dtype))
    joined = outputs.select(on).join(rows, on=on, how="left", maintain_order="left")
    values = joined["score"].fill_null(np.nan).to_numpy()
    found = joined["found"].fill_null(False).to_numpy()
    failed = joined["failed"].fill_null(False).to_numpy()
    return TrialScores(
        np.array(values, dtype=np.float64).reshape(shape),
        np.asarray(found & np.isnan(values)).reshape(shape),
        np.array(failed).reshape(shape),
    )


def output_digests(key: Key, values: pl.Series, purpose: str = "output") -> pl.Series:
    """The digest of each text; null where there is none. Every different text is hashed once."""
    texts = values.drop_nulls().unique()
    digests = key.digests(texts, purpose)
    table = pl.DataFrame({"text": texts, "digest": pl.Series(digests, dtype=pl.String)})
    found = pl.DataFrame({"text": values}).join(table, on="text", how="left", maintain_order="left")
    return found["digest"]
