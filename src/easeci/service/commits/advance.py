"""Go on from wherever the last command ended: :func:`catch_up`, and nothing else, does it.

It decides the open step, answers it, charges the next commit of the queue, archives the baseline,
lets go of fetched commits and sends mail, as far as labels and time allow. Steps are charged before
anything is tested, and they are decided and answered in the order of submission. All of it follows
from the state, so it does not matter which command does it. Every command that writes acts through
:func:`acting`; commands and pages that only read never do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from easeci.ledger.disclosure import disclose
from easeci.ledger.events import BaselineSet, Charged, Decided, Event, Signalled, TestsetRetired
from easeci.ledger.mail_rules import Letters
from easeci.ledger.reasons import BudgetUsed, FirstChange, Retirement
from easeci.ledger.signals import Signal
from easeci.ledger.state import State, Step, Testset
from easeci.ledger.verdicts import record_of
from easeci.script import Adaptivity, Mode, Script
from easeci.service.commits.keep import ensure_archive, let_go
from easeci.service.commits.ticks import is_due
from easeci.service.mail.delivery import deliver
from easeci.service.project import Project, utc_now

if TYPE_CHECKING:
    from easeci.build.checkout import CleanTree
    from easeci.evidence.cells import Codes
    from easeci.verdict.result import Verdict


@contextmanager
def acting(project: Project, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Act alone on the project: catch up before, and again with what the action made possible."""
    with project.exclusive(waiting):
        catch_up(project)
        yield
        catch_up(project)


def catch_up(project: Project, tree: CleanTree | None = None) -> tuple[int, ...]:
    """Do everything that needs neither a build nor more labels; the caller acts alone.

    Returns the numbers of the submissions that have their signal since. If nothing was recorded
    since the last call on this project, only a tick or a letter that is due makes it work.
    ``tree`` is of the commit that was just built: if it becomes the baseline, it is not checked
    out again for its archive.
    """
    before = _signalled(project)
    if project.head != project.caught_up or _tick_has_come(project):
        _advance(project)
        ensure_archive(project, tree)
    let_go(project)
    deliver(project)
    project.caught_up = project.head
    return tuple(number for number in _signalled(project) if number not in before)


def _signalled(project: Project) -> list[int]:
    return [s.number for s in project.state.submissions if s.signal is not None]


def _tick_has_come(project: Project) -> bool:
    """Whether the open step is decided and may be answered now."""
    testset = project.state.active_testset
    step = None if testset is None else testset.open_step
    return (
        testset is not None
        and step is not None
        and step.decided_at is not None
        and is_due(testset.at, testset.script.disclose_seconds, step.decided_at, utc_now())
    )


def _advance(project: Project) -> None:
    while (testset := project.state.active_testset) is not None:
        step = testset.open_step
        if step is not None:
            if not _decide_and_answer(project, testset, step):
                return
        elif not _charge_next(project, testset):
            return


def _charge_next(project: Project, testset: Testset) -> bool:
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
        # Under none a new commit always spends a step: whether it repeats an earlier one depends
        # on the baseline, and so on hidden verdicts. The same holds on a later testset while the
        # baseline still comes from a hidden verdict.
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
    """The commit that the next one is compared with; None if the condition needs no old model."""
    return state.baseline if script.needs_old_model else None


def _decide_and_answer(project: Project, testset: Testset, step: Step) -> bool:
    """Decide the open step and, once its tick has come, answer it; False if that must wait."""
    events: list[Event] = []
    now, passed, decided_at = utc_now(), step.passed, step.decided_at
    if passed is None or decided_at is None:
        verdict = verdict_of(project, testset, step)
        if verdict.passed is None:
            return False
        passed, decided_at = verdict.passed, now
        document = record_of(verdict).document()
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


def verdict_of(project: Project, testset: Testset, step: Step) -> Verdict:
    """The verdict of a step from the labels known so far."""
    from easeci.verdict.decide import decide

    return decide(*evidence_of(project, testset, step))


def evidence_of(project: Project, testset: Testset, step: Step) -> tuple[Script, Codes, str]:
    """What a step is decided by: the script, the codes and the answers before it.

    A decided step keeps the labels of that time: later ones and corrections do not count.
    """
    from easeci.vault.codes import load_codes

    submission = project.state.submission(step.submission)
    old = None if step.baseline is None else testset.predictions[step.baseline].file
    codes = load_codes(
        project.sealed(testset),
        new=testset.predictions[submission.commit].file,
        old=old,
        label_files=testset.label_files[: step.label_files],
    )
    return testset.decides_by, codes, testset.history[: step.number - 1]
