"""How labels and predictions meet: the confusion matrix, and precision, recall and F1 by class.

Everything is counted on labelled examples. A share of nothing is None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from easeci.vault.classes import class_order

MOST_CLASSES = 10
"""How many classes a matrix shows; the others together are one more row and column."""


@dataclass(frozen=True)
class ConfusionMatrix:
    """How often each label met each prediction: rows are labels, columns are predictions.

    If there are more classes than it shows, the last row and column count ``others`` of them. The
    cell where these two meet counts right and wrong predictions alike.
    """

    classes: tuple[str, ...]
    others: int
    counts: tuple[tuple[int, ...], ...]

    def folded(self, most: int) -> ConfusionMatrix:
        """The same with at most so many classes: those with the most labels."""
        if len(self.classes) <= most:
            return self
        by_labels = sorted(range(len(self.classes)), key=lambda row: -sum(self.counts[row]))
        kept = sorted(by_labels[:most])
        rest = [place for place in range(len(self.counts)) if place not in kept]
        groups = [*([place] for place in kept), rest]

        def count(rows: list[int], columns: list[int]) -> int:
            return sum(self.counts[row][column] for row in rows for column in columns)

        return ConfusionMatrix(
            tuple(self.classes[place] for place in kept),
            self.others + len(self.classes) - most,
            tuple(tuple(count(rows, columns) for columns in groups) for rows in groups),
        )


@dataclass(frozen=True)
class ClassScores:
    """How one model does on one class.

    ``predicted`` counts the labelled examples for which it predicts the class, and ``right`` those
    of them that have the class.
    """

    predicted: int
    right: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True)
class ClassRow:
    """One class: how many labels it has, and how both models do on it."""

    name: str
    labels: int
    new: ClassScores
    old: ClassScores | None


def share(part: int, whole: int) -> float | None:
    """A part of a whole; None if there is no whole."""
    return part / whole if whole else None


def common_classes(
    labels: pl.Series, predictions: Sequence[pl.Series], declared: Sequence[str]
) -> tuple[str, ...]:
    """All classes, the commonest first: by labels, then by predictions.

    The first :data:`MOST_CLASSES` are in the order in which a matrix shows them: as declared, then
    numbers by value, then texts.
    """
    known, made = _counts(labels), Counter(dict.fromkeys(declared, 0))
    for values in predictions:
        made.update(_counts(values))
    ranked = sorted({*known, *made}, key=lambda name: (-known[name], -made[name], name))
    places = {name: place for place, name in enumerate(declared)}
    shown = sorted(
        ranked[:MOST_CLASSES],
        key=lambda name: (places.get(name, len(places)), class_order(name)),
    )
    return (*shown, *ranked[MOST_CLASSES:])


def confusion_matrix(
    labels: pl.Series, predictions: pl.Series, classes: Sequence[str]
) -> ConfusionMatrix:
    """The matrix of one model, with the first :data:`MOST_CLASSES` of all classes."""
    shown, others = tuple(classes[:MOST_CLASSES]), max(len(classes) - MOST_CLASSES, 0)
    places = {name: place for place, name in enumerate(shown)}
    size = len(shown) + (others > 0)
    counts = [[0] * size for _ in range(size)]
    pairs = pl.DataFrame({"label": labels, "prediction": predictions}).drop_nulls()
    for label, prediction, count in pairs.group_by("label", "prediction").len().iter_rows():
        row, column = (places.get(name, len(shown)) for name in (label, prediction))
        counts[row][column] += count
    return ConfusionMatrix(shown, others, tuple(map(tuple, counts)))


def class_rows(
    labels: pl.Series, new: pl.Series, old: pl.Series | None, classes: Sequence[str]
) -> tuple[ClassRow, ...]:
    """Precision, recall and F1 of each model, in the order of :func:`common_classes`.

    Classes that are only predicted come last. Beyond those of a matrix they are left out: models
    that write free text have as many of them as examples.
    """
    known = _counts(labels)
    classes = classes[: max(len(known), MOST_CLASSES)]
    of_new = _class_scores(labels, new, known, classes)
    of_old = None if old is None else _class_scores(labels, old, known, classes)
    return tuple(
        ClassRow(name, known[name], of_new[name], None if of_old is None else of_old[name])
        for name in classes
    )


def _class_scores(
    labels: pl.Series, predictions: pl.Series, known: Counter[str], classes: Sequence[str]
) -> dict[str, ClassScores]:
    predicted = _counts(predictions.filter(labels.is_not_null()))
    right = _counts(labels.filter((labels == predictions).fill_null(False)))
    return {
        name: ClassScores(
            predicted=predicted[name],
            right=right[name],
            precision=share(right[name], predicted[name]),
            recall=share(right[name], known[name]),
            f1=share(2 * right[name], predicted[name] + known[name]),
        )
        for name in classes
    }


def _counts(values: pl.Series) -> Counter[str]:
    """How often each value occurs; a missing one does not count."""
    counted = values.drop_nulls().alias("value").value_counts(name="count")
    return Counter(dict(counted.iter_rows()))
