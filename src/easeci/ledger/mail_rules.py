"""Which letters an answer or the end of a testset makes necessary. Nothing is sent here.

The events are recorded in one transaction with what the letters tell, so that no letter is lost and
none tells what did not happen.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from easeci.ledger.events import MessageQueued
from easeci.ledger.reasons import (
    AlarmLetter,
    Retirement,
    StepsLeftWarning,
    Topic,
    UndecidedWarning,
    VerdictLetter,
)
from easeci.ledger.state import State, Testset

STEPS_LEFT = 2
"""So many steps before the end, the owner is warned."""
FEW_DECIDED = 8
"""With fewer decided steps than this, nobody is warned that they were undecided."""


@dataclass
class Letters:
    """Letters about one testset, numbered after those that exist."""

    state: State
    testset: int
    made: int = field(default=0)

    def verdict(self, recipient: str | None, step: int) -> list[MessageQueued]:
        """A verdict, for the one address that may know it."""
        return self._letter(VerdictLetter(), recipient, step)

    def alarm(self, recipient: str | None, reason: Retirement) -> list[MessageQueued]:
        """A new testset is needed."""
        return self._letter(AlarmLetter(reason), recipient, None)

    def warnings(self, testset: Testset, step: int) -> list[MessageQueued]:
        """What the owner alone should know before the testset ends."""
        script, found = testset.script, []
        if script.steps - step == STEPS_LEFT:
            found += self._letter(StepsLeftWarning(STEPS_LEFT), script.email, step)
        warning = mostly_undecided(testset)
        if warning is not None and not self._warned_of_undecided():
            found += self._letter(warning, script.email, step)
        return found

    def _warned_of_undecided(self) -> bool:
        return any(
            message.testset == self.testset and isinstance(message.topic, UndecidedWarning)
            for message in self.state.messages
        )

    def _letter(self, topic: Topic, recipient: str | None, step: int | None) -> list[MessageQueued]:
        if recipient is None:
            return []
        self.made += 1
        number = len(self.state.messages) + self.made
        return [MessageQueued(number, topic, recipient, self.testset, step)]


def mostly_undecided(testset: Testset) -> UndecidedWarning | None:
    """The warning that most commits were undecided; None if few are decided or most are clear."""
    decided = [step for step in testset.steps if step.passed is not None]
    undecided = sum(step.undecided for step in decided)
    if len(decided) < FEW_DECIDED or 2 * undecided <= len(decided):
        return None
    return UndecidedWarning(undecided, len(decided))
