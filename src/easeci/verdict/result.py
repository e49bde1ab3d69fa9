"""The result of a decision, for each clause and for the whole condition."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from easeci.evidence.clause_test import CurveEnd
from easeci.evidence.endings import Ending
from easeci.script import Estimator, LinearClause
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

    ``estimate`` is the mean score of the ``sample``, or None if it is not known yet. ``interval``
    is where Φ was shown to be, each end at its own level. ``possible`` are the results that
    missing labels could still lead to.

    A published estimator has a ``tolerance``. If the sample is smaller than ``needed``, it is wider
    than the script's, and ``widened`` is set. A sequential estimator has ``evidence``.
    """

    clause: LinearClause
    estimate: Fraction | None
    interval: Interval
    result: Result
    possible: frozenset[Result]
    sample: int
    tolerance: Fraction | None = None
    widened: bool = False
    needed: int | None = None
    evidence: ClauseEvidence | None = None

    @property
    def final(self) -> bool:
        """Whether no missing label can change the result."""
        return len(self.possible) == 1


@dataclass(frozen=True)
class Verdict:
    """The owner's answer for one commit.

    ``passed`` is None while it depends on labels that are missing; ``wanted`` then holds the
    positions, along the testset's order, of the examples to label.
    """

    estimator: Estimator
    result: Result
    passed: bool | None
    clauses: tuple[ClauseResult, ...]
    examples: int
    labels: int
    wanted: tuple[int, ...]

    @property
    def widened(self) -> bool:
        """Whether any clause has a wider tolerance than the script's."""
        return any(result.widened for result in self.clauses)


def possible_results(intervals: list[Interval], clause: LinearClause) -> frozenset[Result]:
    """The results that missing labels can lead to.

    As the mean grows, the result goes from False over Unknown to True, or the other way round.
    """
    results = {end.compare(clause.comparison, clause.threshold) for end in intervals}
    if results == {Result.TRUE, Result.FALSE}:
        results.add(Result.UNKNOWN)
    return frozenset(results)
