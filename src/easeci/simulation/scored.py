"""Models of a script with a scorer: their outputs are drawn as scores.

A model is drawn as if its outputs were right or wrong, as in :mod:`easeci.plan.outcome_laws`: the
score of a right output is 1 and that of a wrong one 0, under every name and in every trial, and all
outputs differ. Only if a clause is about d, outputs differ where the drawn cells say so. So every
clause has a *twin* about n, o and d with exactly the same truth, whose laws are used.

Where scores may lie between the ends, every second model is graded: a score is the mean of several
points, each of them made or missed with the probabilities of the same law. This changes no mean, so
the truth stays where it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from easeci.errors import UsageError
from easeci.evidence.bets import Floats
from easeci.evidence.cells import Code, differs
from easeci.evidence.codes import Codes, Flags
from easeci.evidence.facts import Facts, Positions
from easeci.script import NormalClause, Score, Script
from easeci.script.lattice import ScoreTerm
from easeci.script.outcomes import Cell
from easeci.script.syntax import Slice
from easeci.simulation.worlds import World

POINTS = 7
"""A graded score has so many points. Sevenths lie between the points of most lattices, and some of
them on one."""

NEW_RIGHT, OLD_RIGHT, DIFFER = (
    np.array([float(cell.value[place]) for cell in Cell]) for place in range(3)
)
"""For each cell, whether the new model is right, the old one is right, and they differ."""


def right_or_wrong(script: Script) -> Script:
    """The script with the twin of each clause about scores; a script without scores as it is."""
    return replace(script, clauses=tuple(_twin(clause) for clause in script.clauses))


def _twin(clause: NormalClause) -> NormalClause:
    """The clause about n, o and d that is true of the same drawn models."""
    score = clause.score
    if score.lattice is None:
        return clause
    weights = {"n": Fraction(0), "o": Fraction(0)}
    for term, weight in score.lattice.terms:
        weights[term.model] += weight
    if not any(weights.values()):
        raise UsageError(
            f"simulate draws models with equal scores under all names and trials, and these cancel "
            f"each other out in '{clause.text}'",
            hint="Simulate the condition without this clause.",
        )
    twin = Score.linear(
        weights["n"], weights["o"], score.lattice.difference, named=score.named, where=score.slice
    )
    return replace(clause, score=twin)


@dataclass(frozen=True)
class DrawnScores:
    """How the scores of a script are drawn.

    ``may_agree`` says whether two models may have equal outputs. ``points`` is how many points a
    graded score has, or 1 if all scores are 0 or 1.
    """

    terms: tuple[ScoreTerm, ...]
    may_agree: bool
    points: int

    @staticmethod
    def of(script: Script) -> DrawnScores | None:
        """For a script about scores; None for any other."""
        if not script.is_scored:
            return None
        lattices = [clause.score.lattice for clause in script.clauses]
        may_agree = any(lattice is None or lattice.difference for lattice in lattices)
        built_in = script.scorer is not None and script.scorer.kind.built_in
        points = script.trials if built_in else POINTS
        if any(term.best_of is not None for term in script.score_terms):
            points = 1  # pass@k is not a mean over trials: if trials differ, its truth would move
        return DrawnScores(script.score_terms, may_agree, points)

    def of_codes(self, codes: Codes, slices: Mapping[Slice, Positions] | None = None) -> Facts:
        """Models that are right and wrong where these codes of n, o and d say so."""
        return self._facts(NEW_RIGHT[codes], OLD_RIGHT[codes], differs(codes), slices or {})

    def draw(
        self, law: Floats | World, examples: int, draw: np.random.Generator, *, graded: bool
    ) -> Facts:
        """A testset of this law over the five cells, with scores of 0 and 1 or graded ones."""
        slices: Mapping[Slice, Positions] = {}
        if isinstance(law, World):
            slices, law = law.draw_slices(examples, draw), law.law
        points = self.points if graded else 1
        differ = draw.random(examples) < DIFFER @ law
        new, old = np.zeros(examples), np.zeros(examples)
        for inside, cells in ((differ, DIFFER), (~differ, 1.0 - DIFFER)):
            shares = cells * law
            if inside.any():
                made = draw.multinomial(points, shares / shares.sum(), int(inside.sum())) / points
                new[inside], old[inside] = made @ NEW_RIGHT, made @ OLD_RIGHT
        return self._facts(new, old, differ, slices)

    def _facts(
        self, new: Floats, old: Floats, differ: Flags, slices: Mapping[Slice, Positions]
    ) -> Facts:
        agree = ~differ if self.may_agree else np.zeros(len(differ), bool)
        cells = np.where(agree, Code.AGREE_WRONG, Code.BOTH_WRONG).astype(np.uint8)
        scores = {term: new if term.model == "n" else old for term in self.terms}
        return Facts(cells, slices=slices, scores=scores)
