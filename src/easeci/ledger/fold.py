"""From events to the state of a project.

``fold`` is a pure function of the records. The state that it returns belongs to the caller. Every
command folds histories of up to ten thousand commits, so the parts of the state grow in place
instead of being copied for each event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from easeci.ledger.baselines import (
    note_built,
    note_came_to_branch,
    note_charged,
    note_passed,
    note_set,
    note_told,
    start_testset,
)
from easeci.ledger.chain import Head, Record
from easeci.ledger.events import (
    LABELLING,
    SENT,
    BackupBegun,
    BaselineArchived,
    BaselineBuilt,
    BaselineFailed,
    BaselineSet,
    BuildFailed,
    Built,
    Charged,
    ClockSetBack,
    Decided,
    Event,
    LabelsAdded,
    LabelsExported,
    Looked,
    MessageQueued,
    MessageTried,
    OlderStoreAccepted,
    ProjectOpened,
    Promoted,
    SampleBuilt,
    Scored,
    ScoresExported,
    ScoringInterrupted,
    SealedRunBegun,
    SealedRunFailed,
    SealedRunInterrupted,
    Signalled,
    StepShared,
    Submitted,
    Superseded,
    TestsetAdded,
    TestsetReleased,
    TestsetRetired,
    TokenMade,
    TokenRemoved,
    TurnCame,
    parse_event,
)
from easeci.ledger.reasons import AlarmLetter, BudgetUsed, ByHand, FirstChange, Retirement
from easeci.ledger.signals import Signal
from easeci.ledger.state import Message, Predictions, SentFile, State, Step, Submission, Testset
from easeci.ledger.wording import retirement_words
from easeci.script import Adaptivity, Estimator


def fold(records: Iterable[Record]) -> State:
    """The state after all these records."""
    state, last = State(), None
    for last in records:
        event = _read(state, last)
        _APPLY[type(event)](state, event, last)
    if last is not None:
        state.head, state.last_at = Head(last.number, last.code), last.at
    return state


def apply_record(state: State, record: Record) -> None:
    """Add one more record to the state, written by this version or an older one."""
    apply(state, _read(state, record), record)


def apply(state: State, event: Event, record: Record) -> None:
    """Add one more event to the state; ``record`` is how it was recorded."""
    _APPLY[type(event)](state, event, record)
    state.head, state.last_at = Head(record.number, record.code), record.at


def _read(state: State, record: Record) -> Event:
    event = parse_event(record.kind, record.version, record.text)
    return event if record.version == event.VERSION else _upgraded(state, event)


def _upgraded(state: State, event: Event) -> Event:
    """An event of version 1 with the reason that it had.

    Version 1 recorded sentences, and an owner could retire a testset with one of easeci's own as
    the text. The steps show which reasons are easeci's; an alarm has the reason of its testset.
    """
    match event:
        case TestsetRetired(number, reason) if not _explained(state.testsets[number], reason):
            return TestsetRetired(number, ByHand(retirement_words(reason)))
        case MessageQueued(topic=AlarmLetter(), testset=number):
            retired = state.testsets[number].retired
            return event if retired is None else replace(event, topic=AlarmLetter(retired))
    return event


def _explained(testset: Testset, reason: Retirement) -> bool:
    """Whether the last step that was answered ended a testset for this reason."""
    last = testset.steps[-1] if testset.steps else None
    ended = last is not None and last.answered
    match reason:
        case BudgetUsed():
            return ended and testset.used_up
        case FirstChange(passed):
            adaptivity = testset.terms.adaptivity
            same = last is not None and last.passed is passed
            return ended and same and adaptivity is Adaptivity.FIRST_CHANGE
        case ByHand():
            return True


def _project_opened(state: State, event: ProjectOpened, record: Record) -> None:  # noqa: ARG001
    state.first_commit = event.first_commit


def _testset_added(state: State, event: TestsetAdded, record: Record) -> None:
    testset = state.testsets[event.testset] = added_testset(event, record.at)
    start_testset(state, testset)


def added_testset(event: TestsetAdded, at: str) -> Testset:
    """A testset as it was added."""
    return Testset(
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
        sample=event.sample,
        left_out=event.left_out,
        prefixes=dict(event.prefixes),
    )


def _labels_added(state: State, event: LabelsAdded, record: Record) -> None:  # noqa: ARG001
    testset = state.testsets[event.testset]
    testset.label_files.append(event.file)
    testset.files[event.file] = event.digest
    testset.labels += event.added
    testset.corrected += event.corrected


def _scored(state: State, event: Scored, record: Record) -> None:  # noqa: ARG001
    testset = state.testsets[event.testset]
    testset.score_files.append(event.file)
    testset.files[event.file] = event.digest
    if event.log is not None and event.log_digest is not None:
        testset.scorer_log = event.log
        testset.files[event.log] = event.log_digest
    testset.scored += event.scored
    testset.failed_scores += event.failed
    testset.unsettled_scores += event.unsettled - event.settled
    testset.scoring_problem = None


def _scoring_interrupted(state: State, event: ScoringInterrupted, record: Record) -> None:  # noqa: ARG001
    state.testsets[event.testset].scoring_problem = event.reason


def _testset_retired(state: State, event: TestsetRetired, record: Record) -> None:  # noqa: ARG001
    state.testsets[event.testset].retired = event.reason


def _baseline_set(state: State, event: BaselineSet, record: Record) -> None:  # noqa: ARG001
    note_set(state, event)


def _baseline_archived(state: State, event: BaselineArchived, record: Record) -> None:  # noqa: ARG001
    if state.archive is not None:  # only the baseline's archive is kept
        state.testsets[state.archive.testset].files.pop(state.archive.file, None)
    state.archive = event
    state.testsets[event.testset].files[event.file] = event.digest


def _submitted(state: State, event: Submitted, record: Record) -> None:
    state.submissions.append(
        Submission(
            number=event.submission,
            commit=event.commit,
            subject=event.subject,
            branch=event.branch,
            candidate=event.candidate,
            testset=event.testset,
            at=record.at,
            model=event.model,
        )
    )


def _sample_built(state: State, event: SampleBuilt, record: Record) -> None:  # noqa: ARG001
    testset = state.testsets[event.testset]
    testset.files[event.file] = event.digest
    testset.files[event.log] = event.log_digest
    testset.sample_predictions[event.model] = Predictions(
        event.file, event.digest, event.fingerprint, event.seconds
    )


def _sealed_run_begun(state: State, event: SealedRunBegun, record: Record) -> None:  # noqa: ARG001
    state.submission(event.submission).runs += 1


def _sealed_run_interrupted(state: State, event: SealedRunInterrupted, record: Record) -> None:  # noqa: ARG001
    state.submission(event.submission).interruption = event.reason


def _sealed_run_failed(state: State, event: SealedRunFailed, record: Record) -> None:  # noqa: ARG001
    submission = state.submission(event.submission)
    submission.run_failure = event.reason
    if event.log is not None and event.log_digest is not None:
        submission.log = event.log
        state.testsets[submission.testset].files[event.log] = event.log_digest


def _built(state: State, event: Built, record: Record) -> None:
    submission = state.submission(event.submission)
    submission.built, state.built = True, state.built + 1
    submission.turn = state.built
    testset = state.testsets[submission.testset]
    if event.log is not None and event.log_digest is not None:
        submission.log = event.log
        testset.files[event.log] = event.log_digest
    testset.files[event.file] = event.digest
    _keep_predictions(testset, submission.tested_model, event, record.at)


def _keep_predictions(testset: Testset, model: str, event: Built | BaselineBuilt, at: str) -> None:
    """A model has its predictions. If they were there before, so was their origin."""
    before = testset.predictions.get(model)
    sent = None
    if event.origin == SENT:
        sent = SentFile(event.sent_by, at, event.sent_digest)
    elif event.log is None and before is not None and before.fingerprint == event.fingerprint:
        sent = before.sent
    testset.predictions[model] = Predictions(event.file, event.digest, event.fingerprint, sent=sent)


def _build_failed(state: State, event: BuildFailed, record: Record) -> None:  # noqa: ARG001
    submission = state.submission(event.submission)
    submission.failure, submission.log, submission.public = event.reason, event.log, event.public
    state.testsets[submission.testset].files[event.log] = event.log_digest


def _baseline_built(state: State, event: BaselineBuilt, record: Record) -> None:
    testset = state.testsets[event.testset]
    testset.files[event.file] = event.digest
    if event.log is not None and event.log_digest is not None:
        testset.files[event.log] = event.log_digest
    testset.baseline_failure = None
    model = note_built(state, event)
    _keep_predictions(testset, model, event, record.at)
    if event.origin == SENT:
        testset.sent_baseline = True
        testset.sent_models.add(model)


def _charged(state: State, event: Charged, record: Record) -> None:
    submission = state.submission(event.submission)
    submission.step = event.step
    testset = state.testsets[submission.testset]
    step = Step(event.step, submission.number, testset.number, charged_at=record.at)
    step.model = submission.tested_model
    if record.version == 1:
        step.began, step.baseline, step.baseline_model = True, event.baseline, event.baseline
    if event.with_file:
        submission.sent = True
        testset.sent_models.add(step.model)
    note_charged(state, testset)
    testset.steps.append(step)


def _turn_came(state: State, event: TurnCame, record: Record) -> None:  # noqa: ARG001
    step = state.testsets[event.testset].steps[event.step - 1]
    step.began, step.baseline, step.at_hand = True, event.baseline, event.label_files
    step.scores_at_hand = event.score_files
    step.baseline_model = event.baseline if event.model is None else event.model


def _decided(state: State, event: Decided, record: Record) -> None:
    testset = state.testsets[event.testset]
    step = testset.steps[event.step - 1]
    step.passed, step.document, step.decided_at = event.passed, event.verdict, record.at
    step.label_files, step.at_tick = len(testset.label_files), event.at_tick
    step.score_files, step.failed_scores = len(testset.score_files), event.failed_scores
    step.adopted = event.passed and event.verdict is None and not event.at_tick
    note_passed(state, testset, step)


def _promoted(state: State, event: Promoted, record: Record) -> None:  # noqa: ARG001
    submission = state.submission(event.submission)
    submission.candidate = True
    testset = state.testsets[submission.testset]
    if submission.step is not None:
        note_came_to_branch(state, testset, testset.steps[submission.step - 1])


def _step_shared(state: State, event: StepShared, record: Record) -> None:  # noqa: ARG001
    submission = state.submission(event.submission)
    submission.repeats = event.step
    testset = state.testsets[submission.testset]
    step = testset.steps[event.step - 1]
    step.shared_by.append(submission.number)
    if submission.candidate:
        note_came_to_branch(state, testset, step)


def _baseline_failed(state: State, event: BaselineFailed, record: Record) -> None:  # noqa: ARG001
    testset = state.testsets[event.testset]
    testset.files[event.log] = event.log_digest
    testset.baseline_failure = event


def _answered(state: State, event: Signalled, record: Record) -> None:  # noqa: ARG001
    submission = state.submission(event.submission)
    submission.signal = event.signal
    testset = state.testsets[submission.testset]
    if event.signal == Signal.UNCHANGED:
        submission.unchanged_from = testset.public_model
    if submission.step is not None:
        step = testset.steps[submission.step - 1]
        step.answered = True
        note_told(state, testset, step)
    if event.repeats is not None:  # an older version
        submission.repeats = event.repeats
        step = testset.steps[event.repeats - 1]
        again = testset.terms.adaptivity is not Adaptivity.NONE and submission.candidate
        if again and step.passed:
            step.shared_by.append(submission.number)
            note_passed(state, testset, step)
            note_told(state, testset, step)


def _superseded(state: State, event: Superseded, record: Record) -> None:  # noqa: ARG001
    state.submission(event.submission).superseded_by = event.by


def _testset_released(state: State, event: TestsetReleased, record: Record) -> None:
    testset = state.testsets[event.testset]
    testset.released_at = testset.released_at or record.at


def _message_queued(state: State, event: MessageQueued, record: Record) -> None:
    state.messages.append(
        Message(
            number=event.message,
            topic=event.topic,
            recipient=event.recipient,
            testset=event.testset,
            step=event.step,
            queued_at=record.at,
            head=Head(record.number, record.code),
        )
    )


def _message_tried(state: State, event: MessageTried, record: Record) -> None:
    message = state.messages[event.message - 1]
    message.attempts += 1
    message.last_at, message.last_reason, message.outcome = record.at, event.reason, event.outcome


def _looked(state: State, event: Looked, record: Record) -> None:
    state.looks.append((record.at, event.view))


def _labels_exported(state: State, event: LabelsExported, record: Record) -> None:  # noqa: ARG001
    state.looks.append((record.at, LABELLING))


def _scores_exported(state: State, event: ScoresExported, record: Record) -> None:  # noqa: ARG001
    state.looks.append((record.at, LABELLING))


def _for_the_audit(state: State, event: Event, record: Record) -> None:
    """The state does not depend on it; the audit reads the records themselves."""


def _older_store_accepted(state: State, event: OlderStoreAccepted, record: Record) -> None:
    state.older_accepted.append((record.at, event))


_APPLY: dict[type[Event], Callable[[State, Any, Record], None]] = {
    ProjectOpened: _project_opened,
    TestsetAdded: _testset_added,
    LabelsAdded: _labels_added,
    Scored: _scored,
    TestsetRetired: _testset_retired,
    BaselineSet: _baseline_set,
    BaselineArchived: _baseline_archived,
    Submitted: _submitted,
    SampleBuilt: _sample_built,
    SealedRunBegun: _sealed_run_begun,
    SealedRunInterrupted: _sealed_run_interrupted,
    SealedRunFailed: _sealed_run_failed,
    Built: _built,
    BuildFailed: _build_failed,
    BaselineBuilt: _baseline_built,
    BaselineFailed: _baseline_failed,
    Promoted: _promoted,
    Charged: _charged,
    TurnCame: _turn_came,
    Decided: _decided,
    Signalled: _answered,
    StepShared: _step_shared,
    Superseded: _superseded,
    TestsetReleased: _testset_released,
    MessageQueued: _message_queued,
    MessageTried: _message_tried,
    Looked: _looked,
    ClockSetBack: _for_the_audit,
    BackupBegun: _for_the_audit,
    OlderStoreAccepted: _older_store_accepted,
    LabelsExported: _labels_exported,
    ScoresExported: _scores_exported,
    ScoringInterrupted: _scoring_interrupted,
    TokenMade: _for_the_audit,
    TokenRemoved: _for_the_audit,
}
