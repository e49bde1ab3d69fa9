"""What a file of imported scores adds to those that are known. A known score never changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from easeci.script.scorer import MAIN_SCORE
from easeci.tables.column import named
from easeci.tables.score_rows import DIGEST, NAME
from easeci.vault.scores import COLUMNS, KEY


@dataclass(frozen=True)
class ScoresReceived:
    """Rows to store, and what became of the others.

    ``added`` counts scores that were not known, of so many ``outputs``, and ``settled`` those of
    them that were unsettled before. ``unsettled`` counts rows without a score. ``problems`` says
    what could not be used.
    """

    rows: pl.DataFrame
    outputs: int
    added: int
    settled: int
    unsettled: int
    unchanged: int
    problems: tuple[str, ...] = ()


@dataclass
class _ScoreRows:
    """Rows of a file that can be used so far, and what is wrong with the others."""

    rows: pl.DataFrame
    problems: list[str] = field(default_factory=list)

    def leave_out(self, bad: pl.Series, words: str) -> None:
        """Leave out rows, and name them."""
        if bad.any():
            ids = named(self.rows["id"].filter(bad))
            self.problems.append(f"{int(bad.sum()):,} {words}, at id {ids}")
            self.rows = self.rows.filter(~bad)


def receive_scores(
    given: pl.DataFrame, outputs: pl.DataFrame, known: pl.DataFrame, names: Sequence[str]
) -> ScoresReceived:
    """What rows of a file add: id, digest, name, given and score.

    ``outputs`` are outputs of the testset, by id and digest, and ``known`` the scores that there
    are. Rows that cannot be used are named by their ids.
    """
    own = outputs.select("id", "output").unique()
    own = own.rename({"id": "own"}).with_columns(id=pl.col("own").cast(pl.String))
    left = _ScoreRows(
        given.rename({DIGEST: "output"}).join(
            own, on=["id", "output"], how="left", maintain_order="left"
        )
    )
    left.leave_out(
        left.rows["own"].is_null(), "rows have a digest that is not of an output of their example"
    )
    left.leave_out(
        ~left.rows[NAME].is_in(list(names)), "scores have a name that the script does not declare"
    )
    invalid = left.rows["given"] & left.rows[MAIN_SCORE].is_null()
    left.leave_out(invalid, "scores are not numbers from 0 to 1")
    left.rows = left.rows.unique(["id", "output", NAME, MAIN_SCORE], maintain_order=True)
    twice = left.rows.select("id", "output", NAME).is_duplicated()
    left.leave_out(twice, "scores are given twice, and differ")
    return _compared(left, known)


def _compared(left: _ScoreRows, known: pl.DataFrame) -> ScoresReceived:
    """What is new of the rows that can be used."""
    rows = left.rows.drop("id").rename({"own": "id"}).with_columns(reference=pl.lit(""))
    before = known.with_columns(pl.col("id").cast(rows["id"].dtype)).select(
        *KEY, pl.col("score").alias("before"), pl.lit(True).alias("known")
    )
    left.rows = rows.join(before, on=list(KEY), how="left", maintain_order="left")
    differs = left.rows["given"] & (left.rows[MAIN_SCORE] != left.rows["before"]).fill_null(False)
    left.leave_out(differs, "scores differ from those known, which never change")
    rows = left.rows
    seen = rows["known"].fill_null(False)
    old = rows["before"].is_not_null() | (seen & ~rows["given"])
    new = rows.filter(~old)
    scored = new.filter(new["given"])
    stored = new.with_columns(failed=pl.lit(False), reason=pl.lit("", pl.String)).select(COLUMNS)
    return ScoresReceived(
        rows=stored,
        outputs=scored.select("id", "output").n_unique(),
        added=len(scored),
        settled=int(scored["known"].fill_null(False).sum()),
        unsettled=int((~new["given"]).sum()),
        unchanged=int(old.sum()),
        problems=tuple(left.problems),
    )
