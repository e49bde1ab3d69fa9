"""A commit with an assumed truth: how many labels the sequential estimator takes for it.

The truth is an *effect* and the true d. The effect says how far the new model is on the good side
of the threshold of every clause that needs labels (below 0: on the bad side). The result is a
forecast like those of :mod:`easeci.evidence.sizing`; no guarantee depends on it.

Several clauses follow the same nine paths: luck for one clause is assumed to be luck for all. They
take turns as in a verdict, and share the labels that they both look at.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np

from easeci.evidence.bets import Floats
from easeci.evidence.clause_test import Goal, SequentialTest, Targets
from easeci.evidence.sizing import PathEnds, path_ends
from easeci.plan.assumptions import planned_difference, typical_step
from easeci.script import Mode, NormalClause, Score, Script
from easeci.script.outcomes import DIFFERING


class Promise(StrEnum):
    """What the script promises about a commit with an assumed truth."""

    PASS = "pass"  # noqa: S105 - an answer, not a password
    FAIL = "fail"
    EITHER = "either"


@dataclass(frozen=True)
class Truth:
    """The assumed truth about a commit; exact, as given."""

    effect: Fraction
    difference: Fraction


def likely_truth(
    script: Script, effect: Fraction | None = None, difference: Fraction | None = None
) -> Truth:
    """A truth, with defaults for what is not given.

    The default effect is the least for which fp-free promises a pass, as far as the scores allow.
    The default d is the planned one, or more if the effect needs it.
    """
    labelled = [clause.greater for clause in script.clauses if clause.score.needs_labels]
    if effect is None:
        most = Fraction(1) if difference is None else difference
        effect = min(
            (min(2 * f.tolerance, _range(f.score, most)[1] - f.threshold) for f in labelled),
            default=Fraction(0),
        )
    if difference is None:
        planned = [
            planned_difference(script, clause).share
            for clause in script.clauses
            if clause.score.needs_labels or not labelled
        ]
        least = [_least_difference(form, effect) for form in labelled]
        difference = min(Fraction(1), max([*planned, *least]))
    return Truth(effect, difference)


def _range(score: Score, difference: Fraction) -> tuple[Fraction, Fraction]:
    """The least and the greatest Φ of models that differ on this share of examples."""
    if score.counts_everywhere or score.coefficients is None:
        return score.lowest, score.highest
    scores = [score.of(cell) for cell in DIFFERING]
    return min(scores) * difference, max(scores) * difference


def _least_difference(form: NormalClause, effect: Fraction) -> Fraction:
    """The least d, plus 1%, at which the score can be so far beyond its threshold."""
    if form.score.counts_everywhere or form.score.coefficients is None:
        return Fraction(0)
    phi = form.threshold + effect
    low, high = _range(form.score, Fraction(1))
    end = high if phi > 0 else low
    return Fraction(101, 100) * phi / end if end * phi > 0 else Fraction(0)


def out_of_reach(script: Script, truth: Truth) -> NormalClause | None:
    """A clause whose score can't be so far beyond its threshold at this d, or None."""
    for clause in script.clauses:
        form = clause.greater
        low, high = _range(form.score, truth.difference)
        if clause.score.needs_labels and not low <= form.threshold + truth.effect <= high:
            return clause
    return None


def labels_at_truth(script: Script, examples: int, truth: Truth) -> int:
    """How many labels such a commit is expected to take, on a testset of so many examples.

    It is the last commit of a typical history, as everywhere in a plan.
    """
    levels = typical_step(script).levels.per_clause(script.mode, len(script.clauses))
    targets, difference = Targets.of(levels), float(truth.difference)
    walks = [_walked(script, clause, targets, examples, truth) for clause in script.clauses]
    ends = [walk.ends for walk in walks]
    turns = _turns(ends, script.mode)
    every, differing = np.zeros(len(turns)), np.zeros(len(turns))
    others: list[tuple[Floats, float]] = []
    for walk in walks:
        used = np.minimum(walk.ends.labels, turns)
        if walk.share is None:
            every = np.maximum(every, used)
        elif walk.share == difference:
            differing = np.maximum(differing, used)
        else:
            others.append((used, walk.share))
    # A clause in which every example counts has labelled differing examples too, a share d.
    shared = np.minimum(differing, difference * every)
    total = every + differing - shared
    for used, share in others:
        total = total + used - np.minimum(used, share * every)
    return round(float(total.mean()))


@dataclass(frozen=True)
class _Walked:
    """How the walk of a clause ends; on which share of the examples, or on all (None)."""

    ends: PathEnds
    share: float | None


def _walked(
    script: Script, clause: NormalClause, targets: Targets, examples: int, truth: Truth
) -> _Walked:
    difference = float(truth.difference)
    sign = 1.0 if script.mode is Mode.FP_FREE else -1.0
    goal = Goal.of(clause, script.mode)
    value = goal.bound + sign * float(truth.effect)
    if clause.score.is_linear or not clause.score.needs_labels:
        test = SequentialTest.of(goal, targets, examples, round(examples * difference))
        share = None if goal.proof.everywhere else difference
        return _Walked(path_ends(test, difference, value), share)
    # Here and not above: few truths are about such a clause.
    from easeci.plan.measured_clause import MeasuredClause

    measured = MeasuredClause.of(script, clause, difference)
    ends, first = measured.ends_at(value, targets, examples), measured.labels_first
    ends = PathEnds(ends.labels + first, ends.proven)
    if clause.score.coefficients is not None and not clause.score.counts_everywhere:
        return _Walked(ends, difference)
    if clause.score.counts_everywhere and not first:
        return _Walked(ends, None)
    return _Walked(ends, measured.relevant_share(measured.law(value)))


def _turns(ends: list[PathEnds], mode: Mode) -> Floats:
    """After how many turns each path is decided: by the first clause that can, or by all."""
    deciding = [np.where(end.proven == (mode is Mode.FN_FREE), end.labels, np.inf) for end in ends]
    first = np.min(deciding, axis=0)
    last = np.max([end.labels for end in ends], axis=0)
    return np.asarray(np.where(np.isfinite(first), first, last))


def promised(script: Script, truth: Truth) -> Promise:
    """The answer that the script promises for such a commit, or that either is allowed."""
    answers = [_promised(clause, script.mode, truth) for clause in script.clauses]
    if Promise.FAIL in answers:
        return Promise.FAIL
    return Promise.EITHER if Promise.EITHER in answers else Promise.PASS


def _promised(clause: NormalClause, mode: Mode, truth: Truth) -> Promise:
    effect = truth.effect
    if not clause.score.needs_labels:
        form = clause.greater
        effect = form.score.difference * truth.difference - form.threshold
    zone = (0, 2 * clause.tolerance) if mode is Mode.FP_FREE else (-2 * clause.tolerance, 0)
    if effect >= zone[1]:
        return Promise.PASS if effect > 0 else Promise.EITHER
    return Promise.FAIL if effect <= zone[0] else Promise.EITHER
