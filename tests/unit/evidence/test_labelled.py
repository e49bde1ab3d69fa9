"""Codes of a testset while labels come in."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from easeci.evidence.bets import Floats
from easeci.evidence.cells import Code, differs
from easeci.evidence.codes import Codes, Counts
from easeci.evidence.facts import LABELS, RankColumns
from easeci.evidence.labelled import WINDOW, BlockTrack, LabelledCodes
from easeci.script.score import Blocks
from tests.cases import each_case


def test_labels_along_a_long_testset() -> None:
    """Counts and the first gap of each track are those of the codes, over many windows."""
    generator = np.random.default_rng(3)
    truth = generator.choice(5, 5 * WINDOW, p=[0.5, 0.2, 0.1, 0.1, 0.1]).astype(np.uint8)
    missing = [Code.DIFFER_UNLABELLED if d else Code.AGREE_UNLABELLED for d in differs(truth)]
    testset = LabelledCodes(np.array(missing, np.uint8))
    everything, differing = testset.track(frozenset([0, 1])), testset.track(frozenset([1]))
    assert everything.gap == differing.gap == 0
    order = np.concatenate([np.arange(1, len(truth)), [0]])
    for position in order:
        testset.put(int(position), Code(int(truth[position])))
    assert everything.complete
    assert differing.complete
    assert testset.counts == Counts.of(truth)
    testset.put(3 * WINDOW, missing[3 * WINDOW])
    assert everything.gap == 3 * WINDOW
    assert not everything.complete
    np.testing.assert_array_equal(differing.codes, testset.codes[differing.positions])


def test_the_codes_given_are_not_touched_and_models_differ_for_good() -> None:
    codes = np.array([Code.AGREE_UNLABELLED] * 3, np.uint8)
    testset = LabelledCodes(codes)
    testset.put(1, Code.AGREE_RIGHT)
    assert set(codes) == {Code.AGREE_UNLABELLED}
    with pytest.raises(ValueError, match="group"):
        testset.put(1, Code.NEW_RIGHT)


# -- blocks


def block_track(
    labels: Codes, blocks: Blocks, new: Floats, old: Floats | None = None, at_hand: bool = False
) -> tuple[LabelledCodes, BlockTrack]:
    hand = np.ones(len(labels), bool) if at_hand else None
    testset = LabelledCodes(labels, hand, LABELS)
    return testset, testset.block_track(blocks, RankColumns(new, old))


def block_scores(track: BlockTrack, blocks: Blocks) -> list[Fraction]:
    return [blocks.values[int(code)] for code in track.known]


@each_case("shape", [(1, 1), (2, 2), (1, 4), (3, 1)])
@each_case("factors", [(1, 0), (1, -1), (-1, 0), (-1, 1), (0, 1)])
@each_case("seed", range(3))
def test_blocks_are_disjoint_and_count_pairs(
    shape: tuple[int, int], factors: tuple[int, int], seed: int
) -> None:
    """Block j has the j-th few examples of each kind; a tie counts half."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, 80).astype(np.uint8)
    new, old = (random.integers(0, 4, 80).astype(float) for _ in range(2))
    blocks = Blocks("k", *shape, *(Fraction(factor) for factor in factors))
    _, track = block_track(labels, blocks, new, old)
    positive, negative = (np.flatnonzero(labels == kind) for kind in (0, 1))
    count = min(len(positive) // shape[0], len(negative) // shape[1])
    expected, ends = [], []
    for j in range(count):
        first = positive[j * shape[0] : (j + 1) * shape[0]]
        second = negative[j * shape[1] : (j + 1) * shape[1]]
        shares = [
            sum(
                Fraction(1) if ranks[p] > ranks[q] else Fraction(int(ranks[p] == ranks[q]), 2)
                for p in first
                for q in second
            )
            / (shape[0] * shape[1])
            for ranks in (new, old)
        ]
        expected.append(sum(factor * share for factor, share in zip(factors, shares, strict=True)))
        ends.append(int(max(first[-1], second[-1])) + 1)
    assert block_scores(track, blocks) == expected
    for labels_used in range(81):
        assert track.units_within(labels_used) == sum(end <= labels_used for end in ends)
    for units in range(1, count + 1):
        assert track.labels_for(units) == ends[units - 1]


def test_the_negative_of_blocks_has_the_negative_scores_in_the_same_outcomes() -> None:
    for factors in ((1, 0), (1, -1), (0, 1), (2, -1)):
        blocks = Blocks("k", 2, 2, Fraction(factors[0]), Fraction(factors[1]))
        negative = -blocks
        assert negative.values == tuple(-value for value in blocks.values)
        assert (-negative).values == blocks.values


def test_an_unsettled_label_stops_the_blocks_until_it_is_settled() -> None:
    labels = np.array([0, 1] * 10, np.uint8)
    scores = np.arange(20.0)
    blocks = Blocks("k", 1, 1, Fraction(1), Fraction(0))
    testset, track = block_track(labels, blocks, scores)
    whole = block_scores(track, blocks)
    testset.put(7, LABELS.unsettled(0))
    assert track.gap == 7
    assert block_scores(track, blocks) == whole[:3]
    assert not track.complete
    testset.put(7, 1)
    assert block_scores(track, blocks) == whole
    testset.put(7, 0)
    # One more positive example in front moves all later ones.
    assert block_scores(track, blocks) != whole


@each_case("at_hand", [False, True])
def test_moments_of_blocks_are_those_at_which_a_label_has_to_be_asked_for(at_hand: bool) -> None:
    labels = np.array([0, 0, 1, 1, 0, 1, LABELS.unlabelled(0), 1], np.uint8)
    blocks = Blocks("k", 1, 1, Fraction(1), Fraction(0))
    _, track = block_track(labels, blocks, np.arange(8.0), at_hand=at_hand)
    moments = track.unit_moments()
    if not at_hand:
        assert moments is None
        assert track.first_moment(2) == 4
        return
    # All labels up to the missing one were at hand, so nothing was asked for before it.
    assert moments is not None
    assert list(moments) == [False, False, False, True]
    assert track.first_moment(0) == track.first_moment(3) == 6
    assert track.fewest_labels(1) == 2
