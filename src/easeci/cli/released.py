"""A released testset on the terminal: tables that fit its width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from easeci.cli.terminal import output, plain_characters, print_hanging, safe
from easeci.times import readable_time
from easeci.views.released.page import matrix_view, released_view
from easeci.views.released.wording import percent

if TYPE_CHECKING:
    from easeci.views.released.confusion import ConfusionMatrix
    from easeci.views.released.contents import ReleasedReport
    from easeci.views.released.page import MatrixView, ReleasedView
    from easeci.views.released.slices import SliceRow

LONGEST_NAME = 18
LONGEST_CLASS = 15
LONGEST_SLICE = 32
LONGEST_VALUE = 60
FEWEST_CLASSES = 2
GAP = 2
"""Between the columns of a table, and around them."""


def show_released(report: ReleasedReport) -> None:
    """Print all tables."""
    console, shown = output(), released_view(report)
    console.print(
        f"[bold]Testset {report.testset}[/], released {readable_time(report.released_at)} UTC"
    )
    print_hanging("  n  ", safe(report.new.words))
    if report.old is not None:
        print_hanging("  o  ", safe(report.old.words))
    for line in shown.how_to_read:
        print_hanging("  - ", line)
    if report.tables.whole.labelled:
        _show_matrices(report)
        _show_classes(shown)
    _show_slices(shown)
    _show_differing(shown)


def _show_matrices(report: ReleasedReport) -> None:
    for title, matrix in zip(("n", "o"), report.tables.confusion, strict=False):
        _title(f"Confusion matrix of {title} (rows: labels, columns: predictions)")
        shown = _fitting(matrix)
        table = _table(["", *map(safe, shown.headings)])
        for place, (label, counts) in enumerate(shown.rows):
            cells = [Text(f"{count:,}") for count in counts]
            if place < shown.right:
                cells[place].stylize("bold")
            table.add_row(Text(_short(label, LONGEST_NAME)), *cells)
        output().print(table)


def _fitting(matrix: ConfusionMatrix) -> MatrixView:
    """A matrix with as many classes as the terminal has room for."""
    shown = matrix_view("", matrix)
    for most in range(len(matrix.classes) - 1, FEWEST_CLASSES - 1, -1):
        if _width(shown) <= output().width:
            break
        shown = matrix_view("", matrix.folded(most))
    return shown


def _width(matrix: MatrixView) -> int:
    """How many columns of the terminal a matrix takes."""
    names = max((len(_short(label, LONGEST_NAME)) for label, _ in matrix.rows), default=0)
    counts = [
        max(len(name), *(len(f"{row[place]:,}") for _, row in matrix.rows))
        for place, name in enumerate(matrix.headings)
    ]
    return names + sum(counts) + GAP * (len(counts) + 1)


def _show_classes(shown: ReleasedView) -> None:
    _title("Classes (of labelled examples)")
    models = ("n", "o") if shown.report.old is not None else ("n",)
    names = [f"{model} {name}" for name in ("prec", "recall", "F1") for model in models]
    table = _table(["class", "labels", *names])
    for row in shown.classes:
        both = (row.new,) if row.old is None else (row.new, row.old)
        shares = [
            *(scores.precision for scores in both),
            *(scores.recall for scores in both),
            *(scores.f1 for scores in both),
        ]
        name = Text(_short(row.name, LONGEST_CLASS))
        table.add_row(name, f"{row.labels:,}", *map(_share, shares))
    output().print(table)
    _more(shown.more_classes, "classes more: --json has all")


def _show_slices(shown: ReleasedView) -> None:
    _title("Slices (n, o: of labelled examples; d: of all)")
    paired = shown.report.old is not None
    table = _table(["slice", "examples", "labelled", *(("n", "o", "d") if paired else ("n",))])
    _add_slice(table, "all", shown.report.tables.whole, paired=paired)
    for name, rows in shown.slices:
        for row in rows:
            value = "(empty)" if row.value is None else row.value
            _add_slice(table, f"{name} = {value}", row, paired=paired)
    output().print(table)
    _more(shown.more_columns, "columns more: --json has all")


def _add_slice(table: Table, name: str, row: SliceRow, *, paired: bool) -> None:
    shares = (row.new, row.old, row.difference) if paired else (row.new,)
    counts = (f"{row.examples:,}", f"{row.labelled:,}")
    table.add_row(Text(_short(name, LONGEST_SLICE)), *counts, *map(_share, shares))


def _show_differing(shown: ReleasedView) -> None:
    _title("Where the models differ")
    print_hanging("", shown.differing_words)
    if not shown.differing:
        return
    table = _table(["id", "label", "new", "old"], numbers=False)
    for values in shown.differing:
        table.add_row(
            *(Text("" if value is None else _short(str(value), LONGEST_VALUE)) for value in values)
        )
    output().print(table)
    _more(shown.more_differing, "more: -o differing.csv writes all")


def _title(words: str) -> None:
    output().print()
    output().print(Text(words, "bold"))


def _more(count: int, words: str) -> None:
    if count:
        output().print(Text(f"{count:,} {words}.", "dim"))


def _table(headings: Sequence[str], *, numbers: bool = True) -> Table:
    """A table whose first column is a name, and whose others are numbers if ``numbers``."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for place, name in enumerate(headings):
        right = numbers and place > 0
        table.add_column(Text(name), justify="right" if right else "left", no_wrap=True)
    return table


def _share(value: float | None) -> str:
    return percent(value) if value is not None or not plain_characters() else "-"


def _short(text: str, most: int) -> str:
    """A text on one line, cut if it is long."""
    line = " ".join(safe(text).split())
    if len(line) <= most:
        return line
    return line[: most - 3] + "..." if plain_characters() else line[: most - 1] + "…"
