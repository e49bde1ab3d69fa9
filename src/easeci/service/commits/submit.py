"""A commit is submitted: answered free of charge, or charged, built and tested as labels allow.

Each act is an event, and each event is recorded before the next act, so that the next command can
go on from wherever an earlier one ended. Answers that cost nothing depend on what developers know
already: the files of the commit, the public sample, and the signals given so far. Everything else
is charged before the program is given a sealed example.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from easeci.build.branches import Branches, is_matched
from easeci.build.checkout import CleanTree
from easeci.build.objects import CommitFacts
from easeci.build.workspace import open_scratch
from easeci.errors import BuildError, ScriptError, UsageError
from easeci.ledger.charging import (
    charge,
    free_answer,
    is_begun_only,
    is_unchanged,
    known_submission,
    takes_file,
)
from easeci.ledger.events import BuildFailed, Event, Signalled, Submitted
from easeci.ledger.signals import Signal
from easeci.ledger.state import State, Submission, Testset
from easeci.script import Adaptivity, Script, parse_script
from easeci.service.commits.advance import acting, catch_up
from easeci.service.commits.answer import RunAnswer, answer_of, pace_warning, public_log
from easeci.service.mail.delivery import require_transport
from easeci.service.project import Project, no_testset

if TYPE_CHECKING:
    from easeci.build.sandbox import Sandbox
    from easeci.service.commits.sent import SentPredictions


@dataclass(frozen=True)
class RunOptions:
    """How a commit is tested. ``test``: also if it changes nothing on the public sample."""

    test: bool = False
    unsandboxed: bool = False
    later: bool = False
    """If signals have fixed times, leave the run on sealed examples to the caller: it is repeated
    like one that was interrupted. So the time of the answer tells nothing of how long it takes."""
    warn: Callable[[str], None] = lambda _: None
    """Called with what developers should know before anything is charged."""
    predictions: SentPredictions | None = None
    """Predictions that were made elsewhere: they take the place of the build."""


def run(
    project: Project,
    revision: str = "HEAD",
    *,
    branch: str | None = None,
    options: RunOptions | None = None,
    waiting: Callable[[], None] | None = None,
) -> RunAnswer:
    """Test one commit, or give its recorded signal again.

    ``branch`` is where the commit is being pushed to, if no ref says so yet.
    """
    options = options or RunOptions()
    project.unsandboxed = options.unsandboxed
    with acting(project, waiting):
        testset = project.state.latest_testset
        if testset is None:
            raise no_testset()
        _repeat_interrupted(project, testset, options)
        commit = project.repository.resolve(revision)
        counted, candidate = _branch(project, testset.script, commit, revision, branch)
        submission = known_submission(project.state, testset, commit, candidate, test=options.test)
        if submission is not None and _mounts_changed(project, testset, submission):
            submission = None
        used = testset.steps_used
        if submission is None or is_begun_only(submission):
            require_transport(testset.script)
            project.fetch(commit)  # before anything is recorded: damage may be repaired
            if submission is None:
                submission = _submit(project, testset, commit, counted, candidate, options)
            else:
                _resume(project, testset, submission, options)
            if is_begun_only(submission):
                _test(project, testset, submission, options)
        catch_up(project)
        charged = testset.steps_used > used
        return answer_of(
            project.state,
            submission,
            charged=charged,
            log=public_log(project, submission),
            file_read=None if options.predictions is None else charged and submission.sent,
        )


def _mounts_changed(project: Project, testset: Testset, submission: Submission) -> bool:
    """Whether the commit is another model than when it was submitted."""
    if not testset.script.mounts or not submission.model:
        return False
    from easeci.service.commits.build import current_model

    return submission.model != current_model(project, testset, submission.commit)


def _submit(
    project: Project,
    testset: Testset,
    commit: str,
    branch: str | None,
    candidate: bool,
    options: RunOptions,
) -> Submission:
    """Record a commit, and its answer if that costs nothing, or its charge if nothing is built."""
    from easeci.service.commits.build import current_model

    facts = project.fetch(commit).read(testset.source)
    _require_sealed_script(testset, facts)
    _require_baseline(project.state, testset, branch, candidate)
    model = current_model(project, testset, commit)
    number = len(project.state.submissions) + 1
    submitted = Submitted(number, facts.id, facts.subject, branch, candidate, testset.number, model)
    project.append(submitted, *_first_events(project, testset, submitted, options))
    return project.state.submission(number)


def _resume(
    project: Project, testset: Testset, submission: Submission, options: RunOptions
) -> None:
    """Go on with a commit whose command was killed: by now its answer may cost nothing."""
    submitted = Submitted(
        submission.number,
        submission.commit,
        submission.subject,
        submission.branch,
        submission.candidate,
        submission.testset,
        submission.model,
    )
    events = _first_events(project, testset, submitted, options)
    if events:
        project.append(*events)


def _first_events(
    project: Project, testset: Testset, submitted: Submitted, options: RunOptions
) -> list[Event]:
    """The answer if that costs nothing. Otherwise it is to be tested, which needs a step."""
    answer = free_answer(project.state, testset, submitted)
    if not answer:
        project.require_active()
        return _charge_unbuilt(project, testset, submitted, options)
    return answer


def _charge_unbuilt(
    project: Project, testset: Testset, submitted: Submitted, options: RunOptions
) -> list[Event]:
    """Charge a commit whose predictions are sent as a file, now or before.

    Empty if its program has to run; an error if there is no program, or if the file is wrong. A
    model that has predictions keeps them, whatever is sent later.
    """
    from easeci.service.commits.build import program_of
    from easeci.service.commits.sent import sent_step

    state, file = project.state, options.predictions
    if submitted.tested_model in testset.sent_models:
        _require_baseline_built(project, testset, options)
        return charge(state, testset, submitted)
    if file is None or not takes_file(testset, submitted):
        program_of(testset.script)
        return []
    _require_baseline_built(project, testset, options)
    sent = sent_step(project, testset, submitted.number, file)
    return charge(state, testset, submitted, sent)


def _require_baseline_built(project: Project, testset: Testset, options: RunOptions) -> None:
    """Build the baseline if an older version has not; an error if it is not ready."""
    from easeci.service.commits.baseline import ensure_predictions

    try:
        ensure_predictions(project, testset, unsandboxed=options.unsandboxed)
    except BuildError:
        # Which commit the baseline is, and so whether it builds, tells what passed. The commit
        # waits until the owner has chosen another.
        if testset.script.adaptivity is not Adaptivity.NONE:
            raise


def _test(project: Project, testset: Testset, submission: Submission, options: RunOptions) -> None:
    """Build a commit on the public sample; if it changes something there, charge and test it."""
    # Here and not above: a signal that is recorded needs no build, and is given at once.
    from easeci.build.detection import allowed_sandboxes
    from easeci.service.commits.build import fill
    from easeci.service.commits.sealed_run import run_on_sealed

    _require_baseline_built(project, testset, options)
    sandboxes = allowed_sandboxes(project.repository, unsandboxed=options.unsandboxed)
    with open_scratch((*project.repository.folders, project.store.folder)) as scratch:
        tree = CleanTree(submission.commit, scratch / "tree")
        try:
            fill(project, testset, tree)
        except BuildError as error:
            _record_failure(project, testset, submission, error)
            return
        if not _passes_sample(project, testset, submission, sandboxes, tree, options):
            return
        project.append(*charge(project.state, testset, submission))
        later = options.later and testset.terms.fixed_times
        if not submission.ready and not later:
            run_on_sealed(project, testset, submission, sandboxes, tree)
        catch_up(project, tree)


def _record_failure(
    project: Project, testset: Testset, submission: Submission, error: BuildError
) -> None:
    """Record that a commit cannot be checked out; its program never ran."""
    builds = project.sealed(testset).builds
    log = builds.store_log(f"commit-{submission.number:06}-sample", f"{error}\n".encode())
    project.append(BuildFailed(submission.number, error.message, log.file, log.digest, public=True))


def _passes_sample(
    project: Project,
    testset: Testset,
    submission: Submission,
    sandboxes: Sequence[Sandbox],
    tree: CleanTree,
    options: RunOptions,
) -> bool:
    """Whether a commit is to be charged: it works on the public sample, and changes something."""
    from easeci.service.commits.build import build, sample_built

    if testset.sample == 0:
        return True
    if submission.tested_model not in testset.sample_predictions:
        name = f"commit-{submission.number:06}-sample"
        result = build(
            project, testset, submission.commit, sandboxes, name=name, on_sample=True, tree=tree
        )
        made, log, number = result.predictions, result.log, submission.number
        if made is None:
            reason = "" if result.failure is None else result.failure.message
            project.append(BuildFailed(number, reason, log.file, log.digest, public=True))
            return False
        project.append(sample_built(testset, submission.commit, submission.model, made, result))
    if is_unchanged(testset, submission) and not options.test:
        project.append(Signalled(submission.number, Signal.UNCHANGED))
        return False
    slow = pace_warning(testset, submission)
    if slow is not None:
        options.warn(slow)
    return True


def _repeat_interrupted(project: Project, testset: Testset, options: RunOptions) -> None:
    if options.later and testset.terms.fixed_times:
        return
    waiting = project.state.interrupted(testset)
    if project.state.active_testset is testset and waiting:
        from easeci.service.commits.sealed_run import finish_runs

        finish_runs(project, testset, waiting, unsandboxed=options.unsandboxed)
        catch_up(project)


def _require_baseline(state: State, testset: Testset, branch: str | None, candidate: bool) -> None:
    """Only a commit of the branch of baselines is adopted as the first of them.

    Whether one was adopted by now may be hidden. That none could be yet is known to all.
    """
    known = state.public_baseline is not None or testset.starts_with_baseline or testset.steps
    if testset.script.needs_old_model and not known and not candidate:
        raise UsageError(
            f"there is no baseline yet, and branch {branch} can't give one",
            hint="Run a commit of the main branch first, or `easeci baseline set COMMIT`.",
        )


def spending_branches(branches: Branches, script: Script) -> list[str]:
    """Patterns of the branches that may spend steps; commits of the first may become baseline."""
    return [script.branch or branches.default(), *script.branches]


def _branch(
    project: Project, script: Script, commit: str, revision: str, pushed_to: str | None
) -> tuple[str | None, bool]:
    """The branch that a commit counts for, and whether it may become the baseline."""
    branches = project.repository.branches()
    allowed = spending_branches(branches, script)
    found = branches.containing(commit, allowed)
    if pushed_to is not None and is_matched(pushed_to, allowed):
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


def _require_sealed_script(testset: Testset, facts: CommitFacts) -> None:
    """Refuse a commit whose script asks for something else than what the testset is sealed for."""
    commit = facts.id
    if facts.file is None:
        return
    try:
        script = parse_script(facts.file.decode("utf-8-sig"), f"{testset.source} of {commit[:10]}")
    except UnicodeDecodeError:
        raise ScriptError(f"{testset.source} of {commit[:10]} is not UTF-8 text") from None
    if script != testset.script:
        raise ScriptError(
            f"{testset.source} of commit {commit[:10]} is not the script that testset "
            f"{testset.number} was sealed with: {_changed(script, testset.script)}",
            hint="A testset keeps its script for life. If it was sealed from a script that is not "
            "committed yet, commit that; otherwise put the old text back, or let the owner retire "
            "the testset (`easeci testset retire`) and add a new one.",
        )


def _changed(script: Script, sealed: Script) -> str:
    names = {
        "clauses": None,
        "condition": "condition",
        "program": "script",
        "third_party": "adaptivity",
    }
    changed = [
        names.get(name, name.removesuffix("_seconds").removesuffix("_bytes"))
        for name in vars(script)
        if getattr(script, name) != getattr(sealed, name)
    ]
    return "changed " + ", ".join(dict.fromkeys(name for name in changed if name))
