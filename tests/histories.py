"""Histories of projects made of events, for tests of what is folded and shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from easeci.evidence.endings import Ending
from easeci.ledger.chain import Head, Record, chained, start
from easeci.ledger.events import (
    BaselineSet,
    Built,
    Charged,
    Decided,
    Event,
    ProjectOpened,
    Signalled,
    Submitted,
    TestsetAdded,
    TurnCame,
)
from easeci.ledger.fold import fold
from easeci.ledger.state import State
from easeci.ledger.verdicts import RecordedClause, RecordedVerdict
from easeci.script import Estimator
from easeci.verdict.logic import Result

KEY = b"k" * 32
SCRIPT = {
    "condition": ["n - o > 0.02 +/- 0.01"],
    "reliability": ["0.99"],
    "mode": ["fp-free"],
    "adaptivity": ["full"],
    "steps": ["4"],
    "script": ["./test_model.py"],
}


def added(number: int = 1, **keys: str) -> TestsetAdded:
    """The event of a testset that was added."""
    return TestsetAdded(
        testset=number,
        name="examples.csv",
        examples=100,
        needed=90,
        script=SCRIPT | {key: [value] for key, value in keys.items()},
        source=".easeci.yml",
        estimator="sequential",
        files={"order.npy": "0" * 64},
    )


CLAUSE = RecordedClause(
    text="n - o > 0.02 +/- 0.01",
    result=Result.FALSE,
    estimate=0.01,
    low=-1.0,
    high=0.015,
    tolerance=None,
    widened=False,
    examples=9,
    examples_needed=None,
    ended=Ending.PROVEN,
)
VERDICT = RecordedVerdict(
    result=Result.FALSE,
    passed=False,
    estimator=Estimator.SEQUENTIAL,
    clauses=(CLAUSE,),
    examples=100,
    labels=9,
    labels_wanted=0,
    widened=False,
)


def verdict(**changes: Any) -> RecordedVerdict:
    """A verdict as a sequential test leaves it, but for some fields."""
    return replace(VERDICT, **changes)


@dataclass
class History:
    """Events as they would be recorded, one second apart."""

    events: list[Event] = field(default_factory=list)
    submissions: int = 0

    @staticmethod
    def begun(**keys: str) -> History:
        """A project with a testset and a baseline."""
        history = History()
        history.add(ProjectOpened("f" * 40), added(1, **keys), BaselineSet("b" * 40, "set"))
        return history

    def add(self, *events: Event) -> History:
        """Append events."""
        self.events += events
        return self

    def commit(self, name: str, passed: bool | None, *, signal: str | None = None) -> History:
        """A commit that is charged as the next step, built, and decided unless it waits."""
        self.submissions += 1
        number, commit = self.submissions, name * 40
        self.add(
            Submitted(number, commit, f"commit {name}", "main", True, 1),
            Charged(number, number),
            Built(number, f"predictions/{name}", "0" * 64, f"fingerprint {name}"),
            TurnCame(1, number, "b" * 40, 0),
        )
        if passed is not None:
            found = verdict(
                result=Result.TRUE if passed else Result.FALSE,
                passed=passed,
                labels=7 if passed else 9,
            )
            self.add(
                Decided(1, number, passed, found.document()),
                Signalled(number, signal or ("pass" if passed else "fail")),
            )
        return self

    @property
    def records(self) -> list[Record]:
        """The events as a store holds them."""
        return recorded(self.events)

    @property
    def state(self) -> State:
        """What the events come to."""
        return fold(self.records)


def recorded(events: Sequence[Event], project: str = "p") -> list[Record]:
    """Events as records of one project, chained."""
    records: list[Record] = []
    head = start(KEY, project)
    for second, event in enumerate(events):
        at = f"2026-11-16T00:{second // 60 % 60:02}:{second % 60:02}Z"
        records += chained(KEY, head, at, [event])
        head = Head(records[-1].number, records[-1].code)
    return records
