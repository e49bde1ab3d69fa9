"""Laws over the five cells: models whose truth is exactly where a promise is tested.

The place of a clause is measured in tolerances, in the direction of the proof. fp-free must prove
that a clause holds: 0 is the threshold, 1 the middle of the zone, and from 2 on a pass is promised.
fn-free must prove that it does not hold, so the same places lie on the other side.

Many laws have a clause at a given place. A small linear programme finds a plausible one: the plan's
difference, an accuracy of about 0.8, and two models that are rarely wrong in different ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from easeci.evidence.cells import CODE_OF
from easeci.plan.assumptions import COMMON_DIFFERENCE, planned_difference
from easeci.script import Mode, NormalClause, Score, Script
from easeci.script.outcomes import Cell
from easeci.simulation.scored import right_or_wrong
from easeci.simulation.worlds import World, beyond_cells, world_at

Law = npt.NDArray[np.float64]
"""Probabilities of the five cells, in the order of their codes."""

CELLS = tuple(sorted(Cell, key=CODE_OF.__getitem__))
EDGE, MIDDLE, CLEAR = 0, 1, 2
COMFORT = 2
"""The other clauses lie this many tolerances on the good side, if possible."""
ACCURACY = 0.8

SHORTFALL_WEIGHT, DIFFERENCE_WEIGHT, ACCURACY_WEIGHT, BOTH_WRONG_WEIGHT = 100.0, 10.0, 1.0, 0.1
"""Priorities: other clauses on the good side, then d, then n, then few examples both get wrong."""


def values(score: Score) -> npt.NDArray[np.float64]:
    """The score of each cell."""
    return np.array([float(score.of(cell)) for cell in CELLS])


def mean(score: Score, law: Law) -> float:
    """Φ under a law."""
    return float(values(score) @ law)


def proof_score(clause: NormalClause, mode: Mode) -> Score:
    """The score that grows towards what must be proven."""
    return clause.greater.score if mode is Mode.FP_FREE else -clause.greater.score


def proof_bound(clause: NormalClause, mode: Mode) -> Fraction:
    """The threshold of :func:`proof_score`."""
    threshold = clause.greater.threshold
    return threshold if mode is Mode.FP_FREE else -threshold


def holds(clause: NormalClause, law: Law) -> bool:
    """Whether a clause is true under a law; at its threshold it counts as true."""
    form = clause.greater
    return mean(form.score, law) >= float(form.threshold) - 1e-12


@dataclass(frozen=True)
class Laws:
    """For each clause, laws at its threshold, in the middle of its zone, and clearly beyond it.

    A condition that n, o and d don't describe has worlds instead, and one about scores of outputs
    has the laws of its twins (:mod:`easeci.simulation.scored`). None if the score of the clause
    can't reach the place.
    """

    edge: tuple[Law | World | None, ...]
    middle: tuple[Law | World | None, ...]
    clear: tuple[Law | World | None, ...]

    @staticmethod
    def of(script: Script) -> Laws:
        """The laws for the clauses of a script."""
        script = right_or_wrong(script)
        clauses = range(len(script.clauses))
        fp_free = script.mode is Mode.FP_FREE
        law_at = world_at if beyond_cells(script) else cells_at
        # ``least`` is what the other clauses need for the condition to be true or false as wanted.
        return Laws(
            edge=tuple(law_at(script, i, EDGE, least=None if fp_free else 0) for i in clauses),
            middle=tuple(law_at(script, i, MIDDLE, least=None) for i in clauses),
            clear=tuple(
                law_at(script, i, CLEAR, least=CLEAR if fp_free else None) for i in clauses
            ),
        )


def cells_at(script: Script, index: int, place: int, *, least: int | None) -> Law | None:
    """A law with one clause exactly at a place and the others on the good side, or None.

    ``least`` is how many tolerances on the good side the others must be at least.
    """
    at_stake = script.clauses[index]
    score = proof_score(at_stake, script.mode)
    target = float(proof_bound(at_stake, script.mode) + place * at_stake.tolerance)
    others = [clause for i, clause in enumerate(script.clauses) if i != index]
    difference = float(_difference(script))
    if place != CLEAR:
        difference = max(difference, _difference_with_room(at_stake))
    found = _solve(values(score), target, others, least, difference)
    return None if found is None else _corrected(found, values(score), target)


def _difference(script: Script) -> Fraction:
    """The d that the plan assumes."""
    for clause in script.clauses:
        if clause.score.needs_labels:
            return planned_difference(script, clause).share
    return script.difference or COMMON_DIFFERENCE


def _difference_with_room(clause: NormalClause) -> float:
    """A d twice as large as the threshold needs, so that there are gains and losses.

    At the least d for a threshold all differing examples have the same score, so chance plays no
    role and the test is never put to work. The clear place does not need this, and sensitivity is
    promised only up to the planned d. If agreeing examples count too, any d leaves enough chance.
    """
    if clause.score.counts_everywhere:
        return 0.0
    reach = float(clause.score.highest - clause.score.lowest) / 2.0
    return min(1.0, 2.0 * abs(float(clause.threshold)) / reach)


def _solve(
    scores: npt.NDArray[np.float64],
    target: float,
    others: list[NormalClause],
    least: int | None,
    difference: float,
) -> Law | None:
    """Solve the programme: five cells, a shortfall for each other clause, |d − d*|, |n − 0.8|."""
    from scipy.optimize import linprog

    clauses, cells = len(others), len(CELLS)
    width = cells + clauses + 2
    rows, limits = [], []
    for i, clause in enumerate(others):
        form = clause.greater
        row = np.zeros(width)  # Φ + shortfall · ε >= c + 2ε
        row[:cells] = -values(form.score)
        row[cells + i] = -float(form.tolerance)
        rows.append(row)
        limits.append(-float(form.threshold + COMFORT * form.tolerance))
    wishes = ((_variable(2), difference), (_variable(0), ACCURACY))
    for i, (variable, wished) in enumerate(wishes):
        for sign in (1.0, -1.0):
            row = np.zeros(width)
            row[:cells] = sign * variable
            row[cells + clauses + i] = -1.0
            rows.append(row)
            limits.append(sign * wished)
    cost = np.zeros(width)
    cost[CODE_OF[Cell.BOTH_WRONG]] = BOTH_WRONG_WEIGHT
    cost[cells : cells + clauses] = SHORTFALL_WEIGHT
    cost[cells + clauses :] = (DIFFERENCE_WEIGHT, ACCURACY_WEIGHT)
    equal = np.zeros((2, width))
    equal[0, :cells], equal[1, :cells] = 1.0, scores
    most = None if least is None else COMFORT - least
    bounds = [(0.0, 1.0)] * cells + [(0.0, most)] * clauses + [(0.0, None)] * 2
    solved = linprog(cost, np.array(rows), limits, equal, [1.0, target], bounds, method="highs-ds")
    return np.asarray(solved.x[:cells], np.float64) if solved.success else None


def _variable(index: int) -> npt.NDArray[np.float64]:
    return np.array([float(cell.value[index]) for cell in CELLS])


def _corrected(law: Law, scores: npt.NDArray[np.float64], target: float) -> Law:
    """Remove the solver's rounding error: move a little towards the cell on the other side."""
    law = np.maximum(law, 0.0)
    law = np.where(law < 1e-9, 0.0, law)
    law = law / law.sum()
    here = float(scores @ law)
    if here == target:
        return law
    end = int(np.argmin(scores) if here > target else np.argmax(scores))
    share = (target - here) / (float(scores[end]) - here) if scores[end] != here else 0.0
    point = np.zeros(len(law))
    point[end] = 1.0
    return np.asarray((1.0 - share) * law + share * point)
