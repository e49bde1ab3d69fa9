"""What is refused as a testset, what is warned of, and that no label is ever quoted."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from easeci.errors import DataError, UsageError
from easeci.script.scorer import parse_scorer
from easeci.script.syntax import Slice, SliceTest
from easeci.vault.intake import Offered, load_offered, review
from easeci.vault.paths import open_vault
from easeci.vault.sealing import seal
from easeci.vault.testset import SealedTestset
from tests.unit.vault.making import SECRET, add_labels, write, written

SIZE = 60
CLASSES = [f"{SECRET}{i % 3}" for i in range(SIZE)]
random.Random(5).shuffle(CLASSES)


def test_examples_with_the_same_content_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "e.csv", {"id": [1, 2, 3, 4], "x": ["a", "b", "a", "a"]})
    assert load_offered(path).warnings[0].startswith("2 of 4 examples have the same content")


def test_two_sources_of_labels_are_one_too_many(tmp_path: Path) -> None:
    path = written(tmp_path / "e.csv", {"id": [1], "y": ["a"]})
    with pytest.raises(UsageError):
        load_offered(path, labels=path, label_column="y")


def test_labels_of_unknown_examples_are_refused(tmp_path: Path) -> None:
    examples = written(tmp_path / "e.csv", {"id": [1], "x": ["a"]})
    labels = write(tmp_path / "l.csv", f"id,label\n1,a\n{SECRET},{SECRET}\n")
    with pytest.raises(DataError) as caught:
        load_offered(examples, labels=labels)
    assert "ids that are not in" in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_labels_that_arrive_later_are_looked_at_too(tmp_path: Path, ending: str) -> None:
    """A column that turns out to be the labels is found when they are known."""
    vault = open_vault(tmp_path / "store", "demo")
    examples = written(tmp_path / f"e.{ending}", {"id": range(SIZE), "kind": CLASSES})
    seal(vault, 1, load_offered(examples))
    testset = SealedTestset(vault, 1)
    assert review(testset, []) == ()
    labels = written(tmp_path / "l.csv", {"id": range(SIZE), "label": CLASSES})
    received = add_labels(testset, labels, known=[])
    assert received.file is not None
    with pytest.raises(DataError, match="column 'kind' gives the labels away"):
        review(testset, [received.file])


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_slices_need_their_columns(tmp_path: Path, ending: str) -> None:
    """The owner hears at sealing what is wrong with them; no label is quoted."""
    columns = {
        "id": [f"x{i}" for i in range(SIZE)],
        "lang": ["de", "en", "fr"] * 20,
        "age": range(SIZE),
        "y": CLASSES,
    }
    path = written(tmp_path / f"e.{ending}", columns)
    offered = load_offered(path, label_column="y")

    def slice_of(column: str, test: str, value: str) -> Slice:
        return Slice(column, SliceTest(test), value, every=value == "*")

    good = [slice_of("lang", "=", "*"), slice_of("age", ">=", "30"), slice_of("lang", "!=", "de")]
    offered.require_slices(good, "y")
    offered.require_slices((), "y")
    for bad, fragment in (
        (slice_of("lnag", "=", "de"), "Did you mean 'lang'?"),
        (slice_of("y", "=", "a"), "'y' holds the labels"),
        (slice_of("lang", ">", "1"), "column 'lang' is not numeric"),
        (slice_of("age", ">", "99"), "no example is in the slice"),
    ):
        with pytest.raises(DataError) as caught:
            offered.require_slices([*good, bad], "y")
        assert fragment in str(caught.value)
        assert SECRET not in str(caught.value)


@pytest.mark.parametrize("apart", [True, False])
def test_references_come_with_the_examples(tmp_path: Path, apart: bool) -> None:
    """In a file of labels or a column: long texts are fine, unusable ones are named by row."""
    references = [f"^{SECRET * 2000}$", None, "[0-9]+", f"({SECRET}"]
    rows = {"id": range(4), "x": list("abcd")}
    scorer = parse_scorer("regex")

    def load(references: list[str | None]) -> Offered:
        labels = None
        if apart:
            labels = written(tmp_path / "l.csv", {"id": range(4), "label": references})
        more = {} if apart else {"truth": references}
        examples = written(tmp_path / "e.csv", rows | more)
        column = None if apart else "truth"
        return load_offered(examples, labels=labels, label_column=column, scorer=scorer)

    with pytest.raises(DataError) as caught:
        load(references)
    assert "too large ones: 1, at data row 4" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert load([*references[:3], "x"]).labels_known == 3
