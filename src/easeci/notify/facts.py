"""What letters are written from: plain facts, put together by whoever knows them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True)
class ClauseFacts:
    """One clause of a verdict. ``estimate`` is None if it can't be told."""

    text: str
    estimate: float | None
    low: float
    high: float
    outcome: str


@dataclass(frozen=True)
class VerdictFacts:
    """The owner's verdict of one step.

    ``outcome`` is True, False or Unknown, in words. ``secret``: developers are not to know it, as
    under adaptivity none. ``head`` is "number:code" of the ledger when the verdict was recorded.
    """

    project: str
    commit: str
    subject: str
    branch: str | None
    testset: int
    step: int
    steps: int
    passed: bool
    outcome: str
    clauses: tuple[ClauseFacts, ...]
    labels: int
    examples: int
    secret: bool
    head: str


class AlarmReason(StrEnum):
    """Why a new testset is needed."""

    BUDGET_USED = "budget used"
    FIRST_CHANGE = "first change"
    BY_HAND = "by hand"


@dataclass(frozen=True)
class Needs:
    """What the plan asks of the next testset, if its script stays the same."""

    examples: int
    labels: int | None


@dataclass(frozen=True)
class AlarmFacts:
    """A testset that was retired. ``detail`` is the reason as the ledger has it."""

    project: str
    testset: int
    reason: AlarmReason
    detail: str
    steps_used: int
    steps: int
    examples: int
    labels: int
    needs: Needs | None
    head: str


class WarningReason(StrEnum):
    """What an owner is warned of ahead of time."""

    STEPS_LEFT = "few steps left"
    UNDECIDED = "too many undecided"


@dataclass(frozen=True)
class WarningFacts:
    """A testset that is in use still. ``undecided`` of its ``decided`` steps would have needed more
    examples."""

    project: str
    testset: int
    reason: WarningReason
    steps_used: int
    steps: int
    decided: int
    undecided: int
    needs: Needs | None
    head: str
