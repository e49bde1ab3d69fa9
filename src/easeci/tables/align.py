"""Columns joined by id, and turned into the codes of examples."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from easeci.errors import DataError
from easeci.evidence.cells import STATES, Code, LabelState, codes_of
from easeci.evidence.codes import Codes, Flags
from easeci.tables.column import (
    Column,
    Kind,
    comparable,
    named,
    require_unique,
    where,
)
from easeci.tables.order import Positions
from easeci.tables.outputs import Outputs

FEWEST_LABELS = 20
"""Fewer labels than this may all be of classes that no model predicts, if more are missing."""


@dataclass(frozen=True)
class AlignedExamples:
    """The examples of one check, in the order of the new model's predictions."""

    new: Column
    old: Column | None
    labels: pl.Series | None
    """Null where no label is known."""
    cells: Codes

    def ids_at(self, places: Positions) -> pl.Series:
        """The ids of some examples."""
        return self.new.ids.gather(places)


def align(new: Column, old: Column | None, labels: Column | None) -> AlignedExamples:
    """Join predictions and labels by id, in the order of the new model's predictions.

    The old model's predictions must have the same ids; labels may cover a part of them. DataError
    if columns seem to spell the classes differently.
    """
    require_unique(new)
    old = None if old is None else aligned_predictions(new, old)
    known = None if labels is None else aligned_labels(new, labels)
    for first, second in ((new, old), (new, labels), (old, labels)):
        if first is not None and second is not None:
            require_comparable(first, second)
    cells = example_codes(new.values, None if old is None else old.values, known)
    _require_overlap(new, old, labels, cells)
    return AlignedExamples(new, old, known, cells)


def aligned_predictions(new: Column, old: Column, *, name_missing: bool = True) -> Column:
    """``old`` in the order of ``new``, whose ids it must cover exactly, with its ranks.

    Without ``name_missing``, errors name no id that ``old`` lacks: the ids of ``new`` are secret.
    """
    if _same_ids(new, old):
        return old
    frame = old.values.alias("value").to_frame()
    if old.ranks is not None:
        frame = frame.with_columns(old.ranks.values.alias("rank"))
    hint = "Predictions must cover the testset exactly."
    found = aligned_rows(new, old, frame, hint, name_missing=name_missing)
    ranks = old.ranks if old.ranks is None else replace(old.ranks, values=found["rank"])
    return replace(old, ids=new.ids, values=found["value"], ranks=ranks)


def aligned_outputs(new: Column, outputs: Outputs, *, name_missing: bool = True) -> pl.Series:
    """Outputs in the order of ``new``, whose ids they must cover exactly, with all trials."""
    column = Column(outputs.name, new.role, outputs.ids, outputs.ids, outputs.positional)
    places = pl.int_range(len(outputs), eager=True).alias("place").to_frame()
    hint = "Outputs must cover the testset exactly."
    rows = aligned_rows(new, column, places, hint, name_missing=name_missing)
    return outputs.gather(rows["place"])


def aligned_rows(
    new: Column, other: Column, rows: pl.DataFrame, hint: str, *, name_missing: bool = True
) -> pl.DataFrame:
    """The rows of ``other`` in the order of ``new``, whose ids they must cover exactly."""
    if _same_ids(new, other):
        return rows
    require_unique(other)
    ids, other_ids = comparable(new.ids, other.ids)
    missing = ids.filter(~ids.is_in(other_ids.implode()))
    extra = other_ids.filter(~other_ids.is_in(ids.implode()))
    if len(missing):
        lacks = f"{other.name} lacks ids of {new.name}: {len(missing):,}"
        if name_missing:
            lacks += f", first {named(missing)}"
        elif len(extra):
            lacks += f"; ids that it has too many: {len(extra):,}, first {named(extra)}"
        raise DataError(lacks, hint=hint)
    if len(extra):
        raise DataError(
            f"{other.name} has more ids than {new.name}: {len(extra):,}, first {named(extra)}",
            hint=hint,
        )
    return _looked_up(ids, other_ids, rows)


