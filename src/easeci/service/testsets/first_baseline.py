"""The baseline of a new testset is built while the testset is sealed.

If it fails, nothing is sealed, and the owner reads what it printed. So no commit can ever make a
developer hear whether the baseline works on sealed examples.
"""

from __future__ import annotations

from easeci.build.detection import allowed_sandboxes
from easeci.build.same_model import program_paths
from easeci.errors import BuildError, UsageError
from easeci.ledger.baselines import choice
from easeci.ledger.events import Event
from easeci.ledger.state import Testset
from easeci.script import Adaptivity, Script
from easeci.service.commits.baseline import BaselineError, baseline_predictions
from easeci.service.commits.submit import spending_branches
from easeci.service.project import Project

SHOWN_LINES = 30


def choose_baseline(project: Project, script: Script, revision: str | None) -> str | None:
    """The commit that a new testset starts with.

    What the owner names, or the last commit that passed, or the tip of the branch of baselines.
    None if the condition has no old model, if that tip does not have the program yet, or if the
    script names no program: predictions of a baseline are sent when the testset is sealed.
    """
    if not script.needs_old_model:
        if revision is not None:
            raise UsageError(
                "the condition compares with no old model, so a baseline has no meaning",
                hint="Leave --baseline out.",
            )
        return None
    if revision is not None and script.program is None:
        raise UsageError(
            "the script names no program that could make the predictions of a baseline",
            hint="Leave --baseline out. When the testset is sealed, give them: "
            "`easeci baseline set COMMIT --predictions FILE`.",
        )
    if revision is not None:
        return project.repository.resolve(revision)
    found = None
    if script.program is not None:
        found = project.state.baseline or _tip_with_program(project, script)
    first_change = script.adaptivity is Adaptivity.FIRST_CHANGE
    if found is None and script.published_estimator and first_change:
        # Its levels count one history of answers; failures before an adoption would add others.
        raise UsageError(
            f"with adaptivity firstChange, {script.estimator} needs a baseline from the start",
            hint="Commit a program that runs (script: names it), and seal the testset then; or "
            "name a commit with --baseline COMMIT.",
        )
    return found


def _tip_with_program(project: Project, script: Script) -> str | None:
    branches = project.repository.branches()
    try:
        tip = project.repository.resolve(spending_branches(branches, script)[0])
    except UsageError:  # the branch has no commits yet
        return None
    paths = program_paths(script.program or "")
    found = [project.repository.read_commit(tip, path).file for path in paths]
    return tip if not found or any(file is not None for file in found) else None


def build_first(
    project: Project, testset: Testset, commit: str, *, named: bool, unsandboxed: bool
) -> list[Event]:
    """The choice of the baseline and its predictions, for a testset that is not recorded yet."""
    sandboxes = allowed_sandboxes(project.repository, unsandboxed=unsandboxed)
    try:
        events = baseline_predictions(project, testset, commit, sandboxes)
    except BaselineError as error:
        printed = error.printed.rstrip().splitlines()
        raise BuildError(
            f"nothing was sealed: the baseline (commit {commit[:10]}) cannot be built on this "
            f"testset: {error.reason}",
            hint="\n".join(
                [
                    "Mend the program and commit it, or name another with --baseline COMMIT.",
                    *(["It printed:"] if printed else []),
                    *(f"| {line}" for line in printed[-SHOWN_LINES:]),
                ]
            ),
        ) from None
    chosen = choice(project.state, commit, named=named)
    return events if chosen is None else [chosen, *events]
