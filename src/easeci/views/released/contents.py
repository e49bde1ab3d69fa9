"""What is shown of a released testset: two models on it, by class, by slice, and where they differ.

Labels were asked for where commits needed them, so labelled examples are not a random sample:
:mod:`easeci.views.released.wording` says so wherever this is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl

from easeci.evidence.cells import LabelState
from easeci.views.released.choice import ComparedModel, ReleasedComparison
from easeci.views.released.confusion import (
    ClassRow,
    ConfusionMatrix,
    class_rows,
    common_classes,
    confusion_matrix,
)
from easeci.views.released.slices import SliceRow, marked, slice_rows, whole_row

DIFFERING = ("id", "label", "new", "old")
"""The columns of the examples on which the models differ."""


@dataclass(frozen=True)
class ReleasedColumns:
    """The columns of a testset, all in the order of its file of examples.

    ``labels`` is null where no label is known, and ``states`` where there was no answer at all.
    """

    ids: pl.Series
    labels: pl.Series
    states: pl.Series
    new: pl.Series
    old: pl.Series | None
    columns: pl.DataFrame
    named: tuple[str, ...] = ()
    """The columns that slices of the condition are made by."""


@dataclass(frozen=True)
class DifferingCounts:
    """On how many examples the models differ, how many of them are labelled, and who is right."""

    examples: int
    labelled: int
    new_right: int
    old_right: int
    neither: int


@dataclass(frozen=True)
class ReleasedTables:
    """Two models on a testset; ``confusion`` has a matrix for each of them, the new one first.

    Answers that name no class are left out of all tables: ``cannot_tell`` counts those that
    somebody settled, ``unsettled`` those that were skipped or are disputed.
    """

    whole: SliceRow
    cannot_tell: int
    unsettled: int
    confusion: tuple[ConfusionMatrix, ...]
    classes: tuple[ClassRow, ...]
    slices: tuple[SliceRow, ...]
    differ: DifferingCounts | None
    differing: pl.DataFrame = field(repr=False)
    """The examples on which the models differ, labelled ones first."""


@dataclass(frozen=True)
class ReleasedReport:
    """The tables of a released testset, and what they are about."""

    project: str
    testset: int
    released_at: str
    condition: str
    new: ComparedModel
    old: ComparedModel | None
    tables: ReleasedTables


def make_released_report(project: str, chosen: ReleasedComparison) -> ReleasedReport:
    """Read a released testset and compute its tables."""
    return ReleasedReport(
        project=project,
        testset=chosen.testset,
        released_at=chosen.released_at,
        condition=chosen.condition,
        new=chosen.new,
        old=chosen.old,
        tables=compute_tables(_load(chosen), chosen.classes),
    )


def _load(chosen: ReleasedComparison) -> ReleasedColumns:
    sealed = chosen.sealed
    known = sealed.labels.known(chosen.label_files)
    new, *old = (sealed.predictions.load(name) for name in chosen.predictions)
    return ReleasedColumns(
        ids=sealed.examples.ids,
        labels=known["label"],
        states=known["state"],
        new=new,
        old=old[0] if old else None,
        columns=sealed.examples.load_columns(),
        named=chosen.columns,
    )


def compute_tables(found: ReleasedColumns, declared: Sequence[str] = ()) -> ReleasedTables:
    """All tables from the columns; ``declared`` are the classes of the script. Pure."""
    models = [found.new] if found.old is None else [found.new, found.old]
    labelled, paired = found.labels.is_not_null(), found.old is not None
    predicted = [values.filter(labelled) for values in models]
    classes = common_classes(found.labels, predicted, declared)
    marks = marked(found.labels, found.new, found.old)
    answers = found.states.value_counts(name="count")
    counts: dict[str, int] = dict(answers.iter_rows())
    return ReleasedTables(
        whole=whole_row(marks, paired=paired),
        cannot_tell=counts.get(LabelState.CANNOT_TELL, 0),
        unsettled=counts.get(LabelState.SKIPPED, 0) + counts.get(LabelState.DISPUTED, 0),
        confusion=tuple(confusion_matrix(found.labels, values, classes) for values in models),
        classes=class_rows(found.labels, found.new, found.old, classes),
        slices=slice_rows(found.columns, marks, paired=paired, named=found.named),
        differ=_differing_counts(marks) if paired else None,
        differing=_differing(found, marks),
    )


def _differing_counts(marks: pl.DataFrame) -> DifferingCounts:
    rows = marks.filter("differ")
    labelled, new_right, old_right = (
        int(rows[name].sum()) for name in ("labelled", "new_right", "old_right")
    )
    neither = labelled - new_right - old_right
    return DifferingCounts(len(rows), labelled, new_right, old_right, neither)


def _differing(found: ReleasedColumns, marks: pl.DataFrame) -> pl.DataFrame:
    old = found.new if found.old is None else found.old
    rows = pl.DataFrame({"id": found.ids, "label": found.labels, "new": found.new, "old": old})
    differing = rows.select(DIFFERING).filter(marks["differ"])
    return differing.sort(pl.col("label").is_null(), maintain_order=True)


def released_document(report: ReleasedReport) -> dict[str, Any]:
    """The report as JSON: everything that the tables have, with all examples that differ."""
    tables = report.tables
    return {
        "testset": report.testset,
        "released_at": report.released_at,
        "condition": report.condition,
        "new": _model(report.new),
        "old": None if report.old is None else _model(report.old),
        "whole": asdict(tables.whole),
        "cannot_tell": tables.cannot_tell,
        "unsettled": tables.unsettled,
        "confusion": dict(zip(("new", "old"), map(asdict, tables.confusion), strict=False)),
        "classes": [asdict(row) for row in tables.classes],
        "slices": [asdict(row) for row in tables.slices],
        "differ": None if tables.differ is None else asdict(tables.differ),
        "differing": tables.differing.to_dicts(),
    }


def _model(model: ComparedModel) -> dict[str, Any]:
    return {"commit": model.commit, "subject": model.subject, "step": model.step}
