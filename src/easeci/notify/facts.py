"""What letters are written from: plain facts, which the caller gathers."""

from __future__ import annotations

from dataclasses import dataclass

from easeci.ledger.reasons import Retirement, StepsLeftWarning, UndecidedWarning
from easeci.verdict.logic import Result


@dataclass(frozen=True)
class ClauseFacts:
    """One clause of a verdict; estimate and interval in points or percent."""

    text: str
    estimate: str
    interval: str
    result: Result


@dataclass(frozen=True)
class VerdictFacts:
    """The owner's verdict of one step.

    ``why`` is one sentence without a full stop. ``result`` is None if the program failed on the
    testset, so that nothing was measured. ``note`` is what to say of the intervals, if anything.
    ``secret``: developers must not know it, as under adaptivity none. ``head`` is "number:code" of
    the ledger when the verdict was recorded.
    """

    project: str
    commit: str
    subject: str
    branch: str | None
    testset: int
    step: int
    steps: int
    passed: bool
    why: str
    result: Result | None
    clauses: tuple[ClauseFacts, ...]
    labels: int
    examples: int
    secret: bool
    head: str
    note: str | None = None


@dataclass(frozen=True)
class Needs:
    """What the plan asks of the next testset, if its script stays the same.

    ``examples`` are to be brought, the public sample included; ``labels`` are for its whole life.
    """

    examples: int
    labels: int | None


@dataclass(frozen=True)
class AlarmFacts:
    """A testset that was retired."""

    project: str
    testset: int
    reason: Retirement
    steps_used: int
    steps: int
    examples: int
    labels: int
    needs: Needs | None
    head: str


@dataclass(frozen=True)
class WarningFacts:
    """A testset in use. ``undecided`` of its ``decided`` steps would have needed more examples."""

    project: str
    testset: int
    topic: StepsLeftWarning | UndecidedWarning
    steps_used: int
    steps: int
    decided: int
    undecided: int
    needs: Needs | None
    head: str
