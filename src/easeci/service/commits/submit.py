"""A commit is submitted, built, and then goes on as far as labels allow.

Each act is an event, and each event is recorded before the next act, so that
:func:`easeci.service.commits.advance.catch_up` can go on from wherever an earlier command ended.
"""

from __future__ import annotations

from collections.abc import Callable

from easeci.build.branches import Branches
from easeci.build.checkout import CleanTree
from easeci.build.objects import CommitFacts
from easeci.build.workspace import open_scratch
from easeci.errors import BuildError, ScriptError, UsageError
from easeci.ledger.events import BuildFailed, Built, Event, Promoted, Submitted, Superseded
from easeci.ledger.state import State, Submission, Testset
from easeci.script import Adaptivity, Script, parse_script
from easeci.service.commits.advance import acting, catch_up, compared_with
from easeci.service.commits.answer import RunAnswer, answer_of
from easeci.service.mail.delivery import require_transport
from easeci.service.project import Project, no_testset


def run(
    project: Project,
    revision: str = "HEAD",
    *,
    branch: str | None = None,
    unsandboxed: bool = False,
    waiting: Callable[[], None] | None = None,
) -> RunAnswer:
    """Test one commit, or give its recorded signal again.

    ``branch`` is where the commit is being pushed to, if no ref says so yet.
    """
    with acting(project, waiting):
        testset = project.state.latest_testset
        if testset is None:
            raise no_testset()
        commit = project.repository.resolve(revision)
        counted, candidate = _branch(project, testset.script, commit, revision, branch)
        submission = _known(project.state, testset, commit, candidate)
        new = submission is None or not (submission.built or submission.signal)
        if new:
            project.require_active()
            require_transport(testset.script)
            project.fetch(commit)  # before anything is recorded: damage may be repaired
        if submission is None:
            facts = project.fetch(commit).read(testset.source)
            _require_sealed_script(testset, facts)
            _require_baseline(project.state, testset.script, counted, candidate)
            submission = _submit(project, testset, facts, counted, candidate)
        if candidate and not submission.candidate:
            project.append(Promoted(submission.number))
        if new:
            with open_scratch((*project.repository.folders, project.store.folder)) as scratch:
                tree = CleanTree(commit, scratch / "tree")
                _build(project, testset, submission, tree, unsandboxed=unsandboxed)
                _supersede(project, testset, submission)
                catch_up(project, tree)
        catch_up(project)
        return answer_of(project.state, submission, charged=new)


def _known(state: State, testset: Testset, commit: str, candidate: bool) -> Submission | None:
    """The submission whose signal this commit has already, or is already on its way to."""
    last = state.last_of(testset, commit)
    if last is None or testset.script.adaptivity is Adaptivity.NONE:
        return last
    if candidate and not last.candidate:
        return None
    if last.signal is None:
        return last
    baseline = compared_with(state, testset.script)
    if commit == baseline:
        return last
    number = last.step if last.repeats is None else last.repeats
    against = None if number is None else testset.steps[number - 1].baseline
    return last if number is not None and against == baseline else None


def _submit(
    project: Project, testset: Testset, facts: CommitFacts, branch: str | None, candidate: bool
) -> Submission:
    number = len(project.state.submissions) + 1
    events: list[Event] = [
        Submitted(number, facts.id, facts.subject, branch, candidate, testset.number)
    ]
    known = testset.predictions.get(facts.id)
    if known is not None:  # no second build of the same commit
        events.append(Built(number, known.file, known.digest, known.fingerprint))
    project.append(*events)
    return project.state.submission(number)


def _build(
    project: Project,
    testset: Testset,
    submission: Submission,
    tree: CleanTree,
    *,
    unsandboxed: bool,
) -> None:
    """Make the predictions that a test needs: the commit's, and on a new testset the baseline's."""
    # Here and not above: a signal that is recorded needs no build, and is given at once.
    from easeci.build.detection import allowed_sandboxes
    from easeci.service.commits.baseline import ensure_predictions
    from easeci.service.commits.build import build

    sandboxes = allowed_sandboxes(project.repository, unsandboxed=unsandboxed)
    try:
        ensure_predictions(project, testset, sandboxes)
    except BuildError:
        # Which commit the baseline is, and so whether it builds, tells what passed. The commit
        # waits until the owner has chosen another.
        if testset.script.adaptivity is not Adaptivity.NONE:
            raise
    if submission.built:
        return
    name = f"commit-{submission.number:06}"
    kept = tree if submission.candidate else None  # others never become the baseline
    result = build(project, testset, submission.commit, sandboxes, name=name, tree=kept)
    made, log = result.predictions, result.log
    if made is None:
        reason = "" if result.failure is None else result.failure.message
        project.append(BuildFailed(submission.number, reason, log.file, log.digest))
        return
    project.append(
        Built(submission.number, made.name, made.digest, made.fingerprint, log.file, log.digest)
    )


def _require_baseline(state: State, script: Script, branch: str | None, candidate: bool) -> None:
    """Only a commit of the branch of baselines is adopted as the first of them."""
    if script.needs_old_model and state.baseline is None and not candidate:
        raise UsageError(
            f"there is no baseline yet, and branch {branch} can't give one",
            hint="Run a commit of the main branch first, or `easeci baseline set COMMIT`.",
        )


def _supersede(project: Project, testset: Testset, submission: Submission) -> None:
    """Drop commits of the same branch that still wait for their turn: a newer one is here.

    Not the one that is being tested: that it waits has been seen. And none under ``none``, where
    the number of steps would tell whether anything waits.
    """
    if testset.script.adaptivity is Adaptivity.NONE or not submission.queued:
        return
    older = [
        waiting
        for waiting in project.state.queue(testset)
        if waiting.branch == submission.branch and waiting.number < submission.number
    ]
    if older:
        project.append(*(Superseded(waiting.number, submission.number) for waiting in older))


def spending_branches(branches: Branches, script: Script) -> list[str]:
    """The branches whose commits may spend steps; the first one's may become the baseline."""
    return [script.branch or branches.default(), *script.branches]


def _branch(
    project: Project, script: Script, commit: str, revision: str, pushed_to: str | None
) -> tuple[str | None, bool]:
    """The branch that a commit counts for, and whether it may become the baseline."""
    branches = project.repository.branches()
    allowed = spending_branches(branches, script)
    found = branches.containing(commit, allowed)
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
