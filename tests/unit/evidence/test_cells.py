"""The rule that turns two predictions and a label into the code of an example."""

from __future__ import annotations

from itertools import product

import numpy as np

from easeci.evidence.cells import STATES, Code, LabelState, code_of, codes_of
from easeci.script.outcomes import Cell

FLAGS = (False, True)
CASES = list(product(STATES, FLAGS, FLAGS, FLAGS))


def test_a_known_label_gives_the_cell_with_these_values() -> None:
    """A cell is named by n, o and d, and two predictions that are possible have one."""
    possible = 0
    for new_right, old_right, differ in product(FLAGS, FLAGS, FLAGS):
        if new_right == old_right if not differ else not (new_right and old_right):
            cell = Cell((new_right, old_right, differ))
            code = code_of(
                LabelState.LABEL, differ=differ, new_right=new_right, old_right=old_right
            )
            assert code is Code[cell.name]
            possible += 1
    assert possible == len(Cell)


def test_without_an_old_model_only_the_new_one_counts() -> None:
    for right, code in ((False, Code.AGREE_WRONG), (True, Code.AGREE_RIGHT)):
        assert code_of(LabelState.LABEL, differ=False, new_right=right, old_right=False) is code


def test_without_a_label_only_the_difference_counts() -> None:
    """If nobody can tell what is right, both models are wrong."""
    expected = {
        None: (Code.AGREE_UNLABELLED, Code.DIFFER_UNLABELLED),
        LabelState.CANNOT_TELL: (Code.AGREE_WRONG, Code.BOTH_WRONG),
        LabelState.SKIPPED: (Code.AGREE_UNSETTLED, Code.DIFFER_UNSETTLED),
        LabelState.DISPUTED: (Code.AGREE_UNSETTLED, Code.DIFFER_UNSETTLED),
    }
    assert {*expected, LabelState.LABEL} == set(STATES)
    for state, differ, new_right, old_right in CASES:
        if state in expected:
            code = code_of(state, differ=differ, new_right=new_right, old_right=old_right)
            assert code is expected[state][differ]


def test_a_column_has_the_codes_of_its_examples() -> None:
    """The rule for columns gives the same codes as the rule for one example."""
    states, differ, new_right, old_right = (np.array(column) for column in zip(*CASES, strict=True))
    places = np.array([STATES.index(state) for state in states], np.uint8)
    codes = codes_of(places, differ=differ, new_right=new_right, old_right=old_right)
    assert codes.dtype == np.uint8
    assert codes.tolist() == [
        code_of(s, differ=d, new_right=n, old_right=o) for s, d, n, o in CASES
    ]
