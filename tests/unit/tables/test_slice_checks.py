"""Slices that cannot be made: each mistake has its own message, and none quotes a label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from easeci.errors import DataError
from easeci.script.syntax import Slice, SliceTest
from easeci.tables.column import ColumnRole
from easeci.tables.slice_checks import load_slices, require_columns
from easeci.tables.source import load_column
from tests.cases import each_case
from tests.unit.vault.making import written

SIZE = 24
SECRET = [f"topsecretlabel{i % 2}" for i in range(SIZE)]
EXAMPLES = pl.DataFrame(
    {
        "id": range(SIZE),
        "lang": ["de", "en", "fr"] * 8,
        "age": range(20, 20 + SIZE),
        "truth": SECRET,
        "blank": [None] * SIZE,
        "pair": [[1, 2]] * SIZE,
        "label": ["x"] * SIZE,
        "target": SECRET,
    }
)
NEW = load_column(dict.fromkeys(range(SIZE), "topsecretlabel0"), ColumnRole.NEW)


def chosen(text: str) -> Slice:
    test = next(test for test in ("!=", ">=", "<=", "=", ">", "<") if test in text)
    column, value = text.split(test, 1)
    return Slice(column, SliceTest(test), value, every=value == "*")


def refused(source: Any, text: str, labels: pl.Series | None = None) -> str:
    with pytest.raises(DataError) as caught:
        load_slices(source, NEW, [chosen(text)], labels)
    assert "topsecretlabel" not in str(caught.value)
    return str(caught.value)


@each_case(
    ("text", "fragments"),
    [
        ("lnag=de", ["no column 'lnag'", "Did you mean 'lang'?", "Its columns: lang, age, truth"]),
        ("id=3", ["the ids cannot make slices"]),
        ("label=x", ["'label' holds the labels", "recall(CLASS)"]),
        ("Labels =x", ["'Labels ' holds the labels"]),
        ("truth=x", ["'truth' holds the labels"]),
        ("lang>=3", ["column 'lang' is not numeric: 24, at data row 1, 2, 3 and 21 more"]),
        ("age>=x", ["[age>=x] compares with a value that is not a number"]),
        ("lang=it", ["no example is in the slice [lang=it]", "Values of the column: 'de', 'en'"]),
        ("lang=dee", ["Did you mean 'de'?"]),
        ("age>90", ["no example is in the slice [age>90]", "from 20 to 43"]),
        ("blank=*", ["column 'blank' has no value in any example"]),
        ("pair=1", ["column 'pair' holds lists or objects"]),
    ],
)
def test_mistakes(text: str, fragments: list[str]) -> None:
    message = refused(EXAMPLES, text, pl.Series(SECRET))
    for fragment in fragments:
        assert fragment in message


def test_too_many_values() -> None:
    new = load_column([1] * 1001, ColumnRole.NEW)
    examples = pl.DataFrame({"id": range(1001), "text": [f"t{i}" for i in range(1001)]})
    with pytest.raises(DataError, match="column 'text' has 1,001 different values"):
        load_slices(examples, new, [chosen("text=*")])


def test_a_column_equals_the_labels_only_if_enough_are_known() -> None:
    """A few may be equal by chance, and columns that differ somewhere are honest."""
    few: list[str | None] = [*SECRET[:19], *[None] * 5]
    for labels in (few, [*SECRET[:-1], "other"], ["same"] * SIZE):
        examples = EXAMPLES.with_columns(same=pl.lit("same"))
        slices = [chosen("truth=*"), chosen("same=*")]
        assert load_slices(examples, NEW, slices, pl.Series(labels)).columns.width == 2
    known = pl.Series([*(f" {label.upper()}" for label in SECRET[:20]), *[None] * 4])
    assert "'truth' holds the labels" in refused(EXAMPLES, "truth=*", known)


def test_values_that_may_be_labels_are_not_quoted() -> None:
    """Before labels are known, a name such as target is a reason for silence."""
    assert "no example is in the slice [target=x]" in refused(EXAMPLES, "target=x")


@each_case(
    ("rows", "fragment"),
    [
        (EXAMPLES.head(22), "lacks ids of the new predictions: 2, first 22, 23"),
        (
            pl.concat([EXAMPLES, EXAMPLES.tail(1).with_columns(id=pl.lit(99, pl.Int64))]),
            "more ids than",
        ),
        (pl.concat([EXAMPLES, EXAMPLES.tail(1)]), "ids that occur more than once: 1, at id 23"),
        (EXAMPLES.drop("id"), "the examples has no column 'id'"),
        ([1, 2], "the examples must be a file or a DataFrame"),
    ],
)
def test_examples_cover_the_testset(rows: Any, fragment: str) -> None:
    assert fragment in refused(rows, "lang=de")


def test_examples_are_joined_by_id(tmp_path: Path) -> None:
    """From any format, in any order, with ids as numbers or as texts."""
    plain = EXAMPLES.select("id", "lang", "age").sample(fraction=1.0, shuffle=True, seed=1)
    sources: list[Any] = [
        *(
            written(tmp_path / f"e.{ending}", plain.to_dict())
            for ending in ("csv", "jsonl", "parquet")
        ),
        plain,
        pd.DataFrame(plain.to_dict(as_series=False)),
    ]
    for source in sources:
        found = load_slices(source, NEW, [chosen("lang=*"), chosen("age>=40")])
        assert found.values_of("lang") == ["de", "en", "fr"]
        assert found.positions(chosen("lang=en")).tolist() == list(range(1, SIZE, 3))
        assert found.positions(chosen("age>=40")).tolist() == [20, 21, 22, 23]


def test_the_column_that_was_split_off_holds_the_labels() -> None:
    with pytest.raises(DataError, match="'y' holds the labels"):
        require_columns("e.csv", ["lang"], [chosen("y=a")], "y")
