"""What verdicts are made of: the code of every example, from predictions and labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from easeci.evidence.cells import Code, Codes, LabelState, differs
from easeci.tables import Column, ColumnRole, align
from easeci.tables.align import require_common_value, require_comparable
from easeci.vault.testset import SealedTestset

_CODES = {
    LabelState.CANNOT_TELL: (Code.AGREE_WRONG, Code.BOTH_WRONG),
    LabelState.SKIPPED: (Code.AGREE_UNSETTLED, Code.DIFFER_UNSETTLED),
    LabelState.DISPUTED: (Code.AGREE_UNSETTLED, Code.DIFFER_UNSETTLED),
}
"""The codes of examples without a label, where the models agree and where they differ. If nobody
can tell what is right, neither model is."""


def load_codes(
    testset: SealedTestset, new: str, old: str | None, label_files: Sequence[str]
) -> Codes:
    """The code of every example, in the secret order. ``new`` and ``old`` are stored names."""
    before, known = None, testset.labels.known(label_files)
    predictions = testset.predictions
    if old is not None:
        before = _column(testset, "the old predictions", predictions.load(old), ColumnRole.OLD)
    aligned = align(
        _column(testset, "the new predictions", predictions.load(new)),
        before,
        _column(testset, "the labels", known["label"], ColumnRole.LABELS),
        suspicious=False,  # a step that is charged must be decided
    )
    codes = aligned.codes
    for state, (agreeing, differing) in _CODES.items():
        rows = (known["state"] == state).fill_null(False).to_numpy()
        if rows.any():
            instead = np.where(differs(codes[rows]), differing, agreeing)
            codes = codes.copy()
            codes[rows] = instead.astype(np.uint8)
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
    differ = old is not None and old[row] != new[row]
    if state in _CODES:
        return _CODES[state][differ]
    if not differ:
        return Code.AGREE_RIGHT if new[row] == label else Code.AGREE_WRONG
    if new[row] == label:
        return Code.NEW_RIGHT
    return Code.OLD_RIGHT if old is not None and old[row] == label else Code.BOTH_WRONG


def require_known_classes(testset: SealedTestset, name: str, label_files: Sequence[str]) -> None:
    """Refuse predictions that are spelt in another way than the labels (3.0 and 3), and, where
    all labels are known, predictions that are never any of them.

    It looks at which classes there are and never at which example has which, and a single
    class would say too much.
    """
    values = testset.labels.values(label_files)
    labels = _column(testset, "the labels", values, ColumnRole.LABELS)
    if labels.blank:
        return
    made = _column(testset, "the predictions", testset.predictions.load(name))
    require_comparable(made, labels)
    if labels.values.null_count() == 0 and len(labels.distinct) > 1:
        require_common_value(made, labels)


def _column(
    testset: SealedTestset, name: str, values: pl.Series, role: ColumnRole = ColumnRole.NEW
) -> Column:
    return Column(name, role, testset.examples.ids, values)
