"""Scores of outputs as codes: placed on a lattice, they never gain."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from easeci import make_script
from easeci.evidence.cells import Code
from easeci.evidence.codes import Counts, at_worst
from easeci.evidence.facts import Facts, Known, lattice_codes
from easeci.evidence.labelled import LabelledTestset
from easeci.evidence.trials import example_scores
from easeci.script.lattice import Lattice, ScoreTerm, Scoring

NEW, OLD = ScoreTerm("n"), ScoreTerm("o")
scores = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.3, 1 / 3, 0.5, 1.0]))
weights = st.sampled_from([Fraction(1), Fraction(-1), Fraction(11, 10), Fraction(-11, 10)])


def placed(lattice: Lattice, new: float, old: float, *, differ: bool) -> tuple[float, float]:
    """The lower and the upper point that tests use for a combined score."""
    cells = np.array([Code.BOTH_WRONG if differ else Code.AGREE_WRONG], np.uint8)
    codes = lattice_codes(lattice, cells, {NEW: np.array([new]), OLD: np.array([old])})
    table = lattice.values
    negative = tuple(-entry for entry in table)
    low, high = (at_worst(codes, lattice.alphabet, one)[0] for one in (table, negative))
    return float(table[low]), float(table[high])


@given(scores, scores, weights, weights, st.sampled_from(["0.01", "0.05", "0.2"]), st.booleans())
@settings(max_examples=100)
def test_a_score_on_the_lattice_never_gains(
    new: float, old: float, first: Fraction, second: Fraction, tolerance: str, differ: bool
) -> None:
    """Down for the proof, up for futility and claim, by less than one step; points are exact."""
    old = old if differ else new
    lattice = Lattice.of({NEW: first, OLD: second}, Fraction(0), Fraction(tolerance), Scoring())
    low, high = placed(lattice, new, old, differ=differ)
    combined = float(first) * new + float(second) * old
    assert low <= combined + 1e-12
    assert high >= combined - 1e-12
    assert high - low <= float(lattice.step) + 1e-12
    nearest = round(combined * lattice.parts) / lattice.parts
    if abs(combined - nearest) <= 1e-15:
        assert low == high


def test_usual_fractions_are_points() -> None:
    """Tenths, quarters and thirds lose nothing, although their floating-point sums are inexact."""
    lattice = Lattice.of(
        {NEW: Fraction(1), OLD: Fraction(-1)}, Fraction(0), Fraction(1, 100), Scoring()
    )
    values = [k / n for n in (2, 3, 4, 5, 6, 10, 12) for k in range(n + 1)]
    new, old = (np.array(column) for column in zip(*combinations(values, 2), strict=True))
    cells = np.full(len(new), Code.BOTH_WRONG, np.uint8)
    codes = lattice_codes(lattice, cells, {NEW: new, OLD: old})
    assert (codes < lattice.alphabet.outcomes).all()
    points = np.array([float(value) for value in lattice.values])[codes]
    assert np.allclose(points, new - old, rtol=0.0, atol=1e-12)


def facts_of(new: list[float], old: list[float], cells: list[int]) -> Facts:
    return Facts(np.array(cells, np.uint8), scores={NEW: np.array(new), OLD: np.array(old)})


CLAUSE = make_script("n - o > 0.05 +/- 0.05", scorer="./score.py").clauses[0]
examples = st.lists(st.tuples(scores, scores, st.sampled_from([1, 4, 5, 6, 7, 8])), max_size=30)


@given(examples, examples)
@settings(max_examples=60)
def test_labels_that_come_in_lead_to_the_same_codes(
    before: list[tuple[float, float, int]], after: list[tuple[float, float, int]]
) -> None:
    """Putting what is known one by one gives the codes of what is known at last."""
    size = min(len(before), len(after))
    groups = [cell in (4, 6, 8) for _, _, cell in before[:size]]

    def columns(rows: list[tuple[float, float, int]]) -> Facts:
        cells = [
            {1: 4, 4: 4, 5: 6, 6: 6, 7: 8, 8: 8}[cell]
            if differ
            else {1: 1, 4: 1, 5: 5, 6: 5, 7: 7, 8: 7}[cell]
            for (_, _, cell), differ in zip(rows, groups, strict=True)
        ]
        new = [n for n, _, _ in rows]
        old = [o if differ else n for (n, o, _), differ in zip(rows, groups, strict=True)]
        return facts_of(new, old, cells)

    first, last = columns(before[:size]), columns(after[:size])
    testset = LabelledTestset(first)
    testset.reading(CLAUSE.score)
    for position in range(size):
        testset.put(position, last.known_at(position))
    assert (testset.reading(CLAUSE.score).codes == last.codes(CLAUSE.score)).all()


def test_what_is_not_known_waits_or_is_unsettled() -> None:
    """No label yet: the walk waits. A label without a score: unsettled, and counted at its worst."""
    facts = facts_of([0.5, math.nan, math.nan, 0.5], [0.25, 0.2, 0.1, 0.2], [4, 6, 4, 8])
    score = CLAUSE.score
    codes = facts.codes(score)
    alphabet = score.alphabet
    assert codes[1] == alphabet.unlabelled(1)
    assert codes[2] == codes[3] == alphabet.unsettled(1)
    counts = Counts.of(codes, alphabet)
    assert counts.unsettled == 2
    low, high = counts.worst_cases(score)
    known = codes[[0, 2, 3]]
    lowest, highest = (
        Counts.of(at_worst(known, alphabet, t), alphabet)
        for t in (score.ratio.numerator, (-score.ratio).numerator)
    )
    assert lowest.mean(score) == Fraction(1, 3) * (Fraction(1, 4) - 2)
    assert highest.mean(score) == Fraction(1, 3) * (Fraction(1, 4) + 2)
    assert low.by_code[alphabet.unsettled(1)] == high.by_code[alphabet.unsettled(1)] == 0
    assert facts.code_at(0, Known(Code.BOTH_WRONG, scores=(0.75, 0.5)), score) == codes[0]


@given(st.integers(1, 7), st.data())
def test_pass_at_k_is_the_share_of_choices_with_a_pass(made: int, data: st.DataObject) -> None:
    """By going through all choices of k of the trials."""
    trials = data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=made, max_size=made))
    k = data.draw(st.integers(1, made))
    choices = list(combinations(trials, k))
    share = sum(any(one == 1.0 for one in chosen) for chosen in choices) / len(choices)
    assert math.isclose(example_scores(np.array([trials]), k)[0], share, abs_tol=1e-12)
    assert math.isclose(example_scores(np.array([trials]))[0], sum(trials) / made, abs_tol=1e-12)


def test_an_unknown_trial_leaves_the_example_unknown() -> None:
    trials = np.array([[1.0, math.nan], [1.0, 0.0]])
    assert np.isnan(example_scores(trials)).tolist() == [True, False]
    assert np.isnan(example_scores(trials, 2)).tolist() == [True, False]
