"""Which model is the baseline: the real one, and the one that developers know of.

The baseline is the last commit of its branch that passed. The *real* one follows from what is
decided, the *public* one from the signals that were given. They differ while a verdict is hidden:
until its tick with ``disclose:``, and for good under ``none``.

A step is compared with the baseline that follows from the answers before it, and from what had come
to the branch when it was charged (:func:`compared_with`). What comes to the branch later counts for
later steps. Otherwise the pair of models would depend on how long an earlier step waits for labels.
"""

from __future__ import annotations

from easeci.ledger.events import BaselineBuilt, BaselineSet
from easeci.ledger.state import State, Step, Submission, Testset
from easeci.ledger.testset import BaselineModel
from easeci.script import Adaptivity


def compared_with(state: State, testset: Testset, step: Step) -> BaselineModel | None:
    """What a step is compared with; None if there is no baseline, or the condition needs none."""
    if not testset.script.needs_old_model:
        return None
    for earlier in reversed(testset.steps[: step.number - 1]):
        winner = _winner(state, earlier, before=step.submission)
        if winner is not None:
            # Another commit of the same model may stand for it by now.
            same = state.baseline if earlier.model == testset.real_model else None
            return BaselineModel(same or winner.commit, earlier.model)
    return testset.start


def choice(state: State, commit: str, *, named: bool) -> BaselineSet | None:
    """What is recorded of the commit that a new testset starts with.

    A commit that the owner ``named`` is recorded as chosen, whatever the baseline was: that it was
    this one may be a hidden verdict. A baseline that follows from hidden verdicts stays hidden.
    """
    how = state.baseline_how
    if named or commit != state.baseline or how in (None, "same"):
        return BaselineSet(commit, "set")
    return None if state.baseline_hidden else BaselineSet(commit, how or "set")


def start_testset(state: State, testset: Testset) -> None:
    """A new testset begins with the baseline of the one before it, which is not built on it yet."""
    if state.baseline is not None:
        testset.start = BaselineModel(state.baseline, state.baseline)
    testset.real_model, testset.public_model = state.baseline, state.public_baseline


def note_built(state: State, event: BaselineBuilt) -> str:
    """A baseline has predictions on a testset, so its model is known. Returns the model."""
    testset = state.testsets[event.testset]
    model = event.model or event.commit
    testset.built_models[event.commit] = model
    testset.starts_with_baseline |= not testset.steps
    if testset.start is not None and testset.start.commit == event.commit:
        testset.start = BaselineModel(event.commit, model)
    if testset.real_model == event.commit:  # it was known by its commit alone
        testset.real_model = model
    if testset.public_model == event.commit:
        testset.public_model = model
    return model


def note_set(state: State, event: BaselineSet) -> None:
    """The baseline was chosen: by the owner, by adoption, or as another commit of its model."""
    # A commit of the same model may come after the end of its testset.
    testset = state.latest_testset if event.how == "same" else state.active_testset
    if testset is None:
        _choose(state, event)
        state.public_baseline, state.baseline_hidden = event.commit, False
        return
    adopted = _adopted_step(state, testset, event)
    if adopted is not None:  # developers hear of it by its signal
        _choose(state, event)
        testset.real_model = adopted.model
    elif event.how == "same":
        if testset.real_model == testset.public_model:
            _choose(state, event)  # otherwise a hidden step has passed since
        state.public_baseline = event.commit
    else:
        _choose(state, event)
        model = testset.built_models.get(event.commit, event.commit)
        testset.start, testset.real_model = BaselineModel(event.commit, model), model
        if testset.terms.adaptivity is not Adaptivity.NONE or not testset.steps:
            state.public_baseline, testset.public_model = event.commit, model
            state.baseline_hidden = False


def _choose(state: State, event: BaselineSet) -> None:
    state.baseline, state.baseline_how = event.commit, event.how


def _adopted_step(state: State, testset: Testset, event: BaselineSet) -> Step | None:
    """The step that was just decided by adopting its commit; None in older versions."""
    decided = [step for step in testset.steps if step.passed is not None]
    if event.how != "adopted" or not decided or not decided[-1].adopted:
        return None
    return decided[-1] if state.submission(decided[-1].submission).commit == event.commit else None


def note_charged(state: State, testset: Testset) -> None:
    """A step is about to be charged. Under ``none`` the baseline follows from hidden verdicts."""
    if not testset.steps:
        testset.known_start = testset.public_model
    if testset.terms.adaptivity is Adaptivity.NONE:
        state.public_baseline = testset.public_model = None
        state.baseline_hidden = True


def note_passed(state: State, testset: Testset, step: Step) -> None:
    """The last commit of its branch that passed is the baseline."""
    winner = _winner(state, step)
    if winner is not None and not step.adopted:
        winner.became_baseline |= state.baseline != winner.commit
        state.baseline, state.baseline_how = winner.commit, "passed"
        testset.real_model = step.model


def note_told(state: State, testset: Testset, step: Step) -> None:
    """A signal has told developers that a commit became the baseline; under none, none does."""
    winner = _winner(state, step)
    if winner is not None and testset.terms.adaptivity is not Adaptivity.NONE:
        state.public_baseline, testset.public_model = winner.commit, step.model
        state.baseline_hidden = False


def note_came_to_branch(state: State, testset: Testset, step: Step) -> None:
    """A commit of this step came to the branch of baselines; it may have passed already."""
    if not step.passed or step.adopted:
        return
    later = [s for s in testset.steps[step.number :] if _winner(state, s) is not None]
    if not later:
        note_passed(state, testset, step)
    if step.answered and not any(s.answered for s in later):  # as far as developers know
        note_told(state, testset, step)


def _winner(state: State, step: Step, before: int | None = None) -> Submission | None:
    """The submission that made a step's model the baseline: the last that may; None if none did.

    An adopted model has the commit that was adopted. A step that passed untested, because its run
    had not ended at its tick, has no predictions to compare with. ``before`` leaves out that
    submission and those after it.
    """
    if not step.passed or (step.document is None and not step.adopted):
        return None
    shared = [] if step.adopted else step.shared_by
    numbers = [n for n in (step.submission, *shared) if before is None or n < before]
    found = [state.submission(number) for number in numbers]
    return next((submission for submission in reversed(found) if submission.candidate), None)
