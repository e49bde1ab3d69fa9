"""The evidence for verdicts: the code of every example, from predictions and labels."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from easeci.errors import DataError
from easeci.evidence.cells import Code, Codes, LabelState, code_of
from easeci.tables.align import example_codes, require_common_value, require_comparable
from easeci.tables.column import Column, ColumnRole
from easeci.vault.testset import SealedTestset


def load_codes(
    testset: SealedTestset, new: str, old: str | None, label_files: Sequence[str]
) -> Codes:
    """The code of every example, in the secret order. ``new`` and ``old`` are stored names.

    It never refuses odd classes: a step that is charged must be decided.
    """
    known = testset.labels.known(label_files)
    codes = example_codes(
        testset.predictions.load(new),
        None if old is None else testset.predictions.load(old),
        known["label"],
        known["state"],
    )
    return codes[testset.examples.order]


def code_of_answer(
    testset: SealedTestset,
    position: int,
    state: LabelState,
    label: str | None,
    new: pl.Series,
    old: pl.Series | None,
) -> Code:
    """The code that one answer gives to an example, as :func:`load_codes` would.

    ``new`` and ``old`` are predictions in the order of the file.
    """
    row = int(testset.examples.order[position])
    made, before = new[row], None if old is None else old[row]
    return code_of(
        state,
        differ=before is not None and before != made,
        new_right=made == label,
        old_right=before == label,
    )


def class_warning(testset: SealedTestset, name: str, label_files: Sequence[str]) -> str | None:
    """A warning for the owner if predictions seem to spell classes in another way than labels do.

    They spell them differently (3.0 and 3), or all labels are known and no prediction occurs among
    them. It is never a reason to refuse predictions: that would tell developers about labels.
    """
    ids = testset.examples.ids
    labels = Column("the labels", ColumnRole.LABELS, ids, testset.labels.values(label_files))
    if labels.blank:
        return None
    made = Column("the predictions", ColumnRole.NEW, ids, testset.predictions.load(name))
    try:
        require_comparable(made, labels)
        if labels.values.null_count() == 0 and len(labels.distinct) > 1:
            require_common_value(made, labels)
    except DataError as found:
        return f"{found.message}. {found.hint}"
    return None