def aligned_labels(new: Column, labels: Column) -> pl.Series:
    """The labels in the order of ``new``, null where none is known. DataError for other ids."""
    if _same_ids(new, labels):
        return labels.values
    require_unique(labels)
    if new.positional and labels.positional:
        raise DataError(
            f"{labels.name}: {len(labels):,} values for {len(new):,} predictions",
            hint="A list needs one value for each example, None where no label is known.",
        )
    new_ids, label_ids = comparable(new.ids, labels.ids)
    unknown = ~label_ids.is_in(new_ids.implode())
    if unknown.any():
        raise DataError(
            f"{labels.name}: labels for ids that are not in {new.name}: {where(labels, unknown)}",
            hint="Labels may cover a part of the testset, but nothing else.",
        )
    return _looked_up(new_ids, label_ids, labels.values.to_frame("value"))["value"]


def _same_ids(first: Column, second: Column) -> bool:
    return (
        len(first) == len(second)
        and first.ids.dtype == second.ids.dtype
        and bool((first.ids == second.ids).all())
    )


def _looked_up(ids: pl.Series, keys: pl.Series, rows: pl.DataFrame) -> pl.DataFrame:
    places = pl.DataFrame({"id": keys}).with_row_index("place")
    found = pl.DataFrame({"id": ids}).join(places, on="id", how="left", maintain_order="left")
    return rows[found["place"]]


def require_comparable(first: Column, second: Column) -> None:
    """Refuse columns of which one has 3.0 and the other 3: people take them for equal."""
    if first.blank or second.blank:
        return
    clash = any(
        one.whole_as_decimals().is_in(other.distinct.cast(pl.String).implode()).any()
        for one, other in ((first, second), (second, first))
        if one.values.dtype != pl.Int64
    )
    if clash or {first.kind, second.kind} == {Kind.WHOLE, Kind.DECIMAL}:
        raise DataError(
            f"{first.name} and {second.name} spell whole numbers differently: 3 and 3.0 are not "
            "the same class",
            hint="Write classes the same way everywhere; pandas turns whole numbers into decimal "
            "ones where values are missing.",
        )


def _require_overlap(new: Column, old: Column | None, labels: Column | None, codes: Codes) -> None:
    """Refuse columns without a common value: the classes are spelt differently."""
    counts = np.array([np.count_nonzero(codes == int(code)) for code in Code])
    present = counts > 0
    labelled = present[: Code.AGREE_UNLABELLED].any()
    complete = not present[Code.AGREE_UNLABELLED :].any()
    if labels is not None and labelled:
        never_right = [
            column
            for column, right in ((new, Code.NEW_RIGHT), (old, Code.OLD_RIGHT))
            if column is not None and not present[[Code.AGREE_RIGHT, right]].any()
        ]
        # A few labels may miss all classes of one model, but not those of both.
        enough = int(counts[: Code.AGREE_UNLABELLED].sum()) >= FEWEST_LABELS
        if complete or (enough and (len(never_right) == 2 or old is None)):
            for column in never_right:
                require_common_value(column, labels)
    if old is not None and not present[list(_AGREE)].any():
        require_common_value(new, old)


_AGREE = (Code.AGREE_RIGHT, Code.AGREE_WRONG, Code.AGREE_UNLABELLED)


def require_common_value(first: Column, second: Column) -> None:
    """Refuse two columns that have no value in common."""
    mine, theirs = comparable(first.distinct, second.distinct)
    if not mine.is_in(theirs.implode()).any():
        raise DataError(
            f"no {first.role.column} in {first.name} is ever equal to any {second.role.column} in "
            f"{second.name}",
            hint=f"{first.name} holds {first.kind}, {second.name} holds {second.kind}. "
            "Are the classes spelt the same way?",
        )


def example_codes(
    new: pl.Series,
    old: pl.Series | None,
    labels: pl.Series | None,
    states: pl.Series | None = None,
) -> Codes:
    """The code of every example: predictions, labels and their states in the same order.

    Without ``states``, every label that is there is known.
    """
    if labels is None:
        labels = pl.repeat(None, len(new), dtype=pl.String, eager=True)
    if states is None:
        places = labels.is_not_null().to_numpy() * np.uint8(_PLACES[LabelState.LABEL])
    else:
        places = states.replace_strict(_PLACES, default=0, return_dtype=pl.UInt8).to_numpy()
    return codes_of(
        places,
        differ=False if old is None else ~_equal(new, old),
        new_right=_equal(new, labels),
        old_right=False if old is None else _equal(old, labels),
    )


_PLACES = {state: place for place, state in enumerate(STATES) if state is not None}


def _equal(first: pl.Series, second: pl.Series) -> Flags:
    """Where two columns are equal; null is equal to nothing."""
    one, other = comparable(first, second)
    return (one == other).fill_null(False).to_numpy()
