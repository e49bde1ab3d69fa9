"""A check of forty slices, against polars reading the same files and grouping them."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from bench.page import Section
from bench.progress import tell
from bench.ratio import Ratio, ratio_section
from easeci.evidence.clause_test import forget_tests
from easeci.service.checks import check
from easeci.service.scripts import make_script

EXAMPLES = 1_000_000
SLICES = 40
CONDITION = "n[lang=*] > 0.8 +/- 0.02"
AT_MOST = 3.0
ROUNDS = 15
SIDE_BY_SIDE = "polars reading the files and grouping, rows side by side"
JOINED = "polars reading the files, joining by id and grouping"
OPENING = f"""\
## A check of forty slices

Predictions, labels and examples as Parquet files of a million rows in the same order, and the
condition `{CONDITION}` with {SLICES} values of `lang`. Polars reads the same files, puts their
columns side by side or joins them by id, and finds for each `lang` the accuracy and the number of
examples. Putting rows side by side trusts their order; `check` does not. All three take turns in
one process, and `check` starts without the tests of earlier rounds. The ratio is that of the
fastest rounds, in processor time of all threads."""


def section() -> Section:
    """Measure whole numbers and texts."""
    return ratio_section(OPENING, measure())


def measure(examples: int = EXAMPLES, rounds: int = ROUNDS) -> list[Ratio]:
    """The time of a check in units of what polars takes, for two kinds of ids and classes."""
    found = []
    for kind in ("whole numbers", "text"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_tables(folder, examples, as_text=kind == "text")
            found += _measure(folder, kind, rounds)
    for row in found:
        tell(f"  {row.what}: {row.value:.2f} times {row.against}")
    return found


def _measure(folder: Path, kind: str, rounds: int) -> list[Ratio]:
    seconds = fastest(
        {
            "check": lambda: _check(folder),
            SIDE_BY_SIDE: lambda: _side_by_side(folder),
            JOINED: lambda: _joined(folder),
        },
        rounds,
    )
    what = f"`check` of {SLICES} slices, ids and classes as {kind}"
    promised = AT_MOST if kind == "whole numbers" else None
    return [
        Ratio(what, seconds["check"] / seconds[SIDE_BY_SIDE], promised, SIDE_BY_SIDE),
        Ratio(what, seconds["check"] / seconds[JOINED], None, JOINED),
    ]


def fastest(runs: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The least processor time of each, in rounds that take turns after one to warm up."""
    best = dict.fromkeys(runs, float("inf"))
    for turn in range(rounds + 1):
        for name, run in runs.items():
            start = time.process_time()
            run()
            if turn:
                best[name] = min(best[name], time.process_time() - start)
    return best


def _check(folder: Path) -> None:
    forget_tests()
    checked = check(
        make_script(CONDITION),
        new=folder / "new.parquet",
        labels=folder / "labels.parquet",
        examples=folder / "examples.parquet",
    )
    assert checked.verdict.passed
    assert len(checked.verdict.clauses) == SLICES


def _side_by_side(folder: Path) -> None:
    new, *others = _read(folder)
    _group(pl.concat([new, *(frame.drop("id") for frame in others)], how="horizontal"))


def _joined(folder: Path) -> None:
    new, labels, examples = _read(folder)
    _group(new.join(labels, on="id").join(examples, on="id"))


def _read(folder: Path) -> list[pl.DataFrame]:
    return [pl.read_parquet(folder / f"{name}.parquet") for name in ("new", "labels", "examples")]


def _group(rows: pl.DataFrame) -> None:
    right = pl.col("prediction") == pl.col("label")
    assert len(rows.group_by("lang").agg(right.mean(), pl.len().alias("examples"))) == SLICES


def write_tables(folder: Path, examples: int, *, as_text: bool) -> None:
    """Predictions of a model that is right on 86%, labels of ten classes, and languages."""
    random = np.random.default_rng(1)
    labels = random.integers(0, 10, examples)
    new = np.where(random.random(examples) < 0.86, labels, (labels + 1) % 10)
    languages = pl.Series([f"l{number:02}" for number in range(SLICES)])

    def write(file: str, name: str, values: pl.Series) -> None:
        frame = pl.DataFrame({"id": np.arange(examples), name: values})
        if as_text:
            padded = pl.col("id").cast(pl.String).str.zfill(7)
            frame = frame.with_columns(pl.format("example-{}", padded).alias("id"))
        frame.write_parquet(folder / f"{file}.parquet")

    def classes(values: np.ndarray) -> pl.Series:
        plain = pl.Series(values)
        return "class " + plain.cast(pl.String) if as_text else plain

    write("new", "prediction", classes(new))
    write("labels", "label", classes(labels))
    write("examples", "lang", languages.gather(random.integers(0, SLICES, examples)))
