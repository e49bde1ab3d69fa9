"""Testsets of scored outputs, drawn at a value of their mean score or difference.

Every example is of one of two kinds, with scores of known means. The share of the second kind gives
the testset its value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from easeci.evidence.bets import Floats
from easeci.evidence.cells import Code
from easeci.evidence.facts import Facts
from easeci.evidence.trials import example_scores
from easeci.script import Score
from easeci.script.lattice import ScoreTerm
from tests.guarantee.measured_worlds import World

TrialScores = Callable[[np.random.Generator, int], tuple[Floats, Floats]]
"""Draws the scores of the new and the old model for so many examples, shape (examples, trials)."""


@dataclass(frozen=True)
class Kind:
    """One kind of example: how its scores are drawn, and the mean of the clause's score on it."""

    draw: TrialScores
    mean: float


@dataclass(frozen=True)
class ScoredWorld(World):
    """Examples of two kinds. ``equal`` of them have the same output from both models."""

    low: Kind
    high: Kind
    equal: float = 0.0

    def draw(self, value: float, random: np.random.Generator, skip: Score | None) -> Facts:
        lattice = self.clause.score.lattice
        assert lattice is not None
        same = random.random(self.size) < self.equal
        differing = value / (1.0 - self.equal)
        share = (differing - self.low.mean) / (self.high.mean - self.low.mean)
        assert 0.0 <= share <= 1.0
        second = (random.random(self.size) < share)[:, None]
        (low_new, low_old), (high_new, high_old) = (
            kind.draw(random, self.size) for kind in (self.low, self.high)
        )
        new, old = np.where(second, high_new, low_new), np.where(second, high_old, low_old)
        old = np.where(same[:, None], new, old)
        scores = {
            term: example_scores(new if term.model == "n" else old, term.best_of)
            for term, _ in lattice.terms
        }
        cells = np.where(same, Code.AGREE_WRONG, Code.BOTH_WRONG).astype(np.uint8)
        if skip is not None:
            combined = _combined(self.clause.score, scores)
            hurts = combined < value if skip.ratio == self.clause.score.ratio else combined > value
            skipped = hurts & (random.random(self.size) < 0.3)
            cells[skipped & same], cells[skipped & ~same] = 7, 8
        return Facts(cells, scores=scores)


def _combined(score: Score, scores: dict[ScoreTerm, Floats]) -> Floats:
    assert score.lattice is not None
    columns = [float(weight) * scores[term] for term, weight in score.lattice.terms]
    return np.asarray(np.sum(columns, axis=0))


def judged(new: tuple[float, float], old: tuple[float, float]) -> Kind:
    """Continuous scores of a judge, by two Beta laws that share some of their luck."""

    def draw(random: np.random.Generator, size: int) -> tuple[Floats, Floats]:
        shared = random.random(size) < 0.5
        first, second = random.beta(*old, size), random.beta(*new, size)
        # Where luck is shared, both rise together: both laws by the order of their draws.
        ranks = np.argsort(np.argsort(first))
        together = np.sort(random.beta(*new, size))[ranks]
        return np.where(shared, together, second)[:, None], first[:, None]

    return Kind(draw, new[0] / sum(new) - old[0] / sum(old))


def graded(new: tuple[float, ...], old: tuple[float, ...]) -> Kind:
    """Grades 0, 1/4, 1/2, 3/4 and 1 with these probabilities."""
    grades = np.arange(5) / 4.0

    def draw(random: np.random.Generator, size: int) -> tuple[Floats, Floats]:
        return tuple(random.choice(grades, (size, 1), p=law) for law in (new, old))  # type: ignore[return-value]

    return Kind(draw, float(grades @ np.array(new) - grades @ np.array(old)))


def repeated(new: tuple[float, float], trials: int, best_of: int | None = None) -> Kind:
    """Trials that are right or wrong, with a chance of their own for each example (a Beta law)."""
    a, b = new

    def draw(random: np.random.Generator, size: int) -> tuple[Floats, Floats]:
        chance = random.beta(a, b, (size, 1))
        made = (random.random((size, trials)) < chance).astype(np.float64)
        return made, np.zeros_like(made)

    failing = 1.0
    for k in range(best_of or 1):
        failing *= (b + k) / (a + b + k)
    return Kind(draw, 1.0 - failing)


def at_the_ends(new: float, old: float) -> Kind:
    """Nearly all scores are 0 or 1; one in fifty lies anywhere in between."""

    def scores(random: np.random.Generator, size: int, mean: float) -> Floats:
        ends = (random.random((size, 1)) < mean).astype(np.float64)
        between = random.random((size, 1))
        return np.where(random.random((size, 1)) < 0.02, between, ends)

    def draw(random: np.random.Generator, size: int) -> tuple[Floats, Floats]:
        return scores(random, size, new), scores(random, size, old)

    return Kind(draw, 0.98 * (new - old))
