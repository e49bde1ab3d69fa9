"""A commit on its way to its signal: submitted, built, charged, decided, answered.

Each arrow is an event, and each event is recorded before the next act, so that :func:`advance` can
go on from wherever an earlier command ended. Steps are charged before anything is tested, and
decided in the order of submission.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from easeci.build import Sandbox, find_sandbox
from easeci.errors import ScriptError, UsageError
from easeci.ledger.disclosure import (
    BUDGET_USED,
    DisclosedRow,
    Signal,
    disclose,
    disclosed_row,
    steps_used,
)
from easeci.ledger.events import (
    Answered,
    BaselineSet,
    BuildFailed,
    Built,
    Charged,
    Decided,
    Event,
    Submitted,
    TestsetRetired,
    VerdictQueued,
)
from easeci.ledger.state import State, Step, Submission, Testset
from easeci.script import Adaptivity, Mode, Script, parse_script
from easeci.service.baselines import ensure_archive, ensure_predictions, keep_refs
from easeci.service.builds import build
from easeci.service.project import Project, no_testset
from easeci.verdict import Verdict, decide
from easeci.verdict.document import verdict_document

FIRST_CHANGE = {
    Mode.FP_FREE: "its first pass, and firstChange ends there",
    Mode.FN_FREE: "its first fail, and firstChange ends there",
}


@dataclass(frozen=True)
class Answer:
    """What ``run`` tells a developer, and whether anything new was spent on it."""

    row: DisclosedRow
    steps: int
    steps_used: int
    charged: bool
    failure: str | None = None


def run(
    project: Project,
    revision: str = "HEAD",
    *,
    branch: str | None = None,
    unsandboxed: bool = False,
    waiting: Callable[[], None] | None = None,
) -> Answer:
    """Test one commit, or give its recorded signal again.

    ``branch`` is where the commit is being pushed to, if no ref says so yet.
    """
    with project.exclusive(waiting):
        resume(project)
        testset = project.state.latest_testset
        if testset is None:
            raise no_testset()
        commit = project.repository.resolve(revision)
        counted, candidate = _branch(project, testset.script, commit, revision, branch)
        submission = _known(project.state, testset, commit, candidate)
        new = submission is None or not (submission.built or submission.signal)
        if new:
            project.require_active()
        if submission is None:
            _require_sealed_script(project, testset, commit)
            submission = _submit(project, testset, commit, counted, candidate)
        if not submission.built and submission.signal is None:
            _build(project, testset, submission, find_sandbox(unsandboxed=unsandboxed))
        resume(project)
        row = disclosed_row(project.state, submission)
        return Answer(
            row=row,
            steps=testset.script.steps,
            steps_used=steps_used(project.state, testset),
            charged=new and row.step is not None and submission.repeats is None,
            failure=submission.failure,
        )


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
            if not _decide(project, testset, step):
                return
        elif not _next(project, testset):
            return


def _next(project: Project, testset: Testset) -> bool:
    """Answer or charge the first submission of the queue; False if nothing is to be done."""
    queue = project.state.queue(testset)
    if not queue or testset.used_up:
        return False
    submission, baseline = queue[0], _baseline(project.state, testset.script)
    if testset.script.needs_old_model and baseline is None:
        project.append(
            BaselineSet(submission.commit, "adopted"),
            Answered(submission.number, Signal.BASELINE),
        )
        return True
    if testset.script.adaptivity is not Adaptivity.NONE:
        # Under none a new commit always spends a step: whether it repeats an old one depends on
        # the baseline, and so on verdicts that nobody may see.
        if baseline is not None and testset.same_predictions(submission.commit, baseline):
            project.append(Answered(submission.number, Signal.BASELINE))
            return True
        before = testset.answered_before(submission, baseline)
        if before is not None:
            signal = disclose(testset.script.adaptivity, before.passed)
            project.append(Answered(submission.number, signal, repeats=before.number))
            return True
    project.append(Charged(submission.number, testset.steps_used + 1, baseline))
    return True


def _baseline(state: State, script: Script) -> str | None:
    return state.baseline if script.needs_old_model else None


def _decide(project: Project, testset: Testset, step: Step) -> bool:
    """Decide the open step and disclose its signal; False while labels are missing."""
    verdict = verdict_of(project, testset, step)
    if verdict.passed is None:
        return False
    script = testset.script
    events: list[Event] = [
        Decided(testset.number, step.number, verdict.passed, verdict_document(verdict)),
        Answered(step.submission, disclose(script.adaptivity, verdict.passed)),
    ]
    if script.adaptivity is Adaptivity.NONE and script.third_party is not None:
        events.append(VerdictQueued(testset.number, step.number, script.third_party))
    changes = verdict.passed == (script.mode is Mode.FP_FREE)
    if script.adaptivity is Adaptivity.FIRST_CHANGE and changes:
        events.append(TestsetRetired(testset.number, FIRST_CHANGE[script.mode]))
    elif step.number >= script.steps:
        events.append(TestsetRetired(testset.number, BUDGET_USED))
    project.append(*events)
    return True


def verdict_of(project: Project, testset: Testset, step: Step) -> Verdict:
    """The verdict of a step from the labels known so far."""
    submission = project.state.submission(step.submission)
    old = None if step.baseline is None else testset.predictions[step.baseline].file
    codes = project.sealed(testset).codes(
        new=testset.predictions[submission.commit].file, old=old, label_files=testset.label_files
    )
    script = replace(testset.script, estimator=testset.estimator)
    return decide(script, codes, testset.history)


def _known(state: State, testset: Testset, commit: str, candidate: bool) -> Submission | None:
    """The submission whose signal this commit has already, or is already on its way to."""
    last = state.last_of(testset, commit)
    if last is None or (candidate and not last.candidate):
        return None
    if last.signal is None or testset.script.adaptivity is Adaptivity.NONE:
        return last
    baseline = _baseline(state, testset.script)
    if commit == baseline:
        return last
    number = last.step if last.repeats is None else last.repeats
    against = None if number is None else testset.steps[number - 1].baseline
    return last if number is not None and against == baseline else None


def _submit(
    project: Project, testset: Testset, commit: str, branch: str | None, candidate: bool
) -> Submission:
    number = len(project.state.submissions) + 1
    subject = project.repository.subject(commit)
    events: list[Event] = [Submitted(number, commit, subject, branch, candidate, testset.number)]
    known = testset.predictions.get(commit)
    if known is not None:  # no second build of the same commit
        events.append(Built(number, known.file, known.digest, known.fingerprint))
    project.append(*events)
    keep_refs(project)
    return project.state.submission(number)


def _build(project: Project, testset: Testset, submission: Submission, sandbox: Sandbox) -> None:
    """Make the predictions that a test needs: the commit's, and on a new testset the baseline's."""
    ensure_predictions(project, testset, sandbox)
    name = f"commit-{submission.number:06}"
    result = build(project, testset, submission.commit, sandbox, name=name)
    made, log = result.predictions, result.log
    if made is None:
        reason = "" if result.failure is None else result.failure.message
        project.append(BuildFailed(submission.number, reason, log.file, log.digest))
        return
    project.append(
        Built(submission.number, made.name, made.digest, made.fingerprint, log.file, log.digest)
    )


def spending_branches(project: Project, script: Script) -> list[str]:
    """The branches whose commits may spend steps; the first one's may become the baseline."""
    return [script.branch or project.repository.default_branch(), *script.branches]


