"""A check of ten million rows, against polars reading and comparing the same columns."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from bench.page import Section
from bench.progress import tell
from bench.ratio import Ratio, ratio, ratio_section
from easeci.service.checks import check
from easeci.service.scripts import make_script

ROWS = 10_000_000
CONDITION = r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01"
OPENING = """\
## A check of ten million rows

Predictions of two models and labels as Parquet files, a condition on *n* − *o* and *d*. Polars
reads the same columns and compares or joins them, which is the least that any check must do. Times
are processor times of all threads.
Labelled where the models differ: the file of labels has only those rows, as active labelling leaves
it."""


def section() -> Section:
    return ratio_section(OPENING, measure())


def measure(rows: int = ROWS) -> list[Ratio]:
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("whole numbers", "text"):
            tell(f"  tables with ids and classes as {kind}")
            found += _measure(Path(folder), rows, kind)
    return found


def _measure(folder: Path, rows: int, kind: str) -> list[Ratio]:
    write_tables(folder, rows, as_text=kind == "text")
    joining = "polars reading and joining the columns"
    size, form = f"`check` of {rows:,} rows", f"ids and classes as {kind}"
    return [
        ratio(
            f"{size}, {form}",
            lambda: _check(folder, "old", "labels"),
            "polars reading and comparing the columns",
            lambda: _compare(folder),
            promised=3.0,
            rounds=3,
            clock=time.process_time,
        ),
        ratio(
            f"{size} in another order, {form}",
            lambda: _check(folder, "shuffled", "labels"),
            joining,
            lambda: _join(folder, "shuffled", "labels"),
            promised=None,
            rounds=3,
            clock=time.process_time,
        ),
        ratio(
            f"{size}, labelled where the models differ, {form}",
            lambda: _check(folder, "old", "few"),
            joining,
            lambda: _join(folder, "old", "few"),
            promised=None,
            rounds=3,
            clock=time.process_time,
        ),
    ]


def _check(folder: Path, old: str, labels: str) -> None:
    checked = check(
        make_script(CONDITION),
        new=folder / "new.parquet",
        old=folder / f"{old}.parquet",
        labels=folder / f"{labels}.parquet",
    )
    assert checked.verdict.passed is not None


def _compare(folder: Path) -> None:
    new, old, labels = _read(folder, "old", "labels")
    assert (new["id"] == old["id"]).all()
    assert (new["id"] == labels["id"]).all()
    for first, second in (
        (new["prediction"], old["prediction"]),
        (new["prediction"], labels["label"]),
        (old["prediction"], labels["label"]),
    ):
        (first == second).sum()


def _join(folder: Path, old_name: str, labels_name: str) -> None:
    new, old, labels = _read(folder, old_name, labels_name)
    joined = new.join(old, on="id").join(labels, on="id", how="left")
    joined.select(pl.len(), (pl.col("prediction") == pl.col("label")).sum())


def _read(folder: Path, old: str, labels: str) -> list[pl.DataFrame]:
    return [pl.read_parquet(folder / f"{name}.parquet") for name in ("new", old, labels)]


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
    frame("label", labels).filter(pl.Series(new != old)).write_parquet(folder / "few.parquet")
    frame("prediction", old).sample(fraction=1.0, shuffle=True, seed=2).write_parquet(
        folder / "shuffled.parquet"
    )
