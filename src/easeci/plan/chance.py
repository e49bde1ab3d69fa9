"""The probability of a pass, for commits with an assumed truth: the power of the sequential test.

A walk ends at the first boundary that its sum of scores crosses: proof above, futility below. The
sum is taken for a Brownian motion, and the boundaries come from the evidence itself
(:mod:`easeci.plan.stopping`). Only the two outcomes at the ends of a score occur, as in
:mod:`easeci.plan.truth`. A clause on d alone has the exact binomial probability. Clauses are taken
for independent, which is a little too low for a pass by several clauses that depend on each other.

It is the last commit of a typical history, on a testset of the planned size. This is a forecast; no
guarantee depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from easeci.bounds.binomial import log_cdf, log_sf
from easeci.evidence.bets import FUTILITY_AIMS, PROOF_AIMS, Floats
from easeci.evidence.clause_test import Goal, Targets
from easeci.evidence.hypothesis import Hypothesis, evidence_against
from easeci.plan.assumptions import typical_step
from easeci.plan.stopping import Boundaries, ScoreLaw, boundary
from easeci.script import Mode, Script

POSITIONS = 64


def chances_of_a_pass(
    script: Script, examples: int, effects: Sequence[float], difference: float
) -> Floats:
    """The probability of a pass at each effect, for models that differ on this share of examples.

    An effect is how far the new model is on the good side of the threshold of every clause that
    needs labels, as in :class:`easeci.plan.truth.Truth`.
    """
    levels = typical_step(script).levels.per_clause(script.mode, len(script.clauses))
    targets, fp_free = Targets.of(levels), script.mode is Mode.FP_FREE
    towards = np.asarray(effects, np.float64) * (1.0 if fp_free else -1.0)
    chance = np.ones(len(effects))
    for clause in script.clauses:
        goal = Goal.of(clause, script.mode)
        if not clause.score.is_linear and clause.score.needs_labels:
            # Here and not above: a plan of a condition on n, o and d must start fast.
            from easeci.plan.measured_clause import MeasuredClause
            from easeci.plan.measured_walk import chances_of_proof

            measured = MeasuredClause.of(script, clause, difference)
            proven = chances_of_proof(measured, targets, examples, goal.bound + towards)
        elif clause.score.needs_labels:
            proven = _proven(goal, targets, examples, goal.bound + towards, difference)
        else:
            proven = _proven_by_difference(goal.proof, targets.proof, examples, difference)
        chance = chance * (proven if fp_free else 1.0 - proven)
    return chance


def _proven(goal: Goal, targets: Targets, examples: int, phi: Floats, difference: float) -> Floats:
    """The probability of a proof at each Φ, along the testset."""
    hypothesis = goal.proof
    outcomes = sorted(hypothesis.relevant, key=hypothesis.entry)
    codes = (outcomes[0], outcomes[-1])
    ends = np.array([float(hypothesis.entry(outcome)) for outcome in codes])
    share = 1.0 if hypothesis.everywhere else difference
    high = np.clip((phi / share - ends[0]) / (ends[1] - ends[0]), 0.0, 1.0)
    mean = ends[0] + high * (ends[1] - ends[0])
    deviation = np.sqrt(high * (1.0 - high)) * (ends[1] - ends[0])
    law = ScoreLaw(ends, np.array([0.5, 0.5]), codes, hypothesis.alphabet.outcomes)
    labels = np.geomspace(1.0, max(examples, 2), POSITIONS) * share
    size = (examples, round(examples * difference))
    proof = evidence_against(goal.proof, PROOF_AIMS, *size, targets.proof)
    futility = evidence_against(goal.futility, FUTILITY_AIMS, *size, targets.futility)
    bounds = Boundaries(
        labels,
        boundary(proof, targets.proof, law, labels),
        -boundary(futility, targets.futility, -law, labels),
    )
    return bounds.endings(mean, deviation).proven[..., -1]


def _proven_by_difference(
    hypothesis: Hypothesis, target: float, examples: int, difference: float
) -> Floats:
    """The probability that the number of differing examples proves a clause on d."""
    factor = float(hypothesis.entry(hypothesis.relevant[0]))
    share = min(max(hypothesis.bound / factor, 0.0), 1.0)
    low, high = -1, examples + 1
    while high - low > 1:  # the fewest (or most) differing examples that are a proof
        middle = (low + high) // 2
        if factor > 0.0:
            few = -float(log_sf(middle - 1, examples, share)) < target
        else:
            few = -float(log_cdf(middle, examples, share)) >= target
        low, high = (middle, high) if few else (low, middle)
    if factor > 0.0:
        return np.exp(log_sf(high - 1, examples, difference))
    return np.exp(log_cdf(low, examples, difference))
