"""Confusion matrix, precision, recall and F1, against numbers that were counted by hand."""

from __future__ import annotations

import polars as pl
import pytest

from easeci.views.released.confusion import (
    MOST_CLASSES,
    class_rows,
    common_classes,
    confusion_matrix,
)

LABELS = pl.Series(["cat", "cat", "cat", "dog", "dog", None, "owl"])
NEW = pl.Series(["cat", "cat", "dog", "dog", "cat", "dog", "cat"])
OLD = pl.Series(["cat", "dog", "dog", "dog", "dog", "cat", "elk"])


def test_a_matrix_counts_labels_against_predictions() -> None:
    """The example without a label counts nowhere."""
    classes = common_classes(LABELS, [NEW.head(5), OLD.head(5)], ())
    assert classes == ("cat", "dog", "owl")
    matrix = confusion_matrix(LABELS, NEW, classes)
    assert (matrix.classes, matrix.others) == (classes, 0)
    assert matrix.counts == ((2, 1, 0), (1, 1, 0), (1, 0, 0))


def test_classes_have_precision_recall_and_f1_of_both_models() -> None:
    cat, dog, owl = class_rows(LABELS, NEW, OLD, ("cat", "dog", "owl"))
    assert (cat.labels, cat.new.predicted, cat.new.right) == (3, 4, 2)
    assert cat.new.precision == pytest.approx(2 / 4)
    assert cat.new.recall == pytest.approx(2 / 3)
    assert cat.new.f1 == pytest.approx(2 * 2 / (4 + 3))
    assert cat.old is not None
    assert (cat.old.predicted, cat.old.right, cat.old.precision) == (1, 1, 1.0)
    assert (dog.new.predicted, dog.new.right) == (2, 1)
    # Nobody predicts it: there is nothing that precision could be a share of.
    assert (owl.labels, owl.new.precision, owl.new.recall, owl.new.f1) == (1, None, 0.0, 0.0)


def test_declared_classes_come_in_their_order_and_need_no_label() -> None:
    classes = common_classes(LABELS, [NEW, OLD], ("dog", "emu", "cat"))
    assert classes == ("dog", "emu", "cat", "elk", "owl")
    (emu,) = class_rows(LABELS, NEW, None, ("emu",))
    assert (emu.labels, emu.new.recall, emu.new.f1, emu.old) == (0, None, None, None)


def test_many_classes_are_folded_into_one_more_row_and_column() -> None:
    """The commonest by labels keep their own; texts that are only predicted are in no class row."""
    labels = pl.Series([str(number) for number in range(12) for _ in range(20 - number)])
    made = pl.Series([f"text {row}" if row % 2 else name for row, name in enumerate(labels)])
    classes = common_classes(labels, [made], ())
    assert classes[:12] == tuple(str(number) for number in range(12))
    matrix = confusion_matrix(labels, made, classes)
    assert matrix.classes == classes[:MOST_CLASSES]
    assert matrix.others == len(classes) - MOST_CLASSES
    assert sum(map(sum, matrix.counts)) == len(labels)
    assert [sum(row) for row in matrix.counts] == [*range(20, 10, -1), 10 + 9]
    assert matrix.counts[0][0] == 10
    assert matrix.counts[0][-1] == 10
    assert [row.name for row in class_rows(labels, made, None, classes)] == list(classes[:12])


def test_a_matrix_can_be_folded_further() -> None:
    """What is left is in its old order, and no count is lost."""
    matrix = confusion_matrix(LABELS, OLD, ("owl", "dog", "cat", "elk"))
    small = matrix.folded(2)
    assert (small.classes, small.others) == (("dog", "cat"), 2)
    assert small.counts == ((2, 0, 0), (2, 1, 0), (0, 0, 1))
    assert small.folded(2) is small
