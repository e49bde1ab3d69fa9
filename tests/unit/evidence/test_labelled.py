"""Codes of a testset while labels come in."""

from __future__ import annotations

import numpy as np
import pytest

from easeci.evidence.cells import Code, Counts, differs
from easeci.evidence.labelled import WINDOW, LabelledCodes


def test_labels_along_a_long_testset() -> None:
    """Counts and the first gap of each track are those of the codes, over many windows."""
    generator = np.random.default_rng(3)
    truth = generator.choice(5, 5 * WINDOW, p=[0.5, 0.2, 0.1, 0.1, 0.1]).astype(np.uint8)
    missing = [Code.DIFFER_UNLABELLED if d else Code.AGREE_UNLABELLED for d in differs(truth)]
    testset = LabelledCodes(np.array(missing, np.uint8))
    assert testset.everything.gap == testset.differing.gap == 0
    order = np.concatenate([np.arange(1, len(truth)), [0]])
    for position in order:
        testset.put(int(position), Code(int(truth[position])))
    assert testset.everything.complete
    assert testset.differing.complete
    assert testset.counts == Counts.of(truth)
    testset.put(3 * WINDOW, missing[3 * WINDOW])
    assert testset.everything.gap == 3 * WINDOW
    assert not testset.everything.complete
    np.testing.assert_array_equal(
        testset.differing.codes, testset.codes[testset.differing.positions]
    )


def test_the_codes_given_are_not_touched_and_models_differ_for_good() -> None:
    codes = np.array([Code.AGREE_UNLABELLED] * 3, np.uint8)
    testset = LabelledCodes(codes)
    testset.put(1, Code.AGREE_RIGHT)
    assert set(codes) == {Code.AGREE_UNLABELLED}
    with pytest.raises(ValueError, match="differ"):
        testset.put(1, Code.NEW_RIGHT)
