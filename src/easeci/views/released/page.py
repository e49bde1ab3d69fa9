"""A released testset as HTML: what templates need, and the whole as one file."""

from __future__ import annotations

from dataclasses import dataclass, replace

from easeci.html import render
from easeci.views.released.confusion import MOST_CLASSES, ClassRow, ConfusionMatrix
from easeci.views.released.contents import ReleasedReport
from easeci.views.released.slices import SliceRow
from easeci.views.released.wording import differing_words, how_to_read, percent

MOST_ROWS = 100
"""Of the examples on which the models differ."""
MOST_COLUMNS = 12
"""Of those that make slices. Pixels of small pictures do too."""
LONGEST_HEADING = 9
"""Of the name of a class, in characters."""


@dataclass(frozen=True)
class MatrixView:
    """A confusion matrix with its headings; the last column and row are sums.

    Where a name is too long for a heading, rows and columns are ``numbered``. ``right`` is the
    number of classes that have a row of their own: there, predictions on the diagonal are right.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    right: int
    numbered: bool


def matrix_view(title: str, matrix: ConfusionMatrix) -> MatrixView:
    """A matrix with the names of its rows and columns, and with sums."""
    names, headings = matrix.classes, matrix.classes
    numbered = max(map(len, names), default=0) > LONGEST_HEADING
    if numbered:
        names = tuple(f"{number} {name}" for number, name in enumerate(names, 1))
        headings = tuple(str(number) for number, _ in enumerate(names, 1))
    ends = (f"{matrix.others:,} others", "all") if matrix.others else ("all",)
    rows = [(*counts, sum(counts)) for counts in matrix.counts]
    rows.append(tuple(map(sum, zip(*rows, strict=True))))
    return MatrixView(
        title=title,
        headings=(*headings, *ends),
        rows=tuple(zip((*names, *ends), rows, strict=True)),
        right=len(matrix.classes),
        numbered=numbered,
    )


@dataclass(frozen=True)
class ReleasedView:
    """The parts of a report that a page or a terminal shows; the rest is only counted.

    Its report has no more of the examples that differ than are shown, so that a cache can hold it.
    """

    report: ReleasedReport
    how_to_read: tuple[str, ...]
    matrices: tuple[MatrixView, ...]
    classes: tuple[ClassRow, ...]
    more_classes: int
    slices: tuple[tuple[str, tuple[SliceRow, ...]], ...]
    """By column."""
    more_columns: int
    differing_words: str
    differing: tuple[tuple[object, ...], ...]
    more_differing: int


def released_view(report: ReleasedReport) -> ReleasedView:
    """What is shown of a report."""
    tables = report.tables
    columns: dict[str, list[SliceRow]] = {}
    for row in tables.slices:
        columns.setdefault(row.column or "", []).append(row)
    named = [(name, tuple(rows)) for name, rows in columns.items()]
    shown = tables.differing.head(MOST_ROWS)
    return ReleasedView(
        report=replace(report, tables=replace(tables, differing=shown)),
        how_to_read=how_to_read(tables),
        matrices=tuple(
            matrix_view(f"{title} model", matrix)
            for title, matrix in zip(("New", "Old"), tables.confusion, strict=False)
            if tables.whole.labelled
        ),
        classes=tables.classes[:MOST_CLASSES],
        more_classes=max(len(tables.classes) - MOST_CLASSES, 0),
        slices=tuple(named[:MOST_COLUMNS]),
        more_columns=max(len(named) - MOST_COLUMNS, 0),
        differing_words=differing_words(report),
        differing=tuple(shown.iter_rows()),
        more_differing=len(tables.differing) - len(shown),
    )


def released_page(report: ReleasedReport) -> str:
    """The report as one HTML document that needs no other file."""
    shown = released_view(report)
    return render("released-report.html", ("easeci.views",), shown=shown, percent=percent)
