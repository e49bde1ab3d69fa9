"""Why a testset was retired, and what a letter is about: kinds with their details, and no words.

Code tells the kinds apart by their class. :mod:`wording` says them in words. Each has a ``KIND``,
its name in the record, which never changes.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class BudgetUsed:
    """All steps of the testset are used."""

    KIND: ClassVar[str] = "budget used"


@dataclass(frozen=True)
class FirstChange:
    """Under adaptivity firstChange, the first change ended it: a pass, or in fn-free a fail."""

    KIND: ClassVar[str] = "first change"

    passed: bool


@dataclass(frozen=True)
class ByHand:
    """The owner ended it. ``text`` is the owner's own."""

    KIND: ClassVar[str] = "by hand"

    text: str


Retirement = BudgetUsed | FirstChange | ByHand


@dataclass(frozen=True)
class VerdictLetter:
    """The verdict of the letter's step, for the one address that may know it."""

    KIND: ClassVar[str] = "verdict"


@dataclass(frozen=True)
class AlarmLetter:
    """The testset was retired, so a new one is needed."""

    KIND: ClassVar[str] = "alarm"

    reason: Retirement


@dataclass(frozen=True)
class StepsLeftWarning:
    """Only so many steps are left."""

    KIND: ClassVar[str] = "steps left"

    steps: int


@dataclass(frozen=True)
class UndecidedWarning:
    """Most commits were Unknown because the testset has too few examples."""

    KIND: ClassVar[str] = "mostly undecided"

    undecided: int
    decided: int


Topic = VerdictLetter | AlarmLetter | StepsLeftWarning | UndecidedWarning


def reason_document(reason: Retirement | Topic) -> dict[str, Any]:
    """A reason as it is recorded: its kind and its details."""
    if isinstance(reason, AlarmLetter):
        return {"kind": reason.KIND, "reason": reason_document(reason.reason)}
    return {"kind": reason.KIND, **asdict(reason)}


def parse_retirement(document: object) -> Retirement:
    """Read what :func:`reason_document` wrote of a retirement; a ValueError if it did not."""
    match document:
        case {"kind": BudgetUsed.KIND}:
            return BudgetUsed()
        case {"kind": FirstChange.KIND, "passed": bool(passed)}:
            return FirstChange(passed)
        case {"kind": ByHand.KIND, "text": str(text)}:
            return ByHand(text)
    raise ValueError("unknown reason of a retirement")


def parse_topic(document: object) -> Topic:
    """Read what :func:`reason_document` wrote of a letter's topic; a ValueError if it did not."""
    match document:
        case {"kind": VerdictLetter.KIND}:
            return VerdictLetter()
        case {"kind": AlarmLetter.KIND, "reason": reason}:
            return AlarmLetter(parse_retirement(reason))
        case {"kind": StepsLeftWarning.KIND, "steps": int(steps)}:
            return StepsLeftWarning(steps)
        case {
            "kind": UndecidedWarning.KIND,
            "undecided": int(undecided),
            "decided": int(decided),
        }:
            return UndecidedWarning(undecided, decided)
    raise ValueError("unknown topic of a letter")
