"""The state of a project: a fold over its events, and nothing else.

``fold`` is a pure function of the records; the state it returns is its own and is not changed
afterwards. Histories of ten thousand commits are folded by every command, so the parts grow in
place while folding instead of being copied for each event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from easeci.evidence.levels import FAIL, PASS
from easeci.ledger.chain import Head, Record
from easeci.ledger.events import (
    BaselineArchived,
    BaselineBuilt,
    BaselineFailed,
    BaselineSet,
    BuildFailed,
    Built,
    Charged,
    Decided,
    Event,
    LabelsAdded,
    Looked,
    MessageQueued,
    MessageTried,
    ProjectOpened,
    Promoted,
    Signalled,
    Submitted,
    Superseded,
    TestsetAdded,
    TestsetReleased,
    TestsetRetired,
    parse_event,
)
from easeci.ledger.sealed_script import unsealed
from easeci.ledger.verdicts import RecordedVerdict, parse_verdict
from easeci.script import Adaptivity, Estimator, Script


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
            self._verdict = parse_verdict(self.document)
        return self._verdict

    @property
    def undecided(self) -> bool:
        """Whether it was decided, and is Unknown because the testset has too few examples."""
        return self.verdict is not None and self.verdict.undecided


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
    """Its place among all that were built: the order in which commits are tested."""
    failure: str | None = None
    log: str | None = None
    step: int | None = None
    repeats: int | None = None
    signal: str | None = None
    superseded_by: int | None = None
    became_baseline: bool = False
    """Whether the baseline changed to it because it passed: the owner's, like the verdict."""

    @property
    def queued(self) -> bool:
        """Whether it is built and waits for its turn."""
        done = self.step is not None or self.signal is not None or self.superseded_by is not None
        return self.built and not done


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
    retired: str | None = None
    released_at: str | None = None
    baseline_failure: BaselineFailed | None = None
    """The last attempt to build the baseline on it, if that failed."""
    steps: list[Step] = field(default_factory=list)
    predictions: dict[str, Predictions] = field(default_factory=dict)
    """By commit."""
    tested: dict[int, str] = field(default_factory=dict)
    """The fingerprint that each step tested."""

    @cached_property
    def script(self) -> Script:
        return unsealed(self.sealed)

    @cached_property
    def decides_by(self) -> Script:
        """The script with the estimator that was settled when it was sealed."""
        return replace(self.script, estimator=self.estimator)

    @property
    def steps_used(self) -> int:
        return len(self.steps)

    @property
    def open_step(self) -> Step | None:
        """The step that is charged and not answered: there is at most one, the last."""
        if self.steps and not self.steps[-1].answered:
            return self.steps[-1]
        return None

    @property
    def undecided_step(self) -> Step | None:
        """The step that labels could decide. One that is decided waits for its tick."""
        step = self.open_step
        waits = step is not None and step.passed is None and self.retired is None
        return step if waits else None

    @property
    def history(self) -> str:
        """The answers of the steps decided so far."""
        return "".join(
            PASS if step.passed else FAIL for step in self.steps if step.passed is not None
        )

    @property
    def used_up(self) -> bool:
        return self.steps_used >= self.script.steps

    def same_predictions(self, commit: str, other: str) -> bool:
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


@dataclass
class Message:
    """A letter and what became of it. ``head`` is the record that queued it."""

    number: int
    about: str
    recipient: str
    testset: int
    step: int | None
    reason: str
    queued_at: str
    head: Head
    attempts: int = 0
    last_at: str | None = None
    last_reason: str = ""
    outcome: str | None = None

    @property
    def sent(self) -> bool:
        return self.outcome == "sent"


