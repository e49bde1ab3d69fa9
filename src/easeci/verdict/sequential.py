"""The verdict on a commit as labels come in: an answer, or the examples to label next.

Every clause walks the same order from its start, over the examples that its score depends on. The
clauses take turns, asking for one label each, so that a clause that needs few labels can decide the
condition before one that needs many. Labels at hand cost nothing: in its turn, a clause uses them
all up to the next label that has to be asked for. A condition is a conjunction:

    fp-free   passes when every clause is proven; fails when the first is futile or exhausted
    fn-free   fails when the first clause is proven false; passes when all are futile or exhausted

*Levels.* fp-free: if the condition is false, one fixed clause is false, and a pass needs a proof of
that clause, so every clause is tested at the full α. If it is clearly true, each of k clauses might
wrongly stop it, so each gets β/k. fn-free is the mirror image: α/k and β.

The verdict is a function of the codes, and of which labels were at hand when the commit's turn
came. It never looks at a label beyond the point where it stopped. So it stops at the same label
whether later labels come one by one, in batches or all at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from easeci.evidence.clause_test import Goal, SequentialTest, Targets, Walk
from easeci.evidence.codes import Codes, Counts, Flags
from easeci.evidence.endings import Ending
from easeci.evidence.facts import Facts
from easeci.evidence.labelled import LabelledTestset
from easeci.evidence.levels import StepLevels
from easeci.evidence.rivals import RivalsTest, RivalsWalk
from easeci.evidence.shared_prefix import Prefix, PrefixTest, PrefixWalk
from easeci.script import Estimator, Mode, NormalClause
from easeci.verdict.logic import Result, conjunction
from easeci.verdict.result import ClauseEvidence, ClauseResult, Verdict

Prefixes = Mapping[NormalClause, Prefix]
"""The clauses that need a labelled prefix, with their prefixes."""
NO_PREFIXES: Prefixes = {}
LEAST_RATIO = 3
"""How many times as long as its prefix a testset must be; otherwise the prefix is not used."""
AnyTest = SequentialTest | PrefixTest | RivalsTest
AnyWalk = Walk | RivalsWalk


def decide_sequentially(
    clauses: Sequence[NormalClause],
    mode: Mode,
    levels: StepLevels,
    facts: Facts | Codes,
    *,
    batch: int = 1,
    at_hand: Flags | None = None,
    prefixes: Prefixes = NO_PREFIXES,
) -> Verdict:
    """The verdict on a commit of whose examples this is known, in the testset's order.

    ``batch`` is the least number of labels to ask for at a time. More are asked for if no verdict
    is possible without them. ``at_hand`` says which labels were known when the commit's turn came;
    None means none.
    """
    testset = LabelledTestset(facts, at_hand)
    test = ConditionTest.of(clauses, mode, levels, testset, prefixes)
    return decide_by(test, testset, batch=batch)


@dataclass(frozen=True)
class ConditionTest:
    """The clauses of a condition and their tests, which no label changes.

    ``log_side`` is the level of each side of a clause's interval: half of the level of claims,
    divided by the number of clauses. So the intervals of all clauses and steps hold together.
    """

    mode: Mode
    clauses: tuple[NormalClause, ...]
    tests: tuple[AnyTest, ...]
    log_side: float

    @staticmethod
    def of(
        clauses: Sequence[NormalClause],
        mode: Mode,
        levels: StepLevels,
        testset: LabelledTestset,
        prefixes: Prefixes = NO_PREFIXES,
    ) -> ConditionTest:
        """The tests of a condition on a testset: everything that is known before labels."""
        targets = Targets.of(levels.per_clause(mode, len(clauses)))
        return ConditionTest(
            mode,
            tuple(clauses),
            tuple(_test_of(c, mode, targets, testset, prefixes.get(c)) for c in clauses),
            levels.claim - math.log(2.0 * len(clauses)),
        )

    def walk(self, testset: LabelledTestset) -> tuple[list[AnyWalk], Decision]:
        """Every clause's walk as far as labels are known, and the decision that follows."""
        walks = [test.walk(testset) for test in self.tests]
        return walks, _take_turns(walks, self.mode)


def _test_of(
    clause: NormalClause,
    mode: Mode,
    targets: Targets,
    testset: LabelledTestset,
    prefix: Prefix | None,
) -> AnyTest:
    goal = Goal.of(clause, mode)
    if goal.score.top is not None:
        return RivalsTest(goal, targets)
    # A testset that is hardly longer than the prefix would have nothing left behind it.
    if prefix is not None and len(testset.reading(goal.score)) >= LEAST_RATIO * prefix.length:
        return PrefixTest(goal, targets, prefix)
    return SequentialTest.on(goal, targets, testset)


def decide_by(test: ConditionTest, testset: LabelledTestset, *, batch: int) -> Verdict:
    """The verdict by the labels that are known now."""
    walks, decision = test.walk(testset)
    wanted: tuple[int, ...] = ()
    if decision.passed is None:
        wanted = _wanted(walks, decision, test.mode, batch)
    used = _consulted(walks, decision.limits)
    return Verdict(
        estimator=Estimator.SEQUENTIAL,
        result=_condition_result(walks, decision, test.mode),
        passed=decision.passed,
        clauses=tuple(
            _clause_result(clause, walk, limit, test, testset)
            for clause, walk, limit in zip(test.clauses, walks, decision.limits, strict=True)
        ),
        examples=len(testset),
        labels=int(np.count_nonzero(used)),
        wanted=wanted,
        at_hand=testset.at_hand_among(used),
    )


