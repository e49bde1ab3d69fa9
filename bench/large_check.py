"""A check of ten million rows against what polars needs to read and compare the same columns."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from bench.ratio import Ratio, ratio
from easeci.service import check, make_script

ROWS = 10_000_000
CONDITION = r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01"


def measure(rows: int = ROWS) -> list[Ratio]:
    with tempfile.TemporaryDirectory() as folder:
        return [
            row
            for kind in ("whole numbers", "text")
            for row in _measure(Path(folder), rows, as_text=kind == "text")
        ]


def _measure(folder: Path, rows: int, *, as_text: bool) -> list[Ratio]:
    write_tables(folder, rows, as_text=as_text)
    script = make_script(CONDITION)
    kind = "ids and classes as text" if as_text else "ids and classes as whole numbers"

    def easeci(old: str) -> None:
        checked = check(
            script,
            new=folder / "new.parquet",
            old=folder / old,
            labels=folder / "labels.parquet",
        )
        assert checked.verdict.passed is not None

    def polars() -> None:
        new, old, labels = (
            pl.read_parquet(folder / f"{name}.parquet") for name in ("new", "old", "labels")
        )
        assert (new["id"] == old["id"]).all()
        assert (new["id"] == labels["id"]).all()
        for first, second in (
            (new["prediction"], old["prediction"]),
            (new["prediction"], labels["label"]),
            (old["prediction"], labels["label"]),
        ):
            (first == second).sum()

    def polars_join() -> None:
        new, old, labels = (
            pl.read_parquet(folder / f"{name}.parquet") for name in ("new", "shuffled", "labels")
        )
        joined = new.join(old, on="id").join(labels, on="id")
        joined.select(pl.len(), (pl.col("prediction") == pl.col("label")).sum())

    return [
        ratio(
            f"`check` of {rows:,} rows, {kind}",
            lambda: easeci("old.parquet"),
            "polars reading and comparing the columns",
            polars,
            promised=3.0,
            rounds=3,
        ),
        ratio(
            f"`check` of {rows:,} rows in another order, {kind}",
            lambda: easeci("shuffled.parquet"),
            "polars reading and joining the columns",
            polars_join,
            promised=None,
            rounds=3,
        ),
    ]


def write_tables(folder: Path, rows: int, *, as_text: bool) -> None:
    """Predictions of two models that differ on 8% of the examples, and labels."""
    random = np.random.default_rng(1)
    labels = random.integers(0, 10, rows)
    old = np.where(random.random(rows) < 0.8, labels, (labels + 1) % 10)
    new = np.where(random.random(rows) < 0.08, labels, old)
    ids = np.arange(rows)

    def frame(name: str, values: np.ndarray) -> pl.DataFrame:
        made = pl.DataFrame({"id": ids, name: values})
        return made.cast(pl.String) if as_text else made

    frame("prediction", new).write_parquet(folder / "new.parquet")
    frame("prediction", old).write_parquet(folder / "old.parquet")
    frame("label", labels).write_parquet(folder / "labels.parquet")
    frame("prediction", old).sample(fraction=1.0, shuffle=True, seed=2).write_parquet(
        folder / "shuffled.parquet"
    )
