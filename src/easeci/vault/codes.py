"""The evidence for verdicts: the code of every example, from predictions and labels."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

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


def require_known_classes(testset: SealedTestset, name: str, label_files: Sequence[str]) -> None:
    """Refuse predictions that cannot be compared with the labels.

    They are refused if they spell classes differently (3.0 and 3), or if all labels are known and
    no prediction occurs among them. Only the sets of classes are compared, never single examples.
    With one class among the labels, the second check would tell which one it is.
    """
    ids = testset.examples.ids
    labels = Column("the labels", ColumnRole.LABELS, ids, testset.labels.values(label_files))
    if labels.blank:
        return
    made = Column("the predictions", ColumnRole.NEW, ids, testset.predictions.load(name))
    require_comparable(made, labels)
    if labels.values.null_count() == 0 and len(labels.distinct) > 1:
        require_common_value(made, labels)
