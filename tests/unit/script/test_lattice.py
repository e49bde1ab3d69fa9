"""Lattices of combined scores."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.script.lattice import (
    MOST_POINTS,
    STEPS_A_TOLERANCE,
    Lattice,
    ScoreTerm,
    Scoring,
)

NEW, OLD = ScoreTerm("n"), ScoreTerm("o")
weights = st.fractions(-3, 3, max_denominator=20).filter(bool)
tolerances = st.fractions(Fraction(1, 500), Fraction(1, 4), max_denominator=1000).filter(bool)


def lattice(new: Fraction, old: Fraction, tolerance: Fraction, scoring: Scoring) -> Lattice:
    terms = {term: weight for term, weight in ((NEW, new), (OLD, old)) if weight}
    return Lattice.of(terms, Fraction(0), tolerance, scoring)


@given(weights, weights, tolerances)
def test_steps_are_narrow_and_points_are_few(
    new: Fraction, old: Fraction, tolerance: Fraction
) -> None:
    found = lattice(new, old, tolerance, Scoring())
    span = abs(new) + abs(old)
    assert found.parts * span <= MOST_POINTS
    fine = found.step * STEPS_A_TOLERANCE <= tolerance
    assert fine or (found.parts + 1) * span > MOST_POINTS


@given(weights, weights, tolerances, st.sampled_from([1, 2, 3, 7]))
@settings(max_examples=25)
def test_points_cover_what_a_score_can_be(
    new: Fraction, old: Fraction, tolerance: Fraction, trials: int
) -> None:
    """In each group, points rise from the least to the greatest combined score."""
    found = lattice(new, old, tolerance, Scoring(trials=trials))
    together, apart = ([found.values[point] for point in group] for group in found.alphabet.groups)
    assert (min(together), max(together)) == (min(new + old, 0), max(new + old, 0))
    zero = Fraction(0)
    assert min(apart) == min(new, zero) + min(old, zero)
    assert max(apart) == max(new, zero) + max(old, zero)
    assert together == sorted(together)
    assert apart == sorted(apart)


def test_equal_outputs_cancel_in_a_difference() -> None:
    found = lattice(Fraction(1), Fraction(-1), Fraction(1, 100), Scoring())
    assert found.alphabet.sizes[0] == 1
    assert found.values[0] == 0


@given(st.integers(1, 12), st.data())
def test_right_and_wrong_trials_are_points(trials: int, data: st.DataObject) -> None:
    """Where outputs score 0 or 1, no combined score lies between two points."""
    best_of = data.draw(st.one_of(st.none(), st.integers(1, trials)))
    term = ScoreTerm("n", best_of=best_of)
    scoring = Scoring(trials=trials, all_or_nothing=True)
    found = Lattice.of({term: Fraction(1)}, Fraction(0), Fraction(1, 50), scoring)
    if found.exact:
        from math import comb

        k = best_of or 1
        for passed in range(trials + 1):
            value = Fraction(passed, trials)
            if best_of is not None:
                value = 1 - Fraction(comb(trials - passed, k), comb(trials, k))
            assert value in found.values


def test_one_group_where_only_one_model_counts() -> None:
    found = Lattice.of({NEW: Fraction(1)}, Fraction(0), Fraction(1, 50), Scoring())
    assert len(found.alphabet.sizes) == 1
    assert not found.needs_old_model
