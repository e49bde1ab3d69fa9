"""Which commits are charged, and which are answered for nothing.

A free answer depends only on what developers know already: the files of the commit, the public
sample, and the signals given so far. Everything that depends on sealed examples is charged before,
because it tells something about them:

* *The same model* as the baseline's, or as one that was charged before and compared with the same
  baseline: its signal is known, so giving it again tells nothing. That two different models predict
  the same on sealed examples is never told. Otherwise test inputs could be found by bisection.
* *Unchanged*: the same predictions as the baseline's on the public sample, which is public.
* Which commit the baseline is counts only as far as signals have told it.
"""

from __future__ import annotations

from easeci.ledger.events import (
    BaselineSet,
    Built,
    Charged,
    Event,
    SealedRunFailed,
    Signalled,
    StepShared,
    Submitted,
)
from easeci.ledger.signals import Signal
from easeci.ledger.state import State, Step, Submission, Testset
from easeci.script import Adaptivity, Unchanged


def is_begun_only(submission: Submission) -> bool:
    """Whether it has neither a step nor an answer: it is new, or its command was killed."""
    done = (submission.step, submission.repeats, submission.signal, submission.failure)
    return not submission.built and all(part is None for part in done)


def known_submission(
    state: State, testset: Testset, commit: str, candidate: bool, *, test: bool
) -> Submission | None:
    """The submission whose signal a commit has already, or is already on its way to.

    A commit that was tested keeps its signal, even if the baseline has changed since, so asking
    again is free. With ``test`` it is tested again against the new baseline.
    """
    last = state.last_of(testset, commit)
    if last is None or (candidate and not last.candidate):
        return None
    if testset.script.adaptivity is Adaptivity.NONE:
        return last
    is_baseline = _is_model(last, testset.public_model)
    if last.signal == Signal.UNCHANGED:
        same = last.unchanged_from == testset.public_model
        return last if same and not test else None
    step = state.step_of(last)
    if step is None:
        return None if last.signal == Signal.BASELINE and not is_baseline else last
    if is_baseline and step.answered and not step.passed:
        return None  # another commit of this model has passed since
    return None if test and not is_baseline and not _counts_for(testset, step) else last


def _counts_for(testset: Testset, step: Step) -> bool:
    """Whether the signal of a step is also that of the same model now.

    Under ``none`` it always is. Otherwise its baseline must still be the one; as long as the step
    is not answered, developers can't know whether it is.
    """
    if testset.script.adaptivity is Adaptivity.NONE or not step.answered:
        return True
    return not testset.script.needs_old_model or step.baseline_model == testset.public_model


def _is_model(submitted: Submitted | Submission, model: str | None) -> bool:
    """Whether a commit has this model. What an older version built is known by its commit."""
    return model is not None and model in (submitted.model, submitted.commit)


def free_answer(state: State, testset: Testset, submitted: Submitted) -> list[Event]:
    """The answer to a commit whose model is known: the baseline's, or that of an earlier step."""
    script = testset.script
    if script.adaptivity is Adaptivity.NONE:
        # Later baselines depend on hidden verdicts. Which one was the first does not.
        start = testset.known_start if testset.steps else testset.public_model
        if script.needs_old_model and _is_model(submitted, start):
            return [Signalled(submitted.submission, Signal.ACCEPTED)]
    elif script.needs_old_model and _is_model(submitted, testset.public_model):
        events: list[Event] = [Signalled(submitted.submission, Signal.BASELINE)]
        if submitted.candidate and submitted.commit != state.public_baseline:
            events.append(BaselineSet(submitted.commit, "same"))
        return events
    for step in reversed(testset.steps):
        if _is_model(submitted, step.model) and _counts_for(testset, step):
            return [StepShared(submitted.submission, step.number)]
    return []


def is_unchanged(testset: Testset, submission: Submission) -> bool:
    """Whether a commit predicts on the public sample what the baseline does, and that is skipped.

    Never under ``none``: which commit the baseline is depends on hidden verdicts.
    """
    script, baseline = testset.script, testset.public_model
    if script.unchanged is Unchanged.TEST or script.adaptivity is Adaptivity.NONE:
        return False
    if not script.needs_old_model or baseline is None:
        return False
    mine = testset.sample_predictions.get(submission.tested_model)
    theirs = testset.sample_predictions.get(baseline)
    return mine is not None and theirs is not None and mine.fingerprint == theirs.fingerprint


def charge(
    state: State, testset: Testset, submitted: Submitted | Submission, sent: Built | None = None
) -> list[Event]:
    """Spend a step. A model that was run on the sealed examples before is not run again.

    ``sent`` are predictions that came with the commit. They count only if its model has none yet:
    otherwise one model could get a second answer with other predictions.
    """
    with_file, number = sent is not None, testset.steps_used + 1
    events: list[Event] = [Charged(submitted.number, number, with_file=with_file)]
    known = testset.predictions.get(submitted.tested_model)
    failed = _failed_before(state, testset, submitted)
    if known is not None:
        events.append(Built(submitted.number, known.file, known.digest, known.fingerprint))
    elif failed is not None:
        # A second answer for nothing would tell a failed run from a failed test.
        events.append(SealedRunFailed(submitted.number, failed))
    elif sent is not None:
        events.append(sent)
    return events


def takes_file(testset: Testset, submitted: Submitted | Submission) -> bool:
    """Whether a file of predictions that comes with a commit is read.

    It is not if a commit of the same model was charged before: its predictions are made once. This
    depends on what developers know. Whether the model has predictions does not: it may be that of a
    baseline which follows from hidden verdicts.
    """
    return all(step.model != submitted.tested_model for step in testset.steps)


def _failed_before(state: State, testset: Testset, submitted: Submitted | Submission) -> str | None:
    for step in testset.steps:
        earlier = state.submission(step.submission)
        if earlier.model and earlier.model == submitted.model and earlier.run_failure is not None:
            return earlier.run_failure
    return None
