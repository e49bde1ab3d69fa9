"""What a decision says: of each clause, and of the whole condition."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from easeci.evidence.clause_test import CurveEnd
from easeci.evidence.endings import Ending
from easeci.script import Estimator, LinearClause
from easeci.verdict.logic import Interval, Result


@dataclass(frozen=True)
class ClauseEvidence:
    """How the walk of one clause along the testset ended, after how many labels, and where its
    three curves of evidence stand against what they must reach."""

    ending: Ending
    labels: int
    proof: CurveEnd
    futility: CurveEnd
    claim: CurveEnd


@dataclass(frozen=True)
class ClauseResult:
    """What the testset says of one clause.

    ``estimate`` is the mean score of the ``sample``, or None if it can't be told yet, and
    ``interval`` what is shown of Φ, each end at its own level. ``possible`` are the results that
    missing labels could still lead to.

    A published estimator has a ``tolerance``. If the sample is smaller than ``needed`` it is not
    the script's but the wider one that holds: ``widened``. A sequential one has ``evidence``.
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
        return any(result.widened for result in self.clauses)


def possible_results(intervals: list[Interval], clause: LinearClause) -> frozenset[Result]:
    """What missing labels can lead to: as the mean grows, False, Unknown, True, or back."""
    results = {end.compare(clause.comparison, clause.threshold) for end in intervals}
    if results == {Result.TRUE, Result.FALSE}:
        results.add(Result.UNKNOWN)
    return frozenset(results)