@dataclass(frozen=True)
class Decision:
    """Whether the condition is decided, and how many labels each clause may look at.

    ``passed`` is None while the clauses in ``waiting`` could still change the answer. ``ceiling``
    is the round and the index of the clause that decides if no waiting clause does so before. In
    each round a clause may ask for one label; round 0 has the labels at hand alone.
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


def _take_turns(walks: Sequence[AnyWalk], mode: Mode) -> Decision:
    """Ask in turns, one label a clause, until one decides the condition or all have ended."""
    deciding = [(w.asked, i) for i, w in enumerate(walks) if _decides(w.ending, mode)]
    if not deciding:
        waiting = tuple(i for i, walk in enumerate(walks) if walk.ending is Ending.OPEN)
        return Decision(None if waiting else True, tuple(walk.labels for walk in walks), waiting)
    last, first = min(deciding)
    # In the round in which the deciding clause ends, the clauses after it have not moved yet.
    rounds = [last if i <= first else max(last - 1, 0) for i in range(len(walks))]
    limits = tuple(min(w.labels, w.track.free(r)) for w, r in zip(walks, rounds, strict=True))
    waiting = tuple(
        i for i, walk in enumerate(walks) if walk.ending is Ending.OPEN and walk.asked < rounds[i]
    )
    return Decision(None if waiting else False, limits, waiting, (last, first))


def _condition_result(walks: Sequence[AnyWalk], decision: Decision, mode: Mode) -> Result:
    if decision.passed is None:
        return Result.UNKNOWN
    return conjunction(
        _result_at(walk, limit, mode) for walk, limit in zip(walks, decision.limits, strict=True)
    )


def _result_at(walk: AnyWalk, limit: int, mode: Mode) -> Result:
    shown, opposite = Result.TRUE, Result.FALSE
    if mode is Mode.FN_FREE:
        shown, opposite = opposite, shown
    if walk.ending is Ending.PROVEN and walk.labels <= limit:
        return shown
    return opposite if walk.claims(limit) else Result.UNKNOWN


def _clause_result(
    clause: NormalClause, walk: AnyWalk, limit: int, test: ConditionTest, testset: LabelledTestset
) -> ClauseResult:
    ending = ending_at(walk, limit)
    result = _result_at(walk, limit, test.mode)
    return ClauseResult(
        clause=clause,
        estimate=estimate_at(clause, walk, limit, testset),
        shown=walk.seen(clause.score, limit, test.log_side),
        result=result,
        possible=frozenset([result] if ending is not Ending.OPEN else Result),
        sample=limit if clause.score.needs_labels else walk.test.examples,
        evidence=ClauseEvidence(ending, limit, *walk.curves(limit)),
    )


def ending_at(walk: AnyWalk, limit: int) -> Ending:
    """How a walk ended, if it ended within so many labels."""
    return walk.ending if walk.labels <= limit else Ending.OPEN


def estimate_at(
    clause: NormalClause, walk: AnyWalk, limit: int, testset: LabelledTestset
) -> Fraction | None:
    """The score so far; of a mean over some examples only, times the share of those."""
    score = clause.score
    if isinstance(walk, RivalsWalk):
        return walk.estimate(score, limit)
    if isinstance(walk, PrefixWalk):
        return walk.estimate(score, limit)
    reading = testset.reading(score)
    if not score.needs_labels:
        return reading.counts.mean_range(score)[0] if len(reading) else None
    used = Counts.of(walk.codes[: walk.track.units_within(limit)], score.alphabet)
    if used.examples == 0:
        return None
    if not score.is_mean:
        return used.value(score)
    low, high = used.mean_range(score)
    mean = (low + high) / 2  # they differ if a label is unsettled
    if score.counts_everywhere:
        return mean
    return mean * Fraction(reading.counts.in_groups(score.relevant), len(reading))


def _consulted(walks: Sequence[AnyWalk], limits: Sequence[int]) -> Flags:
    """Which labels were looked at, up to the last of them."""
    looked_at = [walk.track.positions[:limit] for walk, limit in zip(walks, limits, strict=True)]
    used = np.zeros(max((int(part[-1]) + 1 for part in looked_at if len(part)), default=0), bool)
    for part in looked_at:
        used[part] = True
    return used


def _wanted(
    walks: Sequence[AnyWalk], decision: Decision, mode: Mode, batch: int
) -> tuple[int, ...]:
    """The labels to ask for next: as many as are certainly needed, and at least ``batch``.

    No waiting clause can end before its own ``fewest_more``, and the condition can't be decided
    before the first of them can decide it. Like rounds, these are counted in labels asked for.
    """
    futile_decides = mode is Mode.FP_FREE

    def earliest(index: int, *, any_ending: bool) -> int:
        walk = walks[index]
        more = walk.fewest_more(any_ending=any_ending, futile_decides=futile_decides)
        return walk.track.asked(walk.labels + more)

    horizon, decider = min((earliest(i, any_ending=False), i) for i in decision.waiting)
    if decision.ceiling is not None:
        horizon, decider = min((horizon, decider), decision.ceiling)
    _, first = min((walks[i].asked, i) for i in decision.waiting)
    positions = []
    for i in decision.waiting:
        walk = walks[i]
        until = min(earliest(i, any_ending=True), horizon if i <= decider else horizon - 1)
        if i == first:
            until = max(until, walk.asked + batch)
        ahead = slice(walk.labels, walk.track.up_to(until))
        missing = walk.track.missing(walk.track.codes[ahead])
        positions.append(walk.track.positions[ahead][missing])
    return tuple(int(position) for position in np.unique(np.concatenate(positions)))
