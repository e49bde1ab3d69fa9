"""A testset as the ledger knows it: its sealed script, its files, and the steps spent on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from easeci.ledger.events import BaselineFailed
from easeci.ledger.reasons import Retirement
from easeci.ledger.sealed_script import SealedTerms, sealed_terms, unsealed
from easeci.script import Estimator, Script

if TYPE_CHECKING:
    from easeci.ledger.verdicts import RecordedVerdict


@dataclass(frozen=True)
class SentFile:
    """A file of predictions that somebody sent: who and when, and the SHA-256 of the file."""

    by: str
    at: str
    digest: str


@dataclass(frozen=True)
class Predictions:
    """A model's predictions: equal ones have the same fingerprint.

    ``seconds`` is how long its program ran, if that is known. ``sent`` is None if a program made
    them here.
    """

    file: str
    digest: str
    fingerprint: str
    seconds: float = 0.0
    sent: SentFile | None = None


@dataclass(frozen=True)
class BaselineModel:
    """A commit that others are compared with, and its model on one testset.

    On a testset that an older version added, the model has the commit's own name.
    """

    commit: str
    model: str


@dataclass
class Step:
    """One charged test. ``passed`` and ``verdict`` are the owner's, None until it is decided.

    ``document`` is the verdict as it was recorded; None if nothing was tested. ``label_files`` is
    how many of the testset's files of labels it was decided with, and ``at_hand`` how many were
    there when its turn came; None if an older version charged it. ``score_files`` and
    ``scores_at_hand`` are the same for files of scores.
    """

    number: int
    submission: int
    testset: int
    charged_at: str
    model: str = ""
    """The model that it tests."""
    began: bool = False
    """Whether its turn has come, and with it its baseline is known."""
    baseline: str | None = None
    baseline_model: str | None = None
    at_hand: int | None = None
    passed: bool | None = None
    document: Mapping[str, Any] | None = None
    decided_at: str | None = None
    at_tick: bool = False
    answered: bool = False
    adopted: bool = False
    """Whether its commit became the first baseline, untested."""
    label_files: int | None = None
    scores_at_hand: int = 0
    score_files: int | None = None
    failed_scores: int = 0
    """How many outputs of its two models score 0 because the scorer could not score them."""
    shared_by: list[int] = field(default_factory=list)
    """Later submissions of the same model, which get the same signal."""
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
    sample: int = 0
    """The size of the public sample; 0 if there is none."""
    label_files: list[str] = field(default_factory=list)
    labels: int = 0
    corrected: int = 0
    score_files: list[str] = field(default_factory=list)
    scored: int = 0
    """How many outputs got a score."""
    failed_scores: int = 0
    """How many of them score 0 because the scorer could not score them."""
    unsettled_scores: int = 0
    """How many scores were imported empty, and are not known yet."""
    scoring_problem: str | None = None
    """Why outputs could not be scored the last time. Only the owner may see this."""
    scorer_log: str | None = None
    """What the owner's scorer printed when it last failed."""
    retired: Retirement | None = None
    released_at: str | None = None
    """When it was first released."""
    baseline_failure: BaselineFailed | None = None
    """The last attempt to build the baseline on it, if that failed."""
    steps: list[Step] = field(default_factory=list)
    starts_with_baseline: bool = False
    """Whether a baseline was built before its first step."""
    start: BaselineModel | None = None
    """The baseline before its first step."""
    known_start: str | None = None
    """The model that developers knew as the baseline when its first step was charged."""
    real_model: str | None = None
    """The model of the baseline. Only the owner may know it."""
    public_model: str | None = None
    """The model that developers know as the baseline; None if they can't know it."""
    built_models: dict[str, str] = field(default_factory=dict)
    """The model of each commit that was built to be the baseline."""
    left_out: bool = False
    """Whether the examples that earlier testsets had were left out."""
    prefixes: dict[str, int] = field(default_factory=dict)
    """How many examples are labelled first, by the text of the clause that needs it."""
    predictions: dict[str, Predictions] = field(default_factory=dict)
    """By model."""
    sent_models: set[str] = field(default_factory=set)
    """The models that a file of predictions was sent for, and read. Developers may know them. One
    of them may still have the predictions of its program: it was a baseline that is hidden."""
    sent_baseline: bool = False
    """Whether the owner has sent the predictions of a baseline."""
    sample_predictions: dict[str, Predictions] = field(default_factory=dict)
    """By model: what it predicts on the public sample."""

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

    def sent_file(self, model: str | None) -> SentFile | None:
        """The file that a model's predictions were sent as; None if they were made here."""
        known = None if model is None else self.predictions.get(model)
        return None if known is None else known.sent

    @property
    def sent_steps(self) -> int:
        """How many steps test predictions that were sent as a file."""
        return sum(step.model in self.sent_models for step in self.steps)

    @property
    def baseline_predictions(self) -> Predictions | None:
        """What the baseline predicts on the sealed examples, if that is known."""
        return None if self.real_model is None else self.predictions.get(self.real_model)

    @property
    def next_step(self) -> Step | None:
        """The first step that is charged and not decided; None if the testset has ended."""
        if self.retired is not None:
            return None
        return next((step for step in self.steps if step.passed is None), None)

    @property
    def next_signal(self) -> Step | None:
        """The first step that is charged and not answered; None if the testset has ended."""
        if self.retired is not None:
            return None
        return next((step for step in self.steps if not step.answered), None)

    @property
    def undecided_step(self) -> Step | None:
        """The step whose turn has come and that waits for labels."""
        step = self.next_step
        return step if step is not None and step.began else None

    @property
    def history(self) -> str:
        """The answers of the steps decided so far."""
        from easeci.evidence.levels import ADOPTED, FAIL, PASS  # not above: needed only to decide

        letters = {True: PASS, False: FAIL}
        return "".join(
            ADOPTED if step.adopted else letters[step.passed]
            for step in self.steps
            if step.passed is not None
        )

    @property
    def used_up(self) -> bool:
        """Whether all steps of the script are charged."""
        return self.steps_used >= self.terms.steps
