"""The state of a project: everything that its events say. :mod:`fold` makes it."""

from __future__ import annotations

from dataclasses import dataclass, field

from easeci.ledger.chain import Head
from easeci.ledger.events import BaselineArchived, OlderStoreAccepted
from easeci.ledger.messages import Message
from easeci.ledger.submission import Submission
from easeci.ledger.testset import Predictions, SentFile, Step, Testset

__all__ = ["Message", "Predictions", "SentFile", "State", "Step", "Submission", "Testset"]


@dataclass
class State:
    """Everything that the events of a project say."""

    first_commit: str | None = None
    testsets: dict[int, Testset] = field(default_factory=dict)
    submissions: list[Submission] = field(default_factory=list)
    baseline: str | None = None
    baseline_how: str | None = None
    public_baseline: str | None = None
    """The baseline as far as developers were told; None if they can't know it."""
    baseline_hidden: bool = False
    """Whether the baseline may follow from a verdict that developers never hear of."""
    built: int = 0
    archive: BaselineArchived | None = None
    messages: list[Message] = field(default_factory=list)
    looks: list[tuple[str, str]] = field(default_factory=list)
    older_accepted: list[tuple[str, OlderStoreAccepted]] = field(default_factory=list)
    """When the owner went on with an older copy of the store."""
    head: Head | None = None
    last_at: str = ""
    """The time of the last event."""

    @property
    def latest_testset(self) -> Testset | None:
        """The testset that was added last, retired or not."""
        return self.testsets[max(self.testsets)] if self.testsets else None

    @property
    def active_testset(self) -> Testset | None:
        """The testset that commits are tested on now, if there is one."""
        latest = self.latest_testset
        return None if latest is None or latest.retired is not None else latest

    def submission(self, number: int) -> Submission:
        """The submission with this number, counted from 1."""
        return self.submissions[number - 1]

    def step_of(self, submission: Submission) -> Step | None:
        """The step that a submission was tested as, or whose answer it repeats."""
        number = submission.step if submission.repeats is None else submission.repeats
        return None if number is None else self.testsets[submission.testset].steps[number - 1]

    def interrupted(self, testset: Testset) -> list[Submission]:
        """The charged submissions whose run on the sealed examples has not ended, in order."""
        waiting = [step.submission for step in testset.steps if step.passed is None]
        return [self.submission(number) for number in waiting if not self.submission(number).ready]

    def baseline_steps(self, testset: Testset) -> frozenset[int]:
        """The steps whose commits became the baseline because they passed.

        A commit may become it when it passes, or later, when it comes to the branch of baselines.
        A baseline that the owner set is not counted, nor another commit that repeats the answer.
        """
        found = set()
        for submission in self.submissions:
            step = self.step_of(submission) if submission.became_baseline else None
            if step is None or step.testset != testset.number:
                continue
            if self.submission(step.submission).commit == submission.commit:
                found.add(step.number)
        return frozenset(found)

    def queue(self, testset: Testset) -> list[Submission]:
        """What an older version built and left waiting, not charged, in the order of building."""
        waiting = [s for s in self.submissions if s.testset == testset.number and s.queued]
        return sorted(waiting, key=lambda submission: submission.turn)

    def last_of(self, testset: Testset, commit: str) -> Submission | None:
        """The last submission of a commit to a testset that did not fail to build."""
        for submission in reversed(self.submissions):
            if (submission.testset, submission.commit) != (testset.number, commit):
                continue
            if submission.failure is None:
                return submission
        return None

    def build_failures(self, testset: Testset) -> int:
        """How many submissions to a testset could not be built."""
        return sum(s.failure is not None for s in self.submissions if s.testset == testset.number)
