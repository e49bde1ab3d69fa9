"""Scores of outputs on a lattice: the combined score of a clause, as one of many outcomes.

A scorer gives each output a score from 0 to 1. A clause such as ``n - 1.1 * o`` combines the scores
of an example's outputs to one number. That number is placed on a lattice of equally spaced points.
A number between two points is in a *gap*. Every test counts it at the point that is worse for the
test, as it counts an unsettled label at its worst. So placing a score never makes an error that a
test bounds more probable (:mod:`easeci.evidence.codes` has the proof). The combined score is placed
as a whole: the difference of two rounded scores can be larger than the difference itself.

Equal outputs have equal scores. So there are two groups of examples: the outputs of the two models
are equal, or they differ. For ``n - o`` the score of equal outputs is 0, and they need no label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, comb, floor, lcm

from easeci.script.outcomes import Alphabet
from easeci.script.scorer import MAIN_SCORE

STEPS_A_TOLERANCE = 16
"""A step of the lattice is at most the tolerance divided by this: narrower ones save nothing."""
USUAL_PARTS = 60
"""Halves, thirds, quarters, fifths, sixths and tenths are points of every lattice."""
MOST_POINTS = 8_000
"""With more points, tables get large and slow."""


@dataclass(frozen=True)
class ScoreTerm:
    """The score of a model (n or o) that is averaged over examples.

    An example's score is the mean over its trials. With ``best_of`` it is the probability that one
    of so many trials, chosen at random, has the score 1 (pass@k).
    """

    model: str
    name: str = MAIN_SCORE
    best_of: int | None = None


@dataclass(frozen=True)
class Scoring:
    """What a condition must know of scores: their names, the trials, and whether all are 0 or 1."""

    names: tuple[str, ...] = (MAIN_SCORE,)
    trials: int = 1
    all_or_nothing: bool = False


@dataclass(frozen=True)
class LatticeAlphabet(Alphabet):
    """The points of a lattice in each group, and a code for the gap between two neighbours."""

    @cached_property
    def gaps(self) -> tuple[tuple[int, int], ...]:
        """The two points around each gap."""
        return tuple((point, point + 1) for group in self.groups for point in group[:-1])


@dataclass(frozen=True)
class Lattice:
    """Where the combined score of a clause can lie.

    The score of an example is the sum of ``terms``, each times its weight, and ``difference`` if
    the outputs of the two models differ. There are ``parts`` steps between 0 and 1.
    """

    terms: tuple[tuple[ScoreTerm, Fraction], ...]
    difference: Fraction
    parts: int
    graded: bool
    """Whether scores may lie between the ends. Then nothing is known of their variance."""
    exact: bool = False
    """Whether every combined score is a point."""

    @staticmethod
    def of(
        weights: Mapping[ScoreTerm, Fraction],
        difference: Fraction,
        tolerance: Fraction,
        scoring: Scoring,
    ) -> Lattice:
        """The lattice of a clause. It depends on the script alone, never on scores."""
        terms = tuple(weights.items())
        span = sum((abs(weight) for weight in weights.values()), abs(difference))
        plain = scoring.trials == 1 and all(term.best_of is None for term in weights)
        if scoring.all_or_nothing:
            parts = _exact_parts(weights, difference, scoring.trials)
            if parts * span <= MOST_POINTS:
                return Lattice(terms, difference, parts, graded=not plain, exact=True)
        usual = lcm(USUAL_PARTS, scoring.trials)
        wanted = usual * ceil(STEPS_A_TOLERANCE / tolerance / usual)
        parts = wanted if wanted * span <= MOST_POINTS else max(floor(MOST_POINTS / span), 1)
        return Lattice(terms, difference, parts, graded=True)

    @property
    def needs_old_model(self) -> bool:
        """Whether the score depends on the old model."""
        return bool(self.difference) or any(term.model == "o" for term, _ in self.terms)

    @cached_property
    def reaches(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The least and the greatest combined score in each group.

        A clause about one model has one group. Otherwise the first group has the examples whose
        outputs are equal.
        """
        if not self.needs_old_model:
            return (_reach([weight for _, weight in self.terms], Fraction(0)),)
        together: dict[tuple[str, int | None], Fraction] = {}
        for term, weight in self.terms:
            key = (term.name, term.best_of)
            together[key] = together.get(key, Fraction(0)) + weight
        return (
            _reach(list(together.values()), Fraction(0)),
            _reach([weight for _, weight in self.terms], self.difference),
        )

    @cached_property
    def ends(self) -> tuple[tuple[int, int], ...]:
        """The first and the last point of each group, counted in steps from 0."""
        return tuple(
            (floor(low * self.parts), ceil(high * self.parts)) for low, high in self.reaches
        )

    @cached_property
    def alphabet(self) -> LatticeAlphabet:
        """The outcomes: the points of each group."""
        return LatticeAlphabet(tuple(last - first + 1 for first, last in self.ends))

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        """The score of each outcome. The ends of a group lie within its reach."""
        return tuple(
            min(max(Fraction(point, self.parts), low), high)
            for (first, last), (low, high) in zip(self.ends, self.reaches, strict=True)
            for point in range(first, last + 1)
        )

    @property
    def step(self) -> Fraction:
        """The distance between two points."""
        return Fraction(1, self.parts)


def _reach(weights: list[Fraction], constant: Fraction) -> tuple[Fraction, Fraction]:
    low = sum((weight for weight in weights if weight < 0), constant)
    return low, sum((weight for weight in weights if weight > 0), constant)


def _exact_parts(weights: Mapping[ScoreTerm, Fraction], difference: Fraction, trials: int) -> int:
    """In how many parts every combined score is a whole number, if outputs score 0 or 1."""
    below = [
        weight.denominator * (trials if term.best_of is None else comb(trials, term.best_of))
        for term, weight in weights.items()
    ]
    return lcm(*below, difference.denominator)