def _branch(
    project: Project, script: Script, commit: str, revision: str, pushed_to: str | None
) -> tuple[str | None, bool]:
    """The branch that a commit counts for, and whether it may become the baseline."""
    allowed = spending_branches(project, script)
    found = project.repository.branches_with(commit, allowed)
    if pushed_to in allowed:
        found.append(pushed_to)
    main = allowed[0]
    if main in found:
        return main, True
    if found:
        return found[0], False
    raise UsageError(
        f"commit {commit[:10]} is on none of the branches that may spend steps "
        f"({', '.join(allowed)})",
        hint="Merge it, or let the owner list its branch as branches: in the script of the next "
        f"testset. `easeci try {revision}` runs its program on a public sample at no cost.",
    )


def _require_sealed_script(project: Project, testset: Testset, commit: str) -> None:
    """Refuse a commit whose script asks for something else than what the testset is sealed for."""
    if testset.source is None:
        return
    content = project.repository.file_at(commit, testset.source)
    if content is None:
        return
    try:
        script = parse_script(content.decode("utf-8-sig"), f"{testset.source} of {commit[:10]}")
    except UnicodeDecodeError:
        raise ScriptError(f"{testset.source} of {commit[:10]} is not UTF-8 text") from None
    if script != testset.script:
        raise ScriptError(
            f"{testset.source} of commit {commit[:10]} is not the script that testset "
            f"{testset.number} was sealed with: {_changed(script, testset.script)}",
            hint="A testset keeps its script for life. Put the old text back; or let the owner "
            "retire the testset (`easeci testset retire`) and add a new one.",
        )


def _changed(script: Script, sealed: Script) -> str:
    names = {"clauses": None, "condition": "condition", "program": "script"}
    changed = [
        names.get(name, name.removesuffix("_seconds").removesuffix("_bytes"))
        for name in vars(script)
        if getattr(script, name) != getattr(sealed, name)
    ]
    return "changed " + ", ".join(name for name in changed if name)
