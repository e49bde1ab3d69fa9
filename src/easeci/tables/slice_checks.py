"""What is wrong with slices, said to the owner: at sealing, and in ``check``.

Messages quote columns and their values, and one says that a column equals the labels. So nothing
here is ever called for a developer's commit, and nothing quotes a label.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

import polars as pl

from easeci.errors import DataError
from easeci.script.syntax import Slice
from easeci.tables.align import aligned_rows
from easeci.tables.column import LABEL_NAMES, SUSPICIOUS_NAMES, Column, shortened
from easeci.tables.example_columns import load_example_columns
from easeci.tables.slices import (
    MOST_VALUES,
    ExampleSlices,
    numbers_of,
    texts_of,
    value_rank,
)
from easeci.tables.source import ID, Source

FEWEST_LABELS = 20
"""A column that equals fewer labels than this may do so by chance."""
MOST_SHOWN = 8
MOST_SEARCHED = 10_000
LOOKED_AT = 1_000


def load_slices(
    source: Source, new: Column, slices: Sequence[Slice], labels: pl.Series | None = None
) -> ExampleSlices:
    """The columns that slices are made by, in the order of the new model's predictions.

    ``labels`` are in that order too, null where none is known. DataError if ids are missing or too
    many, or if a column is missing or cannot make slices.
    """
    found = load_example_columns(source, [ID, *(chosen.column for chosen in slices)])
    require_columns(found.name, found.names, slices)
    hint = "The examples must cover the testset exactly, as predictions do."
    made = ExampleSlices(aligned_rows(new, found.keys(), found.columns.drop(ID), hint))
    require_slices(found.name, made, slices, labels)
    return made


def require_columns(
    name: str, names: Sequence[str], slices: Iterable[Slice], label_column: str | None = None
) -> None:
    """Refuse slices by a column that does not exist, by ids, and by a column of labels."""
    for chosen in slices:
        column = chosen.column
        if column == ID:
            raise DataError(
                "the ids cannot make slices: every example has its own",
                hint="Name another column of the examples, such as [lang=de].",
            )
        if column == label_column or column.strip().lower() in LABEL_NAMES:
            raise _holds_labels(column)
        if column not in names:
            raise DataError(
                f"{name} has no column '{shortened(column)}', which the condition names",
                hint=_columns_there(column, [known for known in names if known != ID]),
            )


def _columns_there(column: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(column, names[:1000], n=1)
    meant = f"Did you mean '{shortened(close[0])}'? " if close else ""
    if not names:
        return "It has no other columns than id."
    return f"{meant}Its columns: {_listed(list(map(shortened, names)))}."


def _holds_labels(column: str) -> DataError:
    return DataError(
        f"column '{shortened(column)}' holds the labels, and slices cannot be made by labels",
        hint="Which examples count must be known before any label is. For the examples of one "
        "class there are recall(CLASS) and precision(CLASS).",
    )


def require_slices(
    name: str, found: ExampleSlices, slices: Iterable[Slice], labels: pl.Series | None = None
) -> None:
    """Refuse slices that the columns cannot make, or that no example is in.

    ``labels`` are in the order of the columns, null where none is known.
    """
    for chosen in slices:
        values = found.columns[chosen.column]
        if labels is not None and _equals_labels(values, labels):
            raise _holds_labels(chosen.column)
        if chosen.every:
            found.partition(chosen.column)
        if not found.members(chosen).any():
            raise _empty(name, values, chosen)


def _empty(name: str, values: pl.Series, chosen: Slice) -> DataError:
    if values.null_count() == len(values):
        return DataError(f"{name}: column '{shortened(chosen.column)}' has no value in any example")
    told = f"{name}: no example is in the slice {shortened(str(chosen))}"
    if chosen.column.strip().lower() in SUSPICIOUS_NAMES:  # its values may be labels
        return DataError(told)
    if chosen.test.is_numeric:
        numbers = numbers_of(values)
        return DataError(told, hint=f"The values go from {numbers.min()!r} to {numbers.max()!r}.")
    distinct = values.unique().drop_nulls().head(MOST_SEARCHED)
    known = sorted(texts_of(distinct).to_list(), key=value_rank)
    close = difflib.get_close_matches(chosen.value, known[:MOST_VALUES], n=1)
    meant = f"Did you mean {_quoted(close)}? " if close else ""
    return DataError(told, hint=f"{meant}Values of the column: {_quoted(known)}.")


def _equals_labels(values: pl.Series, labels: pl.Series) -> bool:
    """Whether a column has the label of every labelled example, but for case and space around it.

    Only if enough are labelled: an honest column may equal a few of them by chance.
    """
    known = labels.is_not_null().arg_true()
    if len(known) < FEWEST_LABELS:
        return False
    # A few first: nearly every column differs from the labels at once.
    return all(
        _same_texts(values.gather(rows), labels.gather(rows))
        for rows in (known.head(LOOKED_AT), known)
    ) and bool(labels.gather(known).n_unique() > 1)


def _same_texts(values: pl.Series, labels: pl.Series) -> bool:
    one, other = (
        texts_of(texts).str.strip_chars().str.to_lowercase() for texts in (values, labels)
    )
    return bool((one == other).fill_null(False).all())


def _quoted(values: Sequence[str]) -> str:
    return _listed([f"'{shortened(value)}'" for value in values])


def _listed(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - MOST_SHOWN:,} more" if len(texts) > MOST_SHOWN else ""
    return ", ".join(texts[:MOST_SHOWN]) + more
