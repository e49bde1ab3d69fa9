"""A testset as the ledger knows it: its sealed script, its files, and the steps spent on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from easeci.ledger.events import BaselineFailed
from easeci.ledger.reasons import Retirement
from easeci.ledger.sealed_script import SealedTerms, sealed_terms, unsealed
from easeci.ledger.submission import Submission
from easeci.script import Estimator, Script

if TYPE_CHECKING:
    from easeci.ledger.verdicts import RecordedVerdict


@dataclass(frozen=True)
class Predictions:
    """A commit's predictions on one testset: equal ones have the same fingerprint."""

    file: str
    digest: str
    fingerprint: str


@dataclass
class Step:
    """One charged test. ``passed`` and ``verdict`` are the owner's, None until it is decided.

    ``document`` is the verdict as it was recorded. ``label_files`` is how many of the testset's
    files of labels it was decided with.
    """

    number: int
    submission: int
    testset: int
    baseline: str | None
    charged_at: str
    passed: bool | None = None
    document: Mapping[str, Any] | None = None
    decided_at: str | None = None
    answered: bool = False
    label_files: int | None = None
    _verdict: RecordedVerdict | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def verdict(self) -> RecordedVerdict | None:
        """The recorded verdict, parsed when it is first asked for: most commands never ask."""
        if self._verdict is None and self.document is not None:
            from easeci.ledger.verdicts import parse_verdict  # not above: signals need none

            self._verdict = parse_verdict(self.document)
        return self._verdict

    @property
    def undecided(self) -> bool:
        """Whether it was decided, and is Unknown because the testset has too few examples."""
        return self.verdict is not None and self.verdict.undecided


@dataclass
class Testset:
    """A testset, its sealed script, and what was spent on it."""

    __test__ = False

    number: int
    name: str
    examples: int
    needed: int | None
    sealed: Mapping[str, list[str]]
    source: str | None
    estimator: Estimator
    files: dict[str, str]
    at: str
    shared: Mapping[str, int]
    label_files: list[str] = field(default_factory=list)
    labels: int = 0
    corrected: int = 0
    retired: Retirement | None = None
    released_at: str | None = None
    """When it was first released."""
    baseline_failure: BaselineFailed | None = None
    """The last attempt to build the baseline on it, if that failed."""
    steps: list[Step] = field(default_factory=list)
    predictions: dict[str, Predictions] = field(default_factory=dict)
    """By commit."""
    tested: dict[int, str] = field(default_factory=dict)
    """The fingerprint that each step tested."""

    @cached_property
    def terms(self) -> SealedTerms:
        """What developers may see of the sealed script; quicker to read than :attr:`script`."""
        return sealed_terms(self.sealed)

    @cached_property
    def script(self) -> Script:
        """The script that the testset was sealed with."""
        return unsealed(self.sealed)

    @cached_property
    def decides_by(self) -> Script:
        """The script with the estimator that was settled when it was sealed."""
        return replace(self.script, estimator=self.estimator)

    @property
    def steps_used(self) -> int:
        """How many steps are charged, answered or not."""
        return len(self.steps)

    @property
    def open_step(self) -> Step | None:
        """The step that is charged and not answered: there is at most one, the last."""
        if self.steps and not self.steps[-1].answered:
            return self.steps[-1]
        return None

    @property
    def undecided_step(self) -> Step | None:
        """The open step that waits for labels. A decided one waits for its tick instead."""
        step = self.open_step
        waits = step is not None and step.passed is None and self.retired is None
        return step if waits else None

    @property
    def history(self) -> str:
        """The answers of the steps decided so far."""
        from easeci.evidence.levels import FAIL, PASS  # not above: needed only to decide

        return "".join(
            PASS if step.passed else FAIL for step in self.steps if step.passed is not None
        )

    @property
    def used_up(self) -> bool:
        """Whether all steps of the script are charged."""
        return self.steps_used >= self.terms.steps

    def same_predictions(self, commit: str, other: str) -> bool:
        """Whether two commits made the same predictions on this testset."""
        mine, theirs = self._fingerprint(commit), self._fingerprint(other)
        return mine is not None and mine == theirs

    def answered_before(self, submission: Submission, baseline: str | None) -> Step | None:
        """The decided step on the same predictions against the same baseline, if there is one."""
        mine = self.predictions[submission.commit].fingerprint
        theirs = self._fingerprint(baseline)
        for step in reversed(self.steps):
            if (
                step.passed is not None
                and self.tested.get(step.number) == mine
                and self._fingerprint(step.baseline) == theirs
            ):
                return step
        return None

    def _fingerprint(self, commit: str | None) -> str | None:
        if commit is None:
            return None
        known = self.predictions.get(commit)
        return None if known is None else known.fingerprint
