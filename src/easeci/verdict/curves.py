"""How the evidence behind a sequential verdict grew, label by label.

A verdict has only the last value of each clause's evidence (:class:`ClauseEvidence`). The curves
here are for the owner: at every label that was consulted, proof and futility against their targets,
and the interval for Φ.
Long curves are thinned, but keep their last point. Futility may stand at its target earlier, where
labels were at hand; a proof reaches its target only with the last label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from easeci.evidence.codes import Codes, Flags
from easeci.evidence.endings import Ending
from easeci.evidence.facts import Facts
from easeci.evidence.labelled import LabelledTestset
from easeci.script import Estimator, NormalClause, Script
from easeci.verdict.decide import levels_of, prefixes_of
from easeci.verdict.sequential import AnyWalk, ConditionTest, ending_at
from easeci.verdict.wording import unit

MOST_POINTS = 400


@dataclass(frozen=True)
class Curve:
    """ln of the evidence after each number of labels, and its target; both in nats.

    Infinite if the hypothesis can't be true of this testset at all.
    """

    evidence: tuple[float, ...]
    target: float


@dataclass(frozen=True)
class ClauseCurves:
    """The curves of one clause: ``labels`` are 0, …, k, and each curve has a value for each.

    k is the number of labels that the clause consulted. A clause that needs no label has one
    point, at 0. ``low`` and ``high`` are the interval for Φ, in the clause's own sign, and
    ``threshold`` is what the clause compares Φ with; ``unit`` is the name of a hundredth of Φ.
    """

    clause: str
    ending: Ending
    labels: tuple[int, ...]
    proof: Curve
    futility: Curve
    low: tuple[float, ...]
    high: tuple[float, ...]
    threshold: float
    unit: str = "points"


def evidence_curves(
    script: Script,
    facts: Facts | Codes,
    history: str | None,
    at_hand: Flags | None = None,
    most: int = MOST_POINTS,
    prefixes: Mapping[str, int] | None = None,
) -> tuple[ClauseCurves, ...]:
    """The curves of every clause behind the verdict of :func:`easeci.verdict.decide`.

    Each has at most ``most`` points. Empty for an estimator that is not sequential.
    """
    if script.estimator not in (Estimator.AUTO, Estimator.SEQUENTIAL):
        return ()
    testset, levels = LabelledTestset(facts, at_hand), levels_of(script, history, prefixes)
    chosen = prefixes_of(script, prefixes)
    test = ConditionTest.of(script.clauses, script.mode, levels, testset, chosen)
    walks, decision = test.walk(testset)
    return tuple(
        _curves(clause, walk, limit, most, test.log_side)
        for clause, walk, limit in zip(script.clauses, walks, decision.limits, strict=True)
    )


def _curves(
    clause: NormalClause, walk: AnyWalk, limit: int, most: int, log_side: float
) -> ClauseCurves:
    # Equal steps, rounded; the first is always 0 and the last always the limit.
    after = np.unique(np.linspace(0, limit, min(limit + 1, most)).round().astype(np.intp))
    proof, futility = walk.course(after)
    targets = walk.test.targets
    low, high = walk.limits(clause.score, after, log_side)
    return ClauseCurves(
        clause=clause.text,
        ending=ending_at(walk, limit),
        labels=tuple(after.tolist()),
        proof=Curve(tuple(proof.tolist()), targets.proof),
        futility=Curve(tuple(futility.tolist()), targets.futility),
        low=tuple(low.tolist()),
        high=tuple(high.tolist()),
        threshold=float(clause.threshold),
        unit=unit(clause.score),
    )
