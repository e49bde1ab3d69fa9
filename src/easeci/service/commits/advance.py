"""What goes on by itself: decide, disclose, charge the next in the queue, as far as labels allow.

Steps are charged before anything is tested, and decided and answered in the order of submission.
Everything follows from the state, so that it does not matter which command comes to do it.
"""

from __future__ import annotations

from easeci.evidence.cells import Codes
from easeci.ledger.disclosure import BUDGET_USED, disclose
from easeci.ledger.events import BaselineSet, Charged, Decided, Event, Signalled, TestsetRetired
from easeci.ledger.mail_rules import Letters
from easeci.ledger.signals import Signal
from easeci.ledger.state import State, Step, Testset
from easeci.script import Adaptivity, Mode, Script
from easeci.service.commits.baseline import ensure_archive, keep_refs
from easeci.service.commits.ticks import is_due
from easeci.service.project import Project, utc_now
from easeci.vault.codes import load_codes
from easeci.verdict.decide import decide
from easeci.verdict.document import verdict_document
from easeci.verdict.result import Verdict

FIRST_CHANGE = {
    Mode.FP_FREE: "its first pass, and firstChange ends there",
    Mode.FN_FREE: "its first fail, and firstChange ends there",
}


def resume(project: Project) -> None:
    """Go on from wherever the last command ended, as far as labels allow."""
    advance(project)
    ensure_archive(project)
    keep_refs(project)


def advance(project: Project) -> None:
    """Decide, answer, charge the next in the queue: all that needs neither a build nor labels."""
    while (testset := project.state.active_testset) is not None:
        step = testset.open_step
        if step is not None:
            if not _settle(project, testset, step):
                return
        elif not _next(project, testset):
            return


def _next(project: Project, testset: Testset) -> bool:
    """Answer or charge the first submission of the queue; False if nothing is to be done."""
    queue = project.state.queue(testset)
    if not queue or testset.used_up:
        return False
    submission, baseline = queue[0], compared_with(project.state, testset.script)
    if testset.script.needs_old_model and baseline is None:
        project.append(
            BaselineSet(submission.commit, "adopted"),
            Signalled(submission.number, Signal.BASELINE),
        )
        return True
    if baseline is not None and baseline not in testset.predictions:
        return False  # it could not be built on this testset yet
    if testset.script.adaptivity is not Adaptivity.NONE:
        # Under none a new commit always spends a step: whether it repeats an old one depends on
        # the baseline, and so on verdicts that nobody may see. So does it where the baseline
        # still is one of those verdicts.
        same = baseline is not None and testset.same_predictions(submission.commit, baseline)
        if same and not project.state.baseline_hidden:
            project.append(Signalled(submission.number, Signal.BASELINE))
            return True
        before = testset.answered_before(submission, baseline)
        if before is not None:
            signal = disclose(testset.script.adaptivity, before.passed)
            project.append(Signalled(submission.number, signal, repeats=before.number))
            return True
    project.append(Charged(submission.number, testset.steps_used + 1, baseline))
    return True


def compared_with(state: State, script: Script) -> str | None:
    """The commit that the next one is compared with, if the condition needs one."""
    return state.baseline if script.needs_old_model else None


def _settle(project: Project, testset: Testset, step: Step) -> bool:
    """Decide the open step and, once its tick has come, answer it; False if that must wait."""
    events: list[Event] = []
    now, passed, decided_at = utc_now(), step.passed, step.decided_at
    if passed is None or decided_at is None:
        verdict = verdict_of(project, testset, step)
        if verdict.passed is None:
            return False
        passed, decided_at = verdict.passed, now
        document = verdict_document(verdict)
        events.append(Decided(testset.number, step.number, passed, document))
    if not is_due(testset.at, testset.script.disclose_seconds, decided_at, now):
        if events:
            project.append(*events)
        return False
    project.append(*events, *_answer(project.state, testset, step, passed))
    return True


def _answer(state: State, testset: Testset, step: Step, passed: bool) -> list[Event]:
    """The signal of a decided step, and what follows from it: letters, and retirement."""
    script = testset.script
    events: list[Event] = [Signalled(step.submission, disclose(script.adaptivity, passed))]
    letters = Letters(state, testset.number)
    if script.adaptivity is Adaptivity.NONE:
        events += letters.verdict(script.third_party, step.number)
    changes = passed == (script.mode is Mode.FP_FREE)
    if script.adaptivity is Adaptivity.FIRST_CHANGE and changes:
        events += retirement(testset, FIRST_CHANGE[script.mode], letters)
    elif step.number >= script.steps:
        events += retirement(testset, BUDGET_USED, letters)
    else:
        events += letters.warnings(testset, step.number)
    return events


def retirement(testset: Testset, reason: str, letters: Letters) -> list[Event]:
    """The end of a testset, and the alarm that a new one is needed."""
    return [
        TestsetRetired(testset.number, reason),
        *letters.alarm(testset.script.email, reason),
    ]


def verdict_of(project: Project, testset: Testset, step: Step) -> Verdict:
    """The verdict of a step from the labels known so far."""
    return decide(*evidence_of(project, testset, step))


def evidence_of(project: Project, testset: Testset, step: Step) -> tuple[Script, Codes, str]:
    """What a step is decided by: the script, the codes and the answers before it.

    If it is decided, with the labels of that time, whatever was added or corrected since.
    """
    submission = project.state.submission(step.submission)
    old = None if step.baseline is None else testset.predictions[step.baseline].file
    codes = load_codes(
        project.sealed(testset),
        new=testset.predictions[submission.commit].file,
        old=old,
        label_files=testset.label_files[: step.label_files],
    )
    return testset.decides_by, codes, testset.history[: step.number - 1]
