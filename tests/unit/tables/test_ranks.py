"""Scores beside predictions: numbers from 0 to 1, in every format, and only where they are wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from easeci.errors import DataError
from easeci.tables.column import ColumnRole, ModelRanks, RankKind
from easeci.tables.source import load_column
from tests.cases import each_case
from tests.unit.vault.making import write, written

TABLE: dict[str, Any] = {"id": [1, 2], "prediction": ["a", "b"], "probability": [0.25, 1.0]}


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_scores_of_files(tmp_path: Path, ending: str) -> None:
    """They are read if they are wanted, and otherwise ignored."""
    path = written(tmp_path / f"p.{ending}", TABLE)
    column = load_column(path, ColumnRole.NEW, ranked=True)
    assert column.ranks is not None
    assert column.ranks.kind is RankKind.PROBABILITY
    assert column.ranks.values.to_list() == [0.25, 1.0]
    assert load_column(path, ColumnRole.NEW).ranks is None


@each_case("make", [pl.DataFrame, pd.DataFrame])
def test_scores_in_memory(make: Any) -> None:
    frame = make({"id": [1, 2], "prediction": [3, 4], "confidence": [0, 1], "other": [[1], [2]]})
    column = load_column(frame, ColumnRole.OLD, ranked=True)
    assert column.ranks is not None
    assert column.ranks.kind is RankKind.CONFIDENCE
    assert column.ranks.values.to_list() == [0.0, 1.0]
    assert load_column(frame, ColumnRole.OLD).ranks is None


def test_a_score_may_be_any_number_from_0_to_1(tmp_path: Path) -> None:
    texts = ["0", "1", "1.0", "1e-3", "-0.0", ".5"]
    path = written(tmp_path / "p.csv", {"id": range(6), "prediction": "a", "confidence": texts})
    column = load_column(path, ColumnRole.NEW, ranked=True)
    assert column.ranks is not None
    assert [str(value) for value in column.ranks.values] == [
        "0.0", "1.0", "1.0", "0.001", "0.0", "0.5",
    ]  # fmt: skip


BAD = {
    "none": (
        "id,prediction\n1,a\n",
        ["has no probabilities", "auc", "'probability'", "'confidence'"],
    ),
    "both": (
        "id,prediction,probability,confidence\n1,a,.5,.5\n",
        ["two columns for auc", "Leave one of them out"],
    ),
    "twice": ("id,prediction,confidence,confidence\n1,a,1,1\n", ["two columns 'confidence'"]),
    "missing": ("id,prediction,probability\n1,a,.5\n2,a,\n", ["without a probability: 1, at id 2"]),
    "text": ("id,prediction,confidence\n1,a,high\n", ["that is not a number: 1, at id 1", "0.85"]),
    "percent": ("id,prediction,confidence\n1,a,85%\n", ["that is not a number: 1, at id 1"]),
    "NaN": ("id,prediction,confidence\n1,a,NaN\n", ["that is not finite: 1, at id 1"]),
    "infinite": ("id,prediction,confidence\n1,a,1e999\n", ["that is not finite: 1, at id 1"]),
    "too large": ("id,prediction,confidence\n1,a,85\n", ["outside 0 to 1: 1, at id 1"]),
    "negative": ("id,prediction,confidence\n1,a,-.1\n", ["outside 0 to 1: 1, at id 1"]),
}


@pytest.mark.parametrize("name", BAD)
def test_scores_that_cannot_be_used(tmp_path: Path, name: str) -> None:
    """Each mistake has its own message. Without a need for scores, none of these is a mistake."""
    content, fragments = BAD[name]
    path = write(tmp_path / "p.csv", content)
    with pytest.raises(DataError) as caught:
        load_column(path, ColumnRole.NEW, ranked=True)
    for fragment in (*fragments, "p.csv"):
        assert fragment in str(caught.value)
    assert load_column(path, ColumnRole.NEW).ranks is None


@each_case(
    ("source", "fragment"),
    [
        ([1, 2], "a list has no columns"),
        ({1: "a"}, "the new predictions has no probabilities"),
        (pl.DataFrame({"id": [1], "prediction": [1], "confidence": [[1]]}), "lists or objects"),
        (pl.DataFrame({"id": [1], "prediction": [1], "confidence": [True]}), "not a number"),
        (pd.DataFrame({"id": [1, 2], "prediction": 1, "confidence": [0.5, None]}), "without a"),
    ],
)
def test_memory_without_usable_scores(source: Any, fragment: str) -> None:
    with pytest.raises(DataError, match=fragment):
        load_column(source, ColumnRole.NEW, ranked=True)


def test_a_score_towards_a_class() -> None:
    """A confidence is that of the predicted class; a probability is of the class that is asked for."""
    values = pl.Series([0.9, 0.6])
    confident = ModelRanks(RankKind.CONFIDENCE, values)
    for predictions in (pl.Series(["1", "0"]), pl.Series([1, 0])):
        assert confident.towards("1", predictions).tolist() == [0.9, 0.4]
    probable = ModelRanks(RankKind.PROBABILITY, values)
    assert probable.towards("1", pl.Series(["1", "0"])).tolist() == [0.9, 0.6]
