"""The verdict on a commit as labels come in: an answer, or the examples to label next.

Every clause walks the same order from its start, over the examples that its score depends on. The
clauses take turns, one label each, so that a clause that needs few labels can decide the condition
before one that needs many. A condition is a conjunction:

    fp-free   passes when every clause is proven; fails when the first is futile or exhausted
    fn-free   fails when the first clause is proven false; passes when all are futile or exhausted

*Levels.* fp-free: if the condition is false, one fixed clause is false, and a pass needs a proof of
that clause, so every clause is tested at the full α. If it is clearly true, each of k clauses might
wrongly stop it, so each gets β/k. fn-free is the mirror image: α/k and β.

The verdict is a function of the codes alone. It never looks at a label beyond the point where it
stopped. So it stops at the same label whether labels come one by one, in batches or all at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from easeci.evidence.cells import Codes, Counts, unlabelled
from easeci.evidence.clause_test import Goal, SequentialTest, Targets, Walk
from easeci.evidence.endings import Ending
from easeci.evidence.labelled import LabelledCodes
from easeci.evidence.levels import StepLevels
from easeci.script import Estimator, LinearClause, Mode
from easeci.verdict.logic import Interval, Result, conjunction
from easeci.verdict.result import ClauseEvidence, ClauseResult, Verdict


def decide_sequentially(
    clauses: Sequence[LinearClause],
    mode: Mode,
    levels: StepLevels,
    codes: Codes,
    *,
    batch: int = 1,
) -> Verdict:
    """The verdict on a commit whose examples have these codes, in the testset's order.

    ``batch`` is the least number of labels to ask for at a time. More are asked for if no verdict
    is possible without them.
    """
    testset = LabelledCodes(codes)
    return decide_by(tests_of(clauses, mode, levels, testset), mode, testset, batch=batch)


Tests = Sequence[tuple[LinearClause, SequentialTest]]
"""The clauses of a condition and their tests, which no label changes."""


def tests_of(
    clauses: Sequence[LinearClause], mode: Mode, levels: StepLevels, testset: LabelledCodes
) -> Tests:
    """The tests of a condition on a testset: everything that is known before labels."""
    targets = Targets.of(levels.per_clause(mode, len(clauses)))
    differing = testset.counts.differing
    return [
        (clause, SequentialTest.of(Goal.of(clause, mode), targets, len(testset), differing))
        for clause in clauses
    ]


def decide_by(tests: Tests, mode: Mode, testset: LabelledCodes, *, batch: int) -> Verdict:
    """The verdict by the labels that are known now."""
    counts = testset.counts
    walks, decision = walk_all(tests, mode, testset)
    wanted: tuple[int, ...] = ()
    if decision.passed is None:
        wanted = _wanted(walks, decision, mode, testset.codes, batch)
    return Verdict(
        estimator=Estimator.SEQUENTIAL,
        result=_condition_result(walks, decision, mode),
        passed=decision.passed,
        clauses=tuple(
            _clause_result(clause, walk, limit, mode, counts)
            for (clause, _), walk, limit in zip(tests, walks, decision.limits, strict=True)
        ),
        examples=len(testset),
        labels=_consulted(walks, decision.limits),
        wanted=wanted,
    )


def walk_all(tests: Tests, mode: Mode, testset: LabelledCodes) -> tuple[list[Walk], Decision]:
    """Every clause's walk as far as labels are known, and the decision that follows from them."""
    walks = [test.walk(testset) for _, test in tests]
    return walks, _take_turns(walks, mode)


@dataclass(frozen=True)
class Decision:
    """Whether the condition is decided, and how many labels each clause may look at.

    ``passed`` is None while the clauses in ``waiting`` could still change the answer. ``ceiling``
    is the label and the index of the clause that decides if no waiting clause does so before.
    """

    passed: bool | None
    limits: tuple[int, ...]
    waiting: tuple[int, ...] = ()
    ceiling: tuple[int, int] | None = None


def _decides(ending: Ending, mode: Mode) -> bool:
    """Whether one clause with this ending decides the condition by itself."""
    if mode is Mode.FP_FREE:
        return ending in (Ending.FUTILE, Ending.EXHAUSTED)
    return ending is Ending.PROVEN


def _take_turns(walks: Sequence[Walk], mode: Mode) -> Decision:
    """Take turns, one label a clause, until one decides the condition or all have ended."""
    deciding = [(w.labels, i) for i, w in enumerate(walks) if _decides(w.ending, mode)]
    if not deciding:
        waiting = tuple(i for i, walk in enumerate(walks) if walk.ending is Ending.OPEN)
        return Decision(None if waiting else True, tuple(walk.labels for walk in walks), waiting)
    last, first = min(deciding)
    # In the round in which the deciding clause ends, the clauses after it have not moved yet.
    rounds = [last if i <= first else max(last - 1, 0) for i in range(len(walks))]
    limits = tuple(min(w.labels, r) for w, r in zip(walks, rounds, strict=True))
    waiting = tuple(
        i for i, walk in enumerate(walks) if walk.ending is Ending.OPEN and walk.labels < rounds[i]
    )
    return Decision(None if waiting else False, limits, waiting, (last, first))


