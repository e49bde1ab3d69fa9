"""A verdict as the ledger records it, and as ``--json`` shows it.

``record_of`` makes it from a live verdict, ``RecordedVerdict.document`` writes it with the keys of
the JSON document, and ``parse_verdict`` reads that document again. The keys exist only here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from easeci.errors import InfrastructureError
from easeci.evidence.endings import Ending
from easeci.script import Estimator, NormalClause, compile_condition, parse_condition
from easeci.script.lattice import Scoring
from easeci.script.scorer import MOST_TRIALS
from easeci.verdict import wording
from easeci.verdict.logic import Result

ROUNDING = 1e-9
"""Two machines may round the last digits of a number differently."""

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
    scores: tuple[str, ...] = ()
    """The names of the scores of outputs that the clause is about; none if there is no scorer."""
    interval_error: float | None = None
    """How probable it is at most that a sequential interval misses the true value.

    None for other estimators. None in older records too: there the interval of a sequential verdict
    is only what its answer excludes, such as all values above the threshold.
    """

    @property
    def clause(self) -> NormalClause:
        """The clause in normal form, from its text."""
        return _compiled(self.text, self.scores)

    @property
    def estimate_words(self) -> str:
        """The estimate in points or percent, such as "+2.4 points"."""
        if self.estimate is None:
            return "not known"
        return wording.amount(self.clause.score, self.estimate)

    @property
    def interval_words(self) -> str:
        """The interval in points or percent, such as "+1.6 to +3.2 points"."""
        return wording.interval_words(self.clause.score, self.low, self.high)

    def document(self) -> dict[str, Any]:
        """The clause as a JSON document."""
        return {
            **({"scores": list(self.scores)} if self.scores else {}),
            "clause": self.text,
            "estimate": self.estimate,
            "interval": [self.low, self.high],
            "outcome": str(self.result),
            "tolerance": self.tolerance,
            "widened": self.widened,
            "examples": self.examples,
            "examples_needed": self.examples_needed,
            "ended": None if self.ended is None else self.ended.value,
            "interval_error": self.interval_error,
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
    labels_at_hand: int = 0
    """Of the labels consulted, those that were known when the commit's turn came."""

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

    @property
    def why(self) -> str:
        """One sentence on why it passed or failed, for the owner."""
        return wording.why(self._findings, passed=self.passed)

    @property
    def briefly(self) -> str:
        """Why it passed or failed, in one to three words."""
        return wording.briefly(self._findings, passed=self.passed)

    @property
    def interval_note(self) -> str | None:
        """What to say of an interval that contains the threshold of a proven clause."""
        return wording.ANYTIME if any(map(wording.contains_threshold, self._findings)) else None

    @property
    def _findings(self) -> list[wording.ClauseFinding]:
        return [
            wording.ClauseFinding(
                clause=found.clause,
                result=found.result,
                ended=found.ended,
                labels=found.examples if found.clause.score.needs_labels else 0,
                low=found.low,
                high=found.high,
                asked=self.labels > self.labels_at_hand,
            )
            for found in self.clauses
        ]

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
            "labels_at_hand": self.labels_at_hand,
        }


@lru_cache(maxsize=256)
def _compiled(text: str, scores: tuple[str, ...]) -> NormalClause:
    """Cached, because all steps of a testset have the same clauses."""
    scoring = Scoring(scores, trials=MOST_TRIALS) if scores else None
    (clause,) = compile_condition(parse_condition(text), scoring=scoring)
    return clause


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
        labels_at_hand=verdict.at_hand,
    )


def _record_of_clause(found: ClauseResult) -> RecordedClause:
    return RecordedClause(
        text=found.clause.text,
        scores=found.clause.score.score_names,
        result=found.result,
        estimate=None if found.estimate is None else float(found.estimate),
        low=float(found.interval.low),
        high=float(found.interval.high),
        tolerance=None if found.tolerance is None else float(found.tolerance),
        widened=found.widened,
        examples=found.sample,
        examples_needed=found.needed,
        ended=None if found.evidence is None else found.evidence.ending,
        interval_error=found.interval_error,
    )


def differences(recorded: RecordedVerdict, again: RecordedVerdict) -> list[str]:
    """Where a recomputed verdict differs from the record; empty if the record is right.

    Numbers may differ by rounding. What older records lack or have in another form is left out:
    how a walk ended, the estimate with unsettled labels, and the interval.
    """
    found = [
        f"{name} is {was}, recomputed {now}"
        for name, was, now in (
            ("the answer", recorded.passed, again.passed),
            ("the outcome", recorded.result, again.result),
            ("the estimator", recorded.estimator, again.estimator),
            ("the number of examples", recorded.examples, again.examples),
            ("the number of labels", recorded.labels, again.labels),
            ("the number of clauses", len(recorded.clauses), len(again.clauses)),
        )
        if was != now
    ]
    for was, now in zip(recorded.clauses, again.clauses, strict=False):
        found += [f"clause {was.text}: {line}" for line in _clause_differences(was, now)]
    return found


def _clause_differences(was: RecordedClause, now: RecordedClause) -> list[str]:
    rows: list[tuple[str, object, object]] = [
        ("its text", was.text, now.text),
        ("the outcome", was.result, now.result),
        ("the number of examples", was.examples, now.examples),
    ]
    if was.ended is not None:
        rows.append(("the ending", was.ended.value, None if now.ended is None else now.ended.value))
    found = [f"{name} is {one}, recomputed {other}" for name, one, other in rows if one != other]
    numbers = [("the estimate", was.estimate, now.estimate)] if was.estimate is not None else []
    if (was.interval_error is None) == (now.interval_error is None):
        numbers += [("the lower limit", was.low, now.low), ("the upper limit", was.high, now.high)]
    return found + [
        f"{name} is {one}, recomputed {other}"
        for name, one, other in numbers
        if one is None or other is None or not math.isclose(one, other, abs_tol=ROUNDING)
    ]


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
            labels_at_hand=document.get("labels_at_hand", 0),
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
        scores=tuple(document.get("scores", ())),
        result=Result(document["outcome"]),
        estimate=document["estimate"],
        low=low,
        high=high,
        tolerance=document["tolerance"],
        widened=document["widened"],
        examples=document["examples"],
        examples_needed=document["examples_needed"],
        ended=None if ended is None else Ending(ended),
        interval_error=document.get("interval_error"),
    )
