"""Laws over the five cells: models whose truth is exactly where a promise is at stake.

A clause's place is written in tolerances along the way of the proof: fp-free must prove that a
clause holds, so 0 is the threshold, 1 the middle of the zone and 2 where a pass is promised;
fn-free must prove that it does not hold, so the same places lie on the other side.

Of the many laws at a place the plausible one is taken: a difference as the plan reckons with, an
accuracy of about .8, two models that are seldom wrong in different ways. That is a small linear
programme.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from easeci.evidence.cells import CODE_OF
from easeci.plan.assumptions import COMMON_DIFFERENCE, planned_difference
from easeci.script import LinearClause, Mode, Score, Script
from easeci.script.cells import Cell

Law = npt.NDArray[np.float64]
"""Probabilities of the five cells, in the order of their codes."""

CELLS = tuple(sorted(Cell, key=CODE_OF.__getitem__))
EDGE, MIDDLE, CLEAR = 0, 1, 2
COMFORT = 2
"""Clauses that are not at stake lie this many tolerances on the good side, where possible."""
ACCURACY = 0.8

SHORTFALL_WEIGHT, DIFFERENCE_WEIGHT, ACCURACY_WEIGHT, BOTH_WRONG_WEIGHT = 100.0, 10.0, 1.0, 0.1
"""What matters most: comfort (in tolerances), then d, then n, then few examples both get wrong."""


def values(score: Score) -> npt.NDArray[np.float64]:
    """The score of each cell."""
    return np.array([float(score.of(cell)) for cell in CELLS])


def mean(score: Score, law: Law) -> float:
    """Φ under a law."""
    return float(values(score) @ law)


def proof_score(clause: LinearClause, mode: Mode) -> Score:
    """The score that grows towards what must be proven."""
    return clause.greater.score if mode is Mode.FP_FREE else -clause.greater.score


def proof_bound(clause: LinearClause, mode: Mode) -> Fraction:
    """The threshold of that score."""
    threshold = clause.greater.threshold
    return threshold if mode is Mode.FP_FREE else -threshold


def holds(clause: LinearClause, law: Law) -> bool:
    """Whether a clause is true under a law, its threshold included as the limit of what is."""
    form = clause.greater
    return mean(form.score, law) >= float(form.threshold) - 1e-12


@dataclass(frozen=True)
class Laws:
    """For each clause in turn: at its threshold, in the middle of its zone, clearly beyond it.

    None where no models can be there: past the end of what the score can be.
    """

    edge: tuple[Law | None, ...]
    middle: tuple[Law | None, ...]
    clear: tuple[Law | None, ...]

    @staticmethod
    def of(script: Script) -> Laws:
        clauses = range(len(script.clauses))
        fp_free = script.mode is Mode.FP_FREE
        # What must hold of the other clauses, so that the condition is what it should be.
        return Laws(
            edge=tuple(law_at(script, i, EDGE, least=None if fp_free else 0) for i in clauses),
            middle=tuple(law_at(script, i, MIDDLE, least=None) for i in clauses),
            clear=tuple(
                law_at(script, i, CLEAR, least=CLEAR if fp_free else None) for i in clauses
            ),
        )


def law_at(script: Script, index: int, place: int, *, least: int | None) -> Law | None:
    """A law with one clause exactly at a place and the others comfortable, or None.

    ``least`` is how many tolerances on the good side the others must be at the very least.
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
    """The d that the plan reckons with."""
    for clause in script.clauses:
        if clause.score.needs_labels:
            return planned_difference(script, clause).share
    return script.difference or COMMON_DIFFERENCE


def _difference_with_room(clause: LinearClause) -> float:
    """A d that leaves gains and losses: Φ at the threshold, and as much again either way.

    With the least d for a threshold nothing is left to chance, and nothing is put to the test. A
    clear place has no such need, and sensitivity is promised up to the planned d only.
    Where agreeing examples count as well, there is enough of chance with any d.
    """
    if clause.score.label_matters_when_agreeing:
        return 0.0
    reach = float(clause.score.highest - clause.score.lowest) / 2.0
    return min(1.0, 2.0 * abs(float(clause.threshold)) / reach)


def _solve(
    scores: npt.NDArray[np.float64],
    target: float,
    others: list[LinearClause],
    least: int | None,
    difference: float,
) -> Law | None:
    """The programme: five cells, a shortfall for each other clause, |d − d*| and |n − .8|."""
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
    """Without what the solver rounds: move a little towards the cell on the other side."""
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
