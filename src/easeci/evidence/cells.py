"""The codes of n, o and d: from two predictions and a label to one of nine small integers.

Five are the cells (:mod:`easeci.script.outcomes`). The other four only say whether the models
agree: two for examples without a label yet, two for examples whose label is unsettled
(:mod:`easeci.evidence.codes`).
"""

from __future__ import annotations

from enum import IntEnum, StrEnum
from itertools import product

import numpy as np
import numpy.typing as npt

from easeci.evidence.codes import Codes, Flags, in_groups
from easeci.script.outcomes import CELLS, Cell


class Code(IntEnum):
    """What is known of one example."""

    AGREE_RIGHT = 0
    AGREE_WRONG = 1
    NEW_RIGHT = 2
    OLD_RIGHT = 3
    BOTH_WRONG = 4
    AGREE_UNLABELLED = 5
    DIFFER_UNLABELLED = 6
    AGREE_UNSETTLED = 7
    DIFFER_UNSETTLED = 8


class LabelState(StrEnum):
    """What is known of a label. The first two are known; the others are unsettled."""

    LABEL = "label"
    CANNOT_TELL = "cannot tell"
    SKIPPED = "skipped"
    DISPUTED = "disputed"


def code_of(state: LabelState | None, *, differ: bool, new_right: bool, old_right: bool) -> Code:
    """The rule that turns two predictions and a label into the code of an example.

    ``state`` is None while the label is missing. Where labellers cannot tell what is right, neither
    model is. Models that agree are right or wrong together, so there only ``new_right`` counts.
    """
    if state is None:
        return Code.DIFFER_UNLABELLED if differ else Code.AGREE_UNLABELLED
    if state in (LabelState.SKIPPED, LabelState.DISPUTED):
        return Code.DIFFER_UNSETTLED if differ else Code.AGREE_UNSETTLED
    if state is LabelState.CANNOT_TELL:
        return Code.BOTH_WRONG if differ else Code.AGREE_WRONG
    if not differ:
        return Code.AGREE_RIGHT if new_right else Code.AGREE_WRONG
    if new_right:
        return Code.NEW_RIGHT
    return Code.OLD_RIGHT if old_right else Code.BOTH_WRONG


STATES = (None, *LabelState)
"""What a label can be. In columns, a state is a number: its place here."""

CODE_OF = {cell: Code[cell.name] for cell in Cell}

_CASES = product(STATES, (False, True), (False, True), (False, True))
_RULE = np.array(
    [code_of(s, differ=d, new_right=n, old_right=o) for s, d, n, o in _CASES], np.uint8
)
"""The rule as a table, for columns: state, differ, new_right and old_right make up the index."""


def codes_of(
    states: npt.NDArray[np.uint8],
    *,
    differ: Flags | bool,
    new_right: Flags | bool,
    old_right: Flags | bool,
) -> Codes:
    """The codes of many examples, each by :func:`code_of`. States are places in ``STATES``."""
    return np.asarray(_RULE[((states * 2 + differ) * 2 + new_right) * 2 + old_right])


def differs(codes: Codes) -> Flags:
    """Where the models differ, with or without a label."""
    return in_groups(codes, CELLS, [1])
