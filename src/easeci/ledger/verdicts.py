"""A verdict as the ledger records it, and as ``--json`` shows it.

``record_of`` makes it from a live verdict, ``RecordedVerdict.document`` writes it with the keys of
the JSON document, and ``parse_verdict`` reads that document again. The keys exist only here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from easeci.errors import InfrastructureError
from easeci.evidence.endings import Ending
from easeci.script import Estimator
from easeci.verdict.logic import Result

if TYPE_CHECKING:  # it brings numpy, and reading a record needs none
    from easeci.verdict.result import ClauseResult, Verdict


@dataclass(frozen=True)
class RecordedClause:
    """What was recorded of one clause of the condition."""

    text: str
    """The clause as the script writes it, such as "n - o > 0.02 +/- 0.01"."""
    result: Result
    estimate: float | None
    """The mean score of the sample; None if missing labels hide it."""
    low: float
    """The lower end of the interval that is shown for the true value."""
    high: float
    """The upper end of that interval."""
    tolerance: float | None
    """The tolerance that a published estimator holds; None for a sequential or exact one."""
    widened: bool
    """Whether that tolerance is wider than the script's, because the sample was too small."""
    examples: int
    """The examples that the estimate rests on."""
    examples_needed: int | None
    """The examples that the script's own tolerance needs; None where that is not known."""
    ended: Ending | None
    """How the walk of a sequential test ended; None for other estimators and in older records."""

    def document(self) -> dict[str, Any]:
        """The clause as a JSON document."""
        return {
            "clause": self.text,
            "estimate": self.estimate,
            "interval": [self.low, self.high],
            "outcome": str(self.result),
            "tolerance": self.tolerance,
            "widened": self.widened,
            "examples": self.examples,
            "examples_needed": self.examples_needed,
            "ended": None if self.ended is None else self.ended.value,
        }


@dataclass(frozen=True)
class RecordedVerdict:
    """What was recorded of one step: the owner's, and no developer sees it."""

    result: Result
    """True, False or Unknown, of the whole condition."""
    passed: bool | None
    """The answer that the mode makes of the result; None while labels are missing."""
    estimator: Estimator
    clauses: tuple[RecordedClause, ...]
    """One for each clause of the script, in its order."""
    examples: int
    """The examples of the testset."""
    labels: int
    """The labels that the verdict consulted."""
    labels_wanted: int
    """The labels to ask for next; 0 once it is decided."""
    widened: bool
    """Whether any clause was decided with a wider tolerance than the script's."""

    @property
    def undecided(self) -> bool:
        """Whether it is Unknown because the testset has too few examples.

        A sequential test that gave up is an answer: the commit is not clearly what the condition
        asks for. Most commits get that answer.
        """
        if self.result is not Result.UNKNOWN:
            return False
        ends = {clause.ended for clause in self.clauses}
        return Ending.FUTILE not in ends or Ending.EXHAUSTED in ends

    def document(self) -> dict[str, Any]:
        """The verdict as a JSON document that other programs can rely on."""
        return {
            "outcome": str(self.result),
            "pass": self.passed,
            "estimator": str(self.estimator),
            "clauses": [clause.document() for clause in self.clauses],
            "examples": self.examples,
            "labels": self.labels,
            "labels_wanted": self.labels_wanted,
            "widened": self.widened,
        }


def record_of(verdict: Verdict) -> RecordedVerdict:
    """What is recorded of a live verdict."""
    return RecordedVerdict(
        result=verdict.result,
        passed=verdict.passed,
        estimator=verdict.estimator,
        clauses=tuple(_record_of_clause(found) for found in verdict.clauses),
        examples=verdict.examples,
        labels=verdict.labels,
        labels_wanted=len(verdict.wanted),
        widened=verdict.widened,
    )


def _record_of_clause(found: ClauseResult) -> RecordedClause:
    return RecordedClause(
        text=found.clause.text,
        result=found.result,
        estimate=None if found.estimate is None else float(found.estimate),
        low=float(found.interval.low),
        high=float(found.interval.high),
        tolerance=None if found.tolerance is None else float(found.tolerance),
        widened=found.widened,
        examples=found.sample,
        examples_needed=found.needed,
        ended=None if found.evidence is None else found.evidence.ending,
    )


def parse_verdict(document: Mapping[str, Any]) -> RecordedVerdict:
    """Read the document of a verdict. Clauses of the first records have no "ended"."""
    try:
        return RecordedVerdict(
            result=Result(document["outcome"]),
            passed=document["pass"],
            estimator=Estimator(document["estimator"]),
            clauses=tuple(_parse_clause(clause) for clause in document["clauses"]),
            examples=document["examples"],
            labels=document["labels"],
            labels_wanted=document["labels_wanted"],
            widened=document["widened"],
        )
    except (KeyError, ValueError, TypeError):
        raise InfrastructureError(
            "the store is damaged: a verdict cannot be read",
            hint="`easeci log --verify` says what else is wrong; restore the store from a copy.",
        ) from None


def _parse_clause(document: Mapping[str, Any]) -> RecordedClause:
    low, high = document["interval"]
    ended = document.get("ended")
    return RecordedClause(
        text=document["clause"],
        result=Result(document["outcome"]),
        estimate=document["estimate"],
        low=low,
        high=high,
        tolerance=document["tolerance"],
        widened=document["widened"],
        examples=document["examples"],
        examples_needed=document["examples_needed"],
        ended=None if ended is None else Ending(ended),
    )
