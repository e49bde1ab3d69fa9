"""Columns brought together: by id, never by order; values compared as the user means them."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.errors import DataError
from easeci.evidence.cells import Code
from easeci.evidence.codes import Counts
from easeci.tables.align import AlignedExamples, align
from easeci.tables.column import ColumnRole
from easeci.tables.source import load_column
from tests.cases import each_case


def aligned(new: Any, old: Any = None, labels: Any = None) -> AlignedExamples:
    return align(
        load_column(new, ColumnRole.NEW),
        None if old is None else load_column(old, ColumnRole.OLD),
        None if labels is None else load_column(labels, ColumnRole.LABELS),
    )


def by_id(testset: AlignedExamples) -> dict[Any, int]:
    return dict(zip(testset.new.ids.to_list(), testset.cells.tolist(), strict=True))


classes = st.integers(0, 2)
rows = st.lists(st.tuples(classes, classes, st.one_of(st.none(), classes)), min_size=1, max_size=12)


@settings(max_examples=150, deadline=None)
@given(rows, st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_cells_against_a_loop(
    table: list[tuple[int, int, int | None]], shuffle: Any, text_old: bool, text_labels: bool
) -> None:
    """Every example gets the cell that a plain loop over the rows gives it, whatever the order of
    the files and whether classes are numbers or digits."""
    expected = {}
    for index, (new, old, label) in enumerate(table):
        if label is None:
            code = Code.AGREE_UNLABELLED if new == old else Code.DIFFER_UNLABELLED
        elif new == old:
            code = Code.AGREE_RIGHT if new == label else Code.AGREE_WRONG
        elif new == label:
            code = Code.NEW_RIGHT
        else:
            code = Code.OLD_RIGHT if old == label else Code.BOTH_WRONG
        expected[index] = code

    def shuffled(column: list[Any], as_text: bool) -> dict[Any, Any]:
        items = [(i, v) for i, v in enumerate(column) if v is not None]
        shuffle.shuffle(items)
        return {(str(i) if as_text else i): (str(v) if as_text else v) for i, v in items}

    columns = [list(column) for column in zip(*table, strict=True)]
    known = shuffled(columns[2], text_labels)
    try:
        testset = aligned(
            shuffled(columns[0], False), shuffled(columns[1], text_old), known or None
        )
    except DataError as error:
        # Columns that share no class at all are refused on purpose.
        assert "is ever equal to" in str(error)
        return
    assert by_id(testset) == expected


def test_without_an_old_model() -> None:
    testset = aligned([1, 2, 3], labels=[1, 0, None])
    assert by_id(testset) == {
        0: Code.AGREE_RIGHT,
        1: Code.AGREE_WRONG,
        2: Code.AGREE_UNLABELLED,
    }
    assert Counts.of(aligned([1, 2, 3]).cells)[Code.AGREE_UNLABELLED] == 3


@each_case(
    ("new", "old", "labels", "fragments"),
    [
        ({1: 0, 2: 0, 3: 0, 4: 0}, {1: 0}, None, ["lacks ids of", "3, first 2, 3, 4"]),
        ({1: 0}, {1: 0, 2: 0, 3: 0}, None, ["has more ids than", "2, first 2, 3"]),
        ({1: 0}, {1: 0}, {1: 0, 9: 0}, ["labels for ids that are not in", "1, at data row 2"]),
        ([1, 2], [1, 2, 3], None, ["has more ids than", "1, first 2"]),
        ([3, 4], [3, 4], [3.0, 4.0], ["spell whole numbers differently", "3 and 3.0"]),
        (["3", "4"], ["3.0", "4.0"], None, ["3 and 3.0"]),
        (["3.0", "x"], ["3", "x"], None, ["3 and 3.0"]),
        ([1, 2], None, [1], ["1 values for 2 predictions"]),
        (["cat"], ["cat"], ["topsecretlabel"], ["no prediction", "equal to any label"]),
        (["cat", "dog"], ["dog", "cat"], [1, 2], ["holds text", "holds whole numbers"]),
        ([1, 2], ["a", "b"], None, ["is ever equal to any prediction"]),
    ],
)
def test_columns_that_do_not_fit(new: Any, old: Any, labels: Any, fragments: list[str]) -> None:
    with pytest.raises(DataError) as caught:
        aligned(new, old, labels)
    for fragment in fragments:
        assert fragment in str(caught.value)
    assert "topsecretlabel" not in str(caught.value)


@each_case("position", ["new", "old", "labels"])
def test_repeated_ids_are_named_and_counted(position: str) -> None:
    repeated = pl.DataFrame({"id": [7, 7, 5, 5, 5, 6, 6, 4, 4, 1], "prediction": [1] * 10})
    single = pl.DataFrame({"id": [7, 5, 6, 4, 1], "prediction": [1] * 5})
    sources: dict[str, Any] = {"new": single, "old": single, "labels": single}
    sources[position] = repeated
    sources["labels"] = sources["labels"].rename({"prediction": "label"})
    first = "at data row 1, 3, 6" if position == "labels" else "at id 7, 5, 6"
    with pytest.raises(DataError, match=f"occur more than once: 4, {first} and 1 more"):
        aligned(**sources)


@each_case("predictions", [[1.5, 2.5], ["a", "b"], [1, 2]])
def test_no_label_known_yet(predictions: list[Any]) -> None:
    testset = aligned(predictions, labels=[None, None])
    assert set(testset.cells.tolist()) == {Code.AGREE_UNLABELLED}


def test_an_accuracy_of_zero_is_possible() -> None:
    """Wrong everywhere, but with classes that the labels know: no error."""
    testset = aligned(["a", "b"], ["b", "a"], ["b", "a"])
    assert by_id(testset) == {0: Code.OLD_RIGHT, 1: Code.OLD_RIGHT}


def test_leading_zeros_are_part_of_a_text() -> None:
    assert by_id(aligned(["07", "7"], [7, 7])) == {
        0: Code.DIFFER_UNLABELLED,
        1: Code.AGREE_UNLABELLED,
    }
