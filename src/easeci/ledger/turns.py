"""What happens next on a testset: a step is charged, begun, decided or answered.

Steps are tested and answered in the order in which they were charged. The turn of a step comes when
the step before it is decided: its baseline and the labels at hand are fixed then. Its signal is
given when it is decided or, if the script fixes the times of signals, at its tick.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from easeci.ledger.baselines import compared_with
from easeci.ledger.disclosure import disclose
from easeci.ledger.events import (
    BaselineSet,
    Charged,
    Decided,
    Event,
    Signalled,
    TestsetRetired,
    TurnCame,
)
from easeci.ledger.mail_rules import Letters
from easeci.ledger.reasons import BudgetUsed, FirstChange, Retirement
from easeci.ledger.signals import Signal
from easeci.ledger.state import State, Step, Submission, Testset
from easeci.ledger.testset import BaselineModel
from easeci.ledger.ticks import tick_of
from easeci.ledger.verdicts import record_of
from easeci.script import Adaptivity, Mode, Script

if TYPE_CHECKING:
    from easeci.verdict.result import Verdict

VerdictOf = Callable[[Step], "Verdict"]
"""The verdict of a step by the labels known so far."""


def tick_has_come(state: State, now: str) -> bool:
    """Whether the next signal has a fixed time, and that has come."""
    testset = state.active_testset
    step = None if testset is None else testset.next_signal
    tick = None if testset is None or step is None else tick_of(testset, step)
    return tick is not None and now >= tick


def overdue_runs(state: State, testset: Testset, now: str) -> list[Submission]:
    """The submissions whose tick has come, but whose run on sealed examples has not ended."""
    found = []
    for submission in state.interrupted(testset):
        step = state.step_of(submission)
        tick = None if step is None else tick_of(testset, step)
        if tick is not None and now >= tick:
            found.append(submission)
    return found


def next_events(state: State, testset: Testset, now: str, verdict_of: VerdictOf) -> list[Event]:
    """What happens next without a build; empty if that needs labels, a build or more time."""
    queue = [] if testset.used_up else state.queue(testset)
    if queue:  # an older version has run it on sealed examples and left it waiting, not charged
        return [Charged(queue[0].number, testset.steps_used + 1)]
    return _answer_next(state, testset, now) or _decide_next(state, testset, now, verdict_of)


def _answer_next(state: State, testset: Testset, now: str) -> list[Event]:
    """The signal of the first step that has none, if it is decided and its tick has come."""
    step = testset.next_signal
    if step is None or step.passed is None:
        return []
    tick = tick_of(testset, step)
    if tick is not None and now < tick:
        return []
    return _answer(state, testset, step, step.passed)


def _decide_next(state: State, testset: Testset, now: str, verdict_of: VerdictOf) -> list[Event]:
    """The decision of the next step, or the beginning of its test."""
    step = testset.next_step
    if step is None or _has_changed(testset):
        return []
    tick = tick_of(testset, step)
    overdue = tick is not None and now >= tick
    submission = state.submission(step.submission)
    if not submission.ready and not overdue:
        return []
    if not submission.built or submission.run_failure is not None:
        return _without_predictions(state, testset, step, submission)
    if not step.began:
        return _begin(state, testset, step, submission)
    return _decide(testset, step, verdict_of(step), overdue=overdue)


def _has_changed(testset: Testset) -> bool:
    """Whether a signal that is still to come ends the testset, so that no step is tested after."""
    script = testset.script
    return script.adaptivity is Adaptivity.FIRST_CHANGE and any(
        _changes(script, step) for step in testset.steps
    )


def _changes(script: Script, step: Step) -> bool:
    """Whether a decided step is the first change of ``firstChange``."""
    return step.passed is (script.mode is Mode.FP_FREE) and not step.adopted


def _without_predictions(
    state: State, testset: Testset, step: Step, submission: Submission
) -> list[Event]:
    """Decide a step whose program failed on the sealed examples, or has not ended at its tick.

    A failure fails. What has not ended is Unknown, but does not become the baseline: it has no
    predictions. A commit of another branch that finds no baseline has nothing to be compared with,
    and fails too.
    """
    script, baseline = testset.script, compared_with(state, testset, step)
    at_tick = not submission.ready
    adopts = script.needs_old_model and baseline is None
    passed = at_tick and script.mode is Mode.FN_FREE and not adopts
    turn = [] if step.began else [_turn(testset, step, baseline)]
    return [*turn, Decided(testset.number, step.number, passed, verdict=None, at_tick=at_tick)]


def _begin(state: State, testset: Testset, step: Step, submission: Submission) -> list[Event]:
    """The turn of a step has come: fix its baseline and the labels at hand."""
    baseline = compared_with(state, testset, step)
    if testset.script.needs_old_model and baseline is None:
        if not submission.candidate:
            return _without_predictions(state, testset, step, submission)
        return [
            Decided(testset.number, step.number, passed=True, verdict=None),
            BaselineSet(submission.commit, "adopted"),
        ]
    if baseline is not None and baseline.model not in testset.predictions:
        return []  # an older version has not built it on this testset
    return [_turn(testset, step, baseline)]


def _turn(testset: Testset, step: Step, baseline: BaselineModel | None) -> TurnCame:
    commit, model = (None, None) if baseline is None else (baseline.commit, baseline.model)
    labels, scores = len(testset.label_files), len(testset.score_files)
    return TurnCame(testset.number, step.number, commit, labels, model, scores)


def _decide(testset: Testset, step: Step, verdict: Verdict, *, overdue: bool) -> list[Event]:
    """Decide a step whose turn has come; at its tick as Unknown, if labels are missing."""
    at_tick = verdict.passed is None
    if at_tick and not overdue:
        return []
    passed = testset.script.mode is Mode.FN_FREE if verdict.passed is None else verdict.passed
    document = record_of(verdict).document()
    return [Decided(testset.number, step.number, passed, document, at_tick=at_tick)]


def _answer(state: State, testset: Testset, step: Step, passed: bool) -> list[Event]:
    """The signal of a decided step, and what follows from it: letters, and retirement."""
    script = testset.script
    signal = disclose(script.adaptivity, passed)
    if step.adopted and signal is Signal.PASS:
        signal = Signal.BASELINE
    events: list[Event] = [Signalled(step.submission, signal)]
    letters = Letters(state, testset.number)
    if script.adaptivity is Adaptivity.NONE:
        events += letters.verdict(script.third_party, step.number)
    if script.adaptivity is Adaptivity.FIRST_CHANGE and _changes(script, step):
        events += retirement(testset, FirstChange(passed), letters)
    elif step.number >= script.steps:
        events += retirement(testset, BudgetUsed(), letters)
    else:
        events += letters.warnings(testset, step.number)
    return events


def retirement(testset: Testset, reason: Retirement, letters: Letters) -> list[Event]:
    """The end of a testset, and the alarm that a new one is needed."""
    return [
        TestsetRetired(testset.number, reason),
        *letters.alarm(testset.script.email, reason),
    ]
