"""The five cells and their scores, against every possible label and pair of predictions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from easeci.script.outcomes import AGREEING, DIFFERING, Cell
from easeci.script.score import Score
from tests.cases import each_case


def test_five_cells_are_all_that_three_classes_can_show() -> None:
    """Every combination of a label and two predictions falls into one of the five cells."""
    seen = {
        (int(new == label), int(old == label), int(new != old))
        for label, new, old in product(range(3), repeat=3)
    }
    assert seen == {cell.value for cell in Cell}
    assert {c.value[2] for c in AGREEING} == {0}
    assert {c.value[2] for c in DIFFERING} == {1}
    assert set(AGREEING) | set(DIFFERING) == set(Cell)


coefficients = [Fraction(c) for c in (-1, 0, 1, 2)]


@each_case("a", coefficients)
@each_case("b", coefficients)
@each_case("e", coefficients)
def test_a_label_matters_exactly_if_it_can_change_the_score(
    a: Fraction, b: Fraction, e: Fraction
) -> None:
    """A label matters exactly if some pair of predictions has two scores for two labels."""
    score = Score.linear(a, b, e)

    def scores(new: int, old: int) -> set[Fraction]:
        return {a * (new == y) + b * (old == y) + e * (new != old) for y in range(3)}

    assert score.needs_labels == (len(scores(0, 0)) > 1 or len(scores(0, 1)) > 1)
    reached = {s for new, old in product(range(3), repeat=2) for s in scores(new, old)}
    assert (score.lowest, score.highest) == (min(reached), max(reached))


@each_case(
    ("score", "text"),
    [
        (Score.linear(Fraction(1), Fraction(-1), Fraction(0)), "n - o"),
        (Score.linear(Fraction(-1), Fraction(0), Fraction(2)), "-n + 2 * d"),
        (Score.linear(Fraction(1), Fraction(-11, 10), Fraction(0)), "n - 1.1 * o"),
        (Score.linear(Fraction(0), Fraction(0), Fraction(0)), "0"),
    ],
)
def test_a_score_reads_as_written(score: Score, text: str) -> None:
    assert str(score) == text
