"""A commit that was submitted, and what became of it so far."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Submission:
    """A commit on its way: built or failed, then charged as a step or answered without one."""

    number: int
    commit: str
    subject: str
    branch: str | None
    candidate: bool
    testset: int
    at: str
    built: bool = False
    turn: int = 0
    """Its place among all submissions that were built: commits are tested in this order."""
    failure: str | None = None
    log: str | None = None
    step: int | None = None
    repeats: int | None = None
    signal: str | None = None
    superseded_by: int | None = None
    became_baseline: bool = False
    """Whether it became the baseline because it passed. Only the owner may see this."""

    @property
    def queued(self) -> bool:
        """Whether it is built and waits for its turn."""
        done = self.step is not None or self.signal is not None or self.superseded_by is not None
        return self.built and not done
