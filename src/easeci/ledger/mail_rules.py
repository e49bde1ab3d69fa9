"""Which letters an answer or an end gives rise to: events for the outbox, and nothing sent yet.

They are recorded in the transaction of what they tell, so that none is lost and none is invented.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from easeci.ledger.events import MessageQueued
from easeci.ledger.state import State, Testset
from easeci.script import Mode

STEPS_LEFT = 2
FEW_DECIDED = 8
"""Only after so many steps anything is said of how often they were undecided."""


@dataclass
class Letters:
    """Letters about one testset, numbered behind those that there are."""

    state: State
    testset: int
    made: int = field(default=0)

    def verdict(self, recipient: str | None, step: int) -> list[MessageQueued]:
        """A verdict, for the one address that may know it."""
        return self._letter("verdict", recipient, step, "")

    def alarm(self, recipient: str | None, reason: str) -> list[MessageQueued]:
        """A new testset is needed."""
        return self._letter("alarm", recipient, None, reason)

    def warnings(self, testset: Testset, step: int) -> list[MessageQueued]:
        """To the owner alone, ahead of time."""
        script, found = testset.script, []
        if script.steps - step == STEPS_LEFT:
            found += self._letter("warning", script.email, step, f"{STEPS_LEFT} steps are left")
        told = any(m.testset == self.testset and UNDECIDED in m.reason for m in self.state.messages)
        reason = mostly_undecided(testset)
        if reason is not None and not told:
            found += self._letter("warning", script.email, step, reason)
        return found

    def _letter(
        self, about: str, recipient: str | None, step: int | None, reason: str
    ) -> list[MessageQueued]:
        if recipient is None:
            return []
        self.made += 1
        number = len(self.state.messages) + self.made
        return [MessageQueued(number, about, recipient, self.testset, step, reason)]


UNDECIDED = "commits were undecided"
FIRST_CHANGE = {
    Mode.FP_FREE: "its first pass, and firstChange ends there",
    Mode.FN_FREE: "its first fail, and firstChange ends there",
}


def mostly_undecided(testset: Testset) -> str | None:
    """How many commits were, if there are enough of them and most were; None otherwise."""
    decided = [step for step in testset.steps if step.passed is not None]
    undecided = sum(step.undecided for step in decided)
    if len(decided) < FEW_DECIDED or 2 * undecided <= len(decided):
        return None
    return f"{undecided} of {len(decided)} {UNDECIDED}"