@dataclass
class State:
    """Everything that the events of a project say."""

    first_commit: str | None = None
    testsets: dict[int, Testset] = field(default_factory=dict)
    submissions: list[Submission] = field(default_factory=list)
    baseline: str | None = None
    baseline_how: str | None = None
    baseline_hidden: bool = False
    """Whether it became the baseline by a verdict that developers were not told."""
    built: int = 0
    archive: BaselineArchived | None = None
    messages: list[Message] = field(default_factory=list)
    looks: list[tuple[str, str]] = field(default_factory=list)
    head: Head | None = None

    @property
    def latest_testset(self) -> Testset | None:
        return self.testsets[max(self.testsets)] if self.testsets else None

    @property
    def active_testset(self) -> Testset | None:
        latest = self.latest_testset
        return None if latest is None or latest.retired is not None else latest

    def submission(self, number: int) -> Submission:
        return self.submissions[number - 1]

    def step_of(self, submission: Submission) -> Step | None:
        """The step that a submission was tested as, or whose answer it repeats."""
        number = submission.step if submission.repeats is None else submission.repeats
        return None if number is None else self.testsets[submission.testset].steps[number - 1]

    def baseline_steps(self, testset: Testset) -> frozenset[int]:
        """The steps whose commits became the baseline because they passed.

        Then, or when the commit came to the branch of baselines later. Neither a baseline that the
        owner chose by hand, nor another commit that repeats a step's answer.
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
        """What is built and waits for its turn, in the order in which it was built."""
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
        return sum(s.failure is not None for s in self.submissions if s.testset == testset.number)


def fold(records: Iterable[Record]) -> State:
    """The state after all these records."""
    state = State()
    for record in records:
        apply(state, parse_event(record.kind, record.version, record.text), record)
    return state


def apply(state: State, event: Event, record: Record) -> None:
    """One more event, appended by whoever holds the state."""
    state.head = Head(record.number, record.code)
    _APPLY[type(event)](state, event, record.at)


def _project_opened(state: State, event: ProjectOpened, at: str) -> None:  # noqa: ARG001
    state.first_commit = event.first_commit


def _testset_added(state: State, event: TestsetAdded, at: str) -> None:
    state.testsets[event.testset] = Testset(
        number=event.testset,
        name=event.name,
        examples=event.examples,
        needed=event.needed,
        sealed=event.script,
        source=event.source,
        estimator=Estimator(event.estimator),
        files=dict(event.files),
        at=at,
        shared=event.shared,
    )


def _labels_added(state: State, event: LabelsAdded, at: str) -> None:  # noqa: ARG001
    testset = state.testsets[event.testset]
    testset.label_files.append(event.file)
    testset.files[event.file] = event.digest
    testset.labels += event.added
    testset.corrected += event.corrected


def _testset_retired(state: State, event: TestsetRetired, at: str) -> None:  # noqa: ARG001
    state.testsets[event.testset].retired = event.reason


def _baseline_set(state: State, event: BaselineSet, at: str) -> None:  # noqa: ARG001
    state.baseline, state.baseline_how, state.baseline_hidden = event.commit, event.how, False


def _baseline_archived(state: State, event: BaselineArchived, at: str) -> None:  # noqa: ARG001
    if state.archive is not None:  # only the baseline's archive is kept
        state.testsets[state.archive.testset].files.pop(state.archive.file, None)
    state.archive = event
    state.testsets[event.testset].files[event.file] = event.digest


def _submitted(state: State, event: Submitted, at: str) -> None:
    state.submissions.append(
        Submission(
            number=event.submission,
            commit=event.commit,
            subject=event.subject,
            branch=event.branch,
            candidate=event.candidate,
            testset=event.testset,
            at=at,
        )
    )


def _built(state: State, event: Built, at: str) -> None:  # noqa: ARG001
    submission = state.submission(event.submission)
    submission.built, state.built = True, state.built + 1
    submission.turn = state.built
    testset = state.testsets[submission.testset]
    if event.log is not None and event.log_digest is not None:
        submission.log = event.log
        testset.files[event.log] = event.log_digest
    testset.files[event.file] = event.digest
    testset.predictions[submission.commit] = Predictions(
        event.file, event.digest, event.fingerprint
    )


def _build_failed(state: State, event: BuildFailed, at: str) -> None:  # noqa: ARG001
    submission = state.submission(event.submission)
    submission.failure, submission.log = event.reason, event.log
    state.testsets[submission.testset].files[event.log] = event.log_digest


def _baseline_built(state: State, event: BaselineBuilt, at: str) -> None:  # noqa: ARG001
    testset = state.testsets[event.testset]
    testset.files[event.file] = event.digest
    testset.files[event.log] = event.log_digest
    testset.baseline_failure = None
    testset.predictions[event.commit] = Predictions(event.file, event.digest, event.fingerprint)


def _charged(state: State, event: Charged, at: str) -> None:
    submission = state.submission(event.submission)
    submission.step = event.step
    testset = state.testsets[submission.testset]
    testset.steps.append(
        Step(event.step, submission.number, testset.number, event.baseline, charged_at=at)
    )
    testset.tested[event.step] = testset.predictions[submission.commit].fingerprint


def _decided(state: State, event: Decided, at: str) -> None:
    testset = state.testsets[event.testset]
    step = testset.steps[event.step - 1]
    step.passed, step.document, step.decided_at = event.passed, event.verdict, at
    step.label_files = len(testset.label_files)
    submission = state.submission(step.submission)
    if event.passed and submission.candidate:
        _passed(state, submission)


def _passed(state: State, submission: Submission) -> None:
    """The last commit of its branch that passed is the baseline."""
    submission.became_baseline |= state.baseline != submission.commit
    hidden = state.testsets[submission.testset].script.adaptivity is Adaptivity.NONE
    state.baseline, state.baseline_how, state.baseline_hidden = submission.commit, "passed", hidden


def _promoted(state: State, event: Promoted, at: str) -> None:  # noqa: ARG001
    submission = state.submission(event.submission)
    submission.candidate = True
    steps = state.testsets[submission.testset].steps
    later = steps[submission.step :] if submission.step is not None else []
    overtaken = any(s.passed and state.submission(s.submission).candidate for s in later)
    if submission.step is not None and steps[submission.step - 1].passed and not overtaken:
        _passed(state, submission)


def _baseline_failed(state: State, event: BaselineFailed, at: str) -> None:  # noqa: ARG001
    testset = state.testsets[event.testset]
    testset.files[event.log] = event.log_digest
    testset.baseline_failure = event


def _answered(state: State, event: Signalled, at: str) -> None:  # noqa: ARG001
    submission = state.submission(event.submission)
    submission.signal, submission.repeats = event.signal, event.repeats
    testset = state.testsets[submission.testset]
    if submission.step is not None:
        testset.steps[submission.step - 1].answered = True
    again = event.repeats is not None and testset.script.adaptivity is not Adaptivity.NONE
    if again and submission.candidate and testset.steps[(event.repeats or 1) - 1].passed:
        # Passed on another branch, and now on the branch whose tips become the baseline.
        _passed(state, submission)


def _superseded(state: State, event: Superseded, at: str) -> None:  # noqa: ARG001
    state.submission(event.submission).superseded_by = event.by


def _testset_released(state: State, event: TestsetReleased, at: str) -> None:
    state.testsets[event.testset].released_at = at


def _message_queued(state: State, event: MessageQueued, at: str) -> None:
    assert state.head is not None
    state.messages.append(
        Message(
            number=event.message,
            about=event.about,
            recipient=event.recipient,
            testset=event.testset,
            step=event.step,
            reason=event.reason,
            queued_at=at,
            head=state.head,
        )
    )


def _message_tried(state: State, event: MessageTried, at: str) -> None:
    message = state.messages[event.message - 1]
    message.attempts += 1
    message.last_at, message.last_reason, message.outcome = at, event.reason, event.outcome


def _looked(state: State, event: Looked, at: str) -> None:
    state.looks.append((at, event.view))


_APPLY: dict[type[Event], Callable[[State, Any, str], None]] = {
    ProjectOpened: _project_opened,
    TestsetAdded: _testset_added,
    LabelsAdded: _labels_added,
    TestsetRetired: _testset_retired,
    BaselineSet: _baseline_set,
    BaselineArchived: _baseline_archived,
    Submitted: _submitted,
    Built: _built,
    BuildFailed: _build_failed,
    BaselineBuilt: _baseline_built,
    BaselineFailed: _baseline_failed,
    Promoted: _promoted,
    Charged: _charged,
    Decided: _decided,
    Signalled: _answered,
    Superseded: _superseded,
    TestsetReleased: _testset_released,
    MessageQueued: _message_queued,
    MessageTried: _message_tried,
    Looked: _looked,
}
