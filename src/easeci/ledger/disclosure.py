"""What a developer is shown: the only way from a verdict to a signal.

A developer sees the declared signal and nothing else. Under ``none`` every tested commit is
*accepted*, whatever its verdict, and also while labels are missing. No verdict, count of labels,
interval or time of a decision follows from anything here.
"""

from __future__ import annotations

from dataclasses import dataclass

from easeci.ledger.reasons import BudgetUsed
from easeci.ledger.signals import Signal
from easeci.ledger.state import State, Submission, Testset
from easeci.ledger.wording import retirement_words
from easeci.script import Adaptivity


def disclose(adaptivity: Adaptivity, passed: bool | None) -> Signal:
    """The signal of a step that was charged; ``passed`` is None while labels are missing."""
    if adaptivity is Adaptivity.NONE:
        return Signal.ACCEPTED
    if passed is None:
        return Signal.PENDING
    return Signal.PASS if passed else Signal.FAIL


@dataclass(frozen=True)
class DisclosedRow:
    """One submission as a developer may see it. ``at`` is when it was submitted."""

    submission: int
    commit: str
    subject: str
    branch: str | None
    testset: int
    at: str
    signal: Signal
    step: int | None


def disclosed_rows(state: State) -> list[DisclosedRow]:
    """Every submission, in order."""
    queues = {number: state.queue(testset) for number, testset in state.testsets.items()}
    places = {
        waiting.number: place for queue in queues.values() for place, waiting in enumerate(queue)
    }
    return [_row(state, submission, places) for submission in state.submissions]


def disclosed_row(state: State, submission: Submission) -> DisclosedRow:
    """One submission as a developer may see it."""
    queue = state.queue(state.testsets[submission.testset])
    places = {waiting.number: place for place, waiting in enumerate(queue)}
    return _row(state, submission, places)


def _row(state: State, submission: Submission, places: dict[int, int]) -> DisclosedRow:
    return DisclosedRow(
        submission=submission.number,
        commit=submission.commit,
        subject=submission.subject,
        branch=submission.branch,
        testset=submission.testset,
        at=submission.at,
        signal=signal_of(state, submission),
        step=_step(state, submission, places),
    )


def _step(state: State, submission: Submission, places: dict[int, int]) -> int | None:
    """The number of its step, if it has one.

    Under ``none`` a commit that an older version left waiting has its number already: a developer
    must not see whether commits before it wait for labels.
    """
    if submission.repeats is not None:
        return submission.repeats
    testset = state.testsets[submission.testset]
    if submission.queued and testset.terms.adaptivity is Adaptivity.NONE:
        return testset.steps_used + places[submission.number] + 1
    return submission.step


def steps_used(state: State, testset: Testset) -> int:
    """The steps that are charged; under ``none`` also those that an older version left waiting."""
    waiting = 0
    if testset.terms.adaptivity is Adaptivity.NONE:
        waiting = len(state.queue(testset))
    return testset.steps_used + waiting


def signal_of(state: State, submission: Submission) -> Signal:
    """What developers may know of a submission now."""
    testset = state.testsets[submission.testset]
    if submission.failure is not None:
        return Signal.BUILD_ERROR
    if submission.signal is not None:
        return Signal(submission.signal)
    if submission.superseded_by is not None:
        return Signal.SUPERSEDED
    if submission.repeats is not None:
        step = testset.steps[submission.repeats - 1]
        return signal_of(state, state.submission(step.submission))
    if submission.step is None and not submission.built:
        return Signal.UNBUILT  # its command was killed; the next run of the commit builds it
    signal = disclose(testset.terms.adaptivity, None)
    if testset.retired is not None and signal is Signal.PENDING:
        return Signal.DROPPED
    return signal


@dataclass(frozen=True)
class DisclosedStatus:
    """What a developer may know of a project."""

    testset: int | None
    name: str | None
    steps: int
    steps_used: int
    retired: str | None
    pending: int
    sent_steps: int = 0
    """How many steps test predictions that were sent as a file. That is so from their charge on,
    and depends on no sealed example."""
    scored: bool = False
    """Whether quality is a score of outputs; the script says so."""


def disclosed_status(state: State) -> DisclosedStatus:
    """The status of the latest testset, as a developer may see it."""
    testset = state.latest_testset
    if testset is None:
        return DisclosedStatus(None, None, 0, 0, None, 0)
    rows = [row for row in disclosed_rows(state) if row.testset == testset.number]
    return DisclosedStatus(
        testset=testset.number,
        name=testset.name,
        steps=testset.terms.steps,
        steps_used=steps_used(state, testset),
        retired=disclosed_reason(state, testset),
        pending=sum(row.signal is Signal.PENDING for row in rows),
        sent_steps=testset.sent_steps,
        scored=testset.terms.is_scored,
    )


def disclosed_reason(state: State, testset: Testset) -> str | None:
    """Why no more commits are tested, in words; None if they are tested.

    A testset whose steps are all charged is used up, decided or not.
    """
    reason = testset.retired
    if reason is None and steps_used(state, testset) >= testset.terms.steps:
        reason = BudgetUsed()
    return None if reason is None else retirement_words(reason)