def _condition_result(walks: Sequence[Walk], decision: Decision, mode: Mode) -> Result:
    if decision.passed is None:
        return Result.UNKNOWN
    return conjunction(
        _result_at(walk, limit, mode) for walk, limit in zip(walks, decision.limits, strict=True)
    )


def _result_at(walk: Walk, limit: int, mode: Mode) -> Result:
    shown, opposite = Result.TRUE, Result.FALSE
    if mode is Mode.FN_FREE:
        shown, opposite = opposite, shown
    if walk.ending is Ending.PROVEN and walk.labels <= limit:
        return shown
    return opposite if walk.claims(limit) else Result.UNKNOWN


def _clause_result(
    clause: LinearClause, walk: Walk, limit: int, mode: Mode, whole: Counts
) -> ClauseResult:
    ending = ending_at(walk, limit)
    result = _result_at(walk, limit, mode)
    return ClauseResult(
        clause=clause,
        estimate=_estimate(clause, walk, limit, whole),
        interval=_interval(clause, ending, result, mode),
        result=result,
        possible=frozenset([result] if ending is not Ending.OPEN else Result),
        sample=len(walk.positions[:limit]) if clause.score.needs_labels else whole.examples,
        evidence=ClauseEvidence(ending, limit, *walk.curves(limit)),
    )


def ending_at(walk: Walk, limit: int) -> Ending:
    """How a walk ended, if it ended within so many labels."""
    return walk.ending if walk.labels <= limit else Ending.OPEN


def _estimate(clause: LinearClause, walk: Walk, limit: int, whole: Counts) -> Fraction | None:
    """The mean score so far; if only differing examples count, times the share of those."""
    if not clause.score.needs_labels:
        return whole.mean_range(clause.score)[0]
    if limit == 0:
        return None
    mean, high = Counts.of(walk.codes[:limit]).mean_range(clause.score)
    if mean != high:  # some label is unsettled
        return None
    if walk.test.goal.proof.only_differing:
        return mean * Fraction(whole.differing, whole.examples)
    return mean


def _interval(clause: LinearClause, ending: Ending, result: Result, mode: Mode) -> Interval:
    """The values of Φ that the evidence does not exclude."""
    form = clause.greater
    low, high = form.score.lowest, form.score.highest
    if result is Result.TRUE:
        low = form.threshold
    elif result is Result.FALSE:
        high = form.threshold
    elif ending is Ending.FUTILE and mode is Mode.FP_FREE:
        high = min(high, form.threshold + 2 * form.tolerance)
    elif ending is Ending.FUTILE:
        low = max(low, form.threshold - 2 * form.tolerance)
    interval = Interval(low, high)
    return interval if form is clause else -interval


def _consulted(walks: Sequence[Walk], limits: Sequence[int]) -> int:
    """How many labels were looked at, each counted once."""
    looked_at = [walk.positions[:limit] for walk, limit in zip(walks, limits, strict=True)]
    used = np.zeros(max((int(part[-1]) + 1 for part in looked_at if len(part)), default=0), bool)
    for part in looked_at:
        used[part] = True
    return int(np.count_nonzero(used))


def _wanted(
    walks: Sequence[Walk], decision: Decision, mode: Mode, codes: Codes, batch: int
) -> tuple[int, ...]:
    """The labels to ask for next: as many as are certainly needed, and at least ``batch``.

    No waiting clause can end before its own ``fewest_more``, and the condition can't be decided
    before the first of them can decide it.
    """
    futile_decides = mode is Mode.FP_FREE
    horizon, decider = min(
        (walks[i].labels + walks[i].fewest_more(any_ending=False, futile_decides=futile_decides), i)
        for i in decision.waiting
    )
    if decision.ceiling is not None:
        horizon, decider = min((horizon, decider), decision.ceiling)
    _, first = min((walks[i].labels, i) for i in decision.waiting)
    positions = []
    for i in decision.waiting:
        walk = walks[i]
        own = walk.labels + walk.fewest_more(any_ending=True, futile_decides=futile_decides)
        until = min(own, horizon if i <= decider else horizon - 1)
        if i == first:
            until = max(until, walk.labels + batch)
        positions.append(walk.positions[walk.labels : max(until, walk.labels)])
    asked = np.unique(np.concatenate(positions))
    return tuple(int(position) for position in asked[unlabelled(codes[asked])])
