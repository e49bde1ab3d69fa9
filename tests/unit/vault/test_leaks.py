"""Examples that give their labels away are refused or warned of."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from easeci.errors import DataError
from easeci.vault.intake import Offered, load_offered
from easeci.vault.leaks import _log_chance, label_column_among
from tests.unit.vault.making import SECRET, write, written

SIZE = 60
CLASSES = [f"{SECRET}{i % 3}" for i in range(SIZE)]
random.Random(5).shuffle(CLASSES)


NOISE = [f"n{random.Random(i).random()}" for i in range(SIZE)]


def offer(folder: Path, columns: dict[str, Any], **options: Any) -> Offered:
    columns = {"id": range(SIZE), "x": NOISE, "y": CLASSES} | columns
    found = load_offered(written(folder / "e.csv", columns), label_column="y", **options)
    assert SECRET not in "".join(found.warnings)
    return found


def refused(folder: Path, columns: dict[str, Any], fragment: str) -> None:
    with pytest.raises(DataError) as caught:
        offer(folder, columns)
    assert fragment in str(caught.value)
    assert SECRET not in str(caught.value)


def test_honest_examples_raise_no_warning(tmp_path: Path) -> None:
    found = offer(tmp_path, {"colour": [["red", "green"][i % 2] for i in range(SIZE)]})
    assert found.warnings == ()
    assert (found.size, found.labels_known) == (SIZE, SIZE)
    assert SECRET not in repr(found)


@pytest.mark.parametrize(
    "column",
    [
        CLASSES,
        [c.upper() for c in CLASSES],
        [f" {c}" for c in CLASSES],
        [c[-1] for c in CLASSES],
        [{"0": "b", "1": "c", "2": "a"}[c[-1]] for c in CLASSES],
        [f"{c[-1]}.0" for c in CLASSES],
    ],
    ids=["same", "case", "space", "digit", "renamed", "decimal"],
)
def test_a_column_equal_to_the_labels_is_refused(tmp_path: Path, column: list[str]) -> None:
    refused(tmp_path, {"copy": column}, "column 'copy' gives the labels away")


def test_a_column_that_is_nearly_the_labels_is_a_feature(tmp_path: Path) -> None:
    column = ["other", *CLASSES[1:]]
    assert offer(tmp_path, {"copy": column}).warnings == ()


def test_labels_known_in_part_are_enough_to_see_it(tmp_path: Path) -> None:
    """The column is compared where labels are known, wherever they come from."""
    examples = written(tmp_path / "e.csv", {"id": range(SIZE), "x": NOISE, "kind": CLASSES})
    labels = written(tmp_path / "l.csv", {"id": range(0, SIZE, 3), "label": CLASSES[::3]})
    with pytest.raises(DataError, match="column 'kind' gives the labels away"):
        load_offered(examples, labels=labels)
    assert load_offered(examples).warnings == ()


def test_few_labels_may_fit_by_chance(tmp_path: Path) -> None:
    examples = written(tmp_path / "e.csv", {"id": [1, 2, 3], "x": ["a", "a", "b"]})
    labels = write(tmp_path / "l.csv", f"id,label\n1,{SECRET}\n2,{SECRET}\n3,{SECRET}2\n")
    found = load_offered(examples, labels=labels)
    assert any("column 'x' fits the labels one to one" in text for text in found.warnings)
    flags = written(tmp_path / "e.csv", {"id": [1, 2, 3], "flag": [0, 1, 1]})
    some = write(tmp_path / "l.csv", "id,label\n1,0\n3,1\n")
    assert any("'flag' fits" in text for text in load_offered(flags, labels=some).warnings)
    write(tmp_path / "l.csv", "id,label\n1,0\n2,1\n3,1\n")
    with pytest.raises(DataError, match="column 'flag' gives"):
        load_offered(flags, labels=some)
    written(tmp_path / "e.csv", {"id": [1, 2, 3], "x": ["a", "a", "b"]})
    unique = write(tmp_path / "l.csv", f"id,label\n1,{SECRET}\n3,{SECRET}2\n")
    assert not any("fits" in text for text in load_offered(examples, labels=unique).warnings)


@pytest.mark.parametrize(
    "names",
    [
        [f"{c}/{i:03}.png" for i, c in enumerate(CLASSES)],
        [f"{c[-1]}-{i}" for i, c in enumerate(CLASSES)],
        [f"{'abc'[int(c[-1])]}{i}" for i, c in enumerate(CLASSES)],
        [f"{i:04}_{'abc'[int(c[-1])]}" for i, c in enumerate(CLASSES)],
        [f"{i:04}_{'abc'[int(c[-1])]}.png" for i, c in enumerate(CLASSES)],
    ],
    ids=["folder", "prefix", "letters", "suffix", "ending"],
)
def test_ids_that_predict_the_labels_are_warned_of(tmp_path: Path, names: list[str]) -> None:
    warnings = offer(tmp_path, {"id": names}).warnings
    assert any(text.startswith("the ids predict the labels") for text in warnings)


def test_paths_that_predict_the_labels_are_warned_of(tmp_path: Path) -> None:
    paths = [f"{c}/{i}.png" for i, c in enumerate(CLASSES)]
    for path in paths:
        write(tmp_path / "files" / path, path)
    warnings = offer(tmp_path, {"image": paths}, files=tmp_path / "files").warnings
    assert any("paths in column 'image' predict the labels" in text for text in warnings)


def test_an_order_that_predicts_the_labels_is_warned_of(tmp_path: Path) -> None:
    warnings = offer(tmp_path, {"y": sorted(CLASSES)}).warnings
    assert any("order of the file predicts" in text for text in warnings)
    by_label = sorted(range(SIZE), key=lambda i: CLASSES[i])
    numbers = [by_label.index(i) for i in range(SIZE)]
    warnings = offer(tmp_path, {"id": numbers}).warnings
    assert any("numbers in the ids predict" in text for text in warnings)


@pytest.mark.parametrize("name", ["label", "Labels", "target", "y"])
def test_a_column_that_is_called_label_is_warned_of(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / "e.csv", {"id": [1, 2], name: ["a", "b"]})
    assert any(f"column '{name}' will be shown" in text for text in load_offered(path).warnings)
    assert load_offered(path, label_column=name).warnings != load_offered(path).warnings


@pytest.mark.parametrize("labels", ["aab", "aabb", "aabbb", "aabbcc", "aaabbb", "aaab"])
def test_the_chance_to_fit_is_never_taken_for_smaller_than_it_is(labels: str) -> None:
    """Against all orders of the labels: how many of them fit a column one to one.

    If all classes are equally common, the chance is exact.
    """
    orders = set(permutations(labels))
    fitting = sum(len(set(zip(order, labels, strict=True))) == len(set(labels)) for order in orders)
    chance = math.exp(_log_chance(pl.Series(list(labels))))
    assert chance >= fitting / len(orders) - 1e-12
    if len(set(Counter(labels).values())) == 1:
        assert chance == pytest.approx(fitting / len(orders))


def test_a_column_is_named_as_labels_in_any_case_and_with_spaces() -> None:
    assert label_column_among(["x", " Label", "labels"]) == " Label"
    assert label_column_among(["target", "y", "labelled"]) is None
