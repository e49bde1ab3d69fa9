"""A commit that was submitted, and what became of it so far."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Submission:
    """A commit on its way: answered free of charge, or charged as a step and then built."""

    number: int
    commit: str
    subject: str
    branch: str | None
    candidate: bool
    testset: int
    at: str
    model: str = ""
    built: bool = False
    sent: bool = False
    """Whether a file of predictions was sent with it, and was read."""
    turn: int = 0
    """Its place among all submissions that were built: older versions tested in this order."""
    failure: str | None = None
    """Why its build failed, at no cost."""
    public: bool = False
    """Whether the failure and its log depend on no sealed example."""
    runs: int = 0
    """How often its program was given the sealed examples."""
    run_failure: str | None = None
    """Why its program failed on the sealed examples. Only the owner may see this."""
    interruption: str | None = None
    """Why its last run on the sealed examples ended early. Only the owner may see this."""
    log: str | None = None
    step: int | None = None
    repeats: int | None = None
    signal: str | None = None
    superseded_by: int | None = None
    unchanged_from: str | None = None
    """The model of the baseline that it did not differ from on the public sample."""
    became_baseline: bool = False
    """Whether it became the baseline because it passed. Only the owner may see this."""

    @property
    def tested_model(self) -> str:
        """Its model. A commit that an older version submitted has its own."""
        return self.model or self.commit

    @property
    def queued(self) -> bool:
        """Whether an older version built it and left it waiting for its turn, not charged."""
        done = self.step is not None or self.signal is not None or self.superseded_by is not None
        return self.built and self.repeats is None and not done

    @property
    def problem(self) -> str | None:
        """Why its build or its run failed, or was last interrupted. Only the owner may see this."""
        return self.failure or self.run_failure or (None if self.built else self.interruption)

    @property
    def ready(self) -> bool:
        """Whether its run on the sealed examples has ended, well or badly."""
        return self.built or self.run_failure is not None
