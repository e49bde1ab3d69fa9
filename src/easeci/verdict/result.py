"""The result of a decision, for each clause and for the whole condition."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from easeci.evidence.clause_test import CurveEnd
from easeci.evidence.confidence import Shown
from easeci.evidence.endings import Ending
from easeci.script import Estimator, NormalClause
from easeci.verdict import wording
from easeci.verdict.logic import Interval, Result


@dataclass(frozen=True)
class ClauseEvidence:
    """How the walk of one clause along the testset ended, and after how many labels.

    Each of the three curves of evidence has its last value and its target.
    """

    ending: Ending
    labels: int
    proof: CurveEnd
    futility: CurveEnd
    claim: CurveEnd


@dataclass(frozen=True)
class ClauseResult:
    """What the testset shows about one clause.

    ``estimate`` is the mean score of the ``sample``, or None if it is not known yet. If labels of a
    sequential verdict are unsettled, it is the middle between their two extremes. ``shown`` says
    where Φ is, see :attr:`interval`. ``possible`` are the results that missing labels could still
    lead to.

    A published estimator has a ``tolerance``. If the sample is smaller than ``needed``, it is wider
    than the script's, and ``widened`` is set. A sequential estimator has ``evidence``.
    """

    clause: NormalClause
    estimate: Fraction | None
    shown: Interval | Shown
    result: Result
    possible: frozenset[Result]
    sample: int
    tolerance: Fraction | None = None
    widened: bool = False
    needed: int | None = None
    evidence: ClauseEvidence | None = None

    @cached_property
    def interval(self) -> Interval:
        """Where Φ was shown to be.

        An exact or published estimator decides by it, and each end has its own level. A sequential
        one has an interval that holds at every label at once (:mod:`easeci.evidence.confidence`),
        with other bets than its proof. So it may contain the threshold although the clause is
        proven.
        """
        if isinstance(self.shown, Interval):
            return self.shown
        low, high = self.shown.interval
        return Interval(Fraction(low), Fraction(high))

    @property
    def interval_error(self) -> float | None:
        """How probable it is at most that a sequential interval misses Φ; None for others."""
        return None if isinstance(self.shown, Interval) else self.shown.error

    @property
    def final(self) -> bool:
        """Whether no missing label can change the result."""
        return len(self.possible) == 1

    def __str__(self) -> str:
        """The clause with its result, estimate and interval, on one line."""
        score, shown = self.clause.score, self.interval
        estimate = "not known"
        if self.estimate is not None:
            estimate = wording.amount(score, float(self.estimate))
        interval = wording.interval_words(score, float(shown.low), float(shown.high))
        return f"{self.clause.text}: {self.result}, {score} = {estimate}, interval {interval}"


@dataclass(frozen=True)
class Verdict:
    """The owner's answer for one commit.

    ``passed`` is None while it depends on labels that are missing; ``wanted`` then holds the
    positions, along the testset's order, of the examples to label. ``at_hand`` of the ``labels``
    were known when the commit's turn came.
    """

    estimator: Estimator
    result: Result
    passed: bool | None
    clauses: tuple[ClauseResult, ...]
    examples: int
    labels: int
    wanted: tuple[int, ...]
    at_hand: int = 0

    @property
    def widened(self) -> bool:
        """Whether any clause has a wider tolerance than the script's."""
        return any(result.widened for result in self.clauses)

    @property
    def findings(self) -> list[wording.ClauseFinding]:
        """What the reason for the answer is worded from."""
        return [
            wording.ClauseFinding(
                clause=found.clause,
                result=found.result,
                ended=None if found.evidence is None else found.evidence.ending,
                labels=found.sample if found.clause.score.needs_labels else 0,
                low=float(found.interval.low),
                high=float(found.interval.high),
                asked=self.labels > self.at_hand,
            )
            for found in self.clauses
        ]

    def __str__(self) -> str:
        """The answer, the reason and one line for each clause."""
        clauses = [f"  {found}" for found in self.clauses]
        rests = f"{self.examples:,} examples and {self.labels:,} labels"
        return "\n".join([self._answer(), *clauses, f"  by {self.estimator}, on {rests}"])

    def __repr__(self) -> str:
        """Short, because a verdict has many fields."""
        return f"<Verdict {self._answer()}>"

    def _answer(self) -> str:
        if self.passed is None:
            return f"WAITING: waits for {len(self.wanted):,} labels"
        why = wording.why(self.findings, passed=self.passed)
        return f"{'PASS' if self.passed else 'FAIL'}: {why}"


def possible_results(intervals: list[Interval], clause: NormalClause) -> frozenset[Result]:
    """The results that missing labels can lead to.

    As the mean grows, the result goes from False over Unknown to True, or the other way round.
    """
    results = {end.compare(clause.comparison, clause.threshold) for end in intervals}
    if results == {Result.TRUE, Result.FALSE}:
        results.add(Result.UNKNOWN)
    return frozenset(results)
