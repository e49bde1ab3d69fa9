"""What keeps commits from being lost: they are fetched, and the baseline's files are archived.

Both follow from the state; :func:`easeci.service.commits.advance.catch_up` brings them in line.
"""

from __future__ import annotations

from pathlib import Path

from easeci.build.archive import save_archive
from easeci.build.checkout import CleanTree
from easeci.build.workspace import open_scratch
from easeci.errors import BuildError
from easeci.ledger.events import BaselineArchived
from easeci.ledger.state import Testset
from easeci.service.project import Project


def ensure_archive(project: Project, tree: CleanTree | None = None) -> None:
    """Keep the files of the baseline's commit, whatever becomes of the repository.

    They are taken from the tree if it is of that commit; otherwise the commit is checked out.
    """
    commit, kept = project.state.baseline, project.state.archive
    testset = project.state.latest_testset
    if testset is None or commit is None or (kept is not None and kept.commit == commit):
        return
    with open_scratch((*project.repository.folders, project.store.folder)) as scratch:
        if tree is None or tree.commit != commit or not tree.folder.exists():
            tree = _checked_out(project, testset, commit, scratch / "tree")
        if tree is None:
            return
        save_archive(tree.folder, scratch / "archive")
        builds = project.sealed(testset).builds
        stored = builds.store_archive(commit, scratch / "archive")
    project.append(BaselineArchived(testset.number, commit, stored.file, stored.digest))
    if kept is not None:
        project.sealed(project.state.testsets[kept.testset]).builds.remove_archive(kept.file)


def _checked_out(project: Project, testset: Testset, commit: str, folder: Path) -> CleanTree | None:
    """The baseline's files. None if it is in another clone, where a command will archive it.

    Also None if it can't be checked out: the owner has chosen a commit that never was built, or a
    store of an earlier version has to fetch it from a repository that is damaged by now.
    """
    if project.commits.get(commit) is None and not project.repository.has(commit):
        return None
    tree = CleanTree(commit, folder)
    try:
        tree.fill(project.fetch(commit), testset.script.ignore)
    except BuildError:
        return None
    return tree


def let_go(project: Project) -> None:
    """Remove fetched commits that are not needed any more.

    Needed are commits on their way to a signal, and the baseline until its files are archived.
    """
    state = project.state
    archived = None if state.archive is None else state.archive.commit
    active = None if state.active_testset is None else state.active_testset.number
    needed = {
        submission.commit
        for submission in state.submissions
        if submission.testset == active and submission.signal is None and submission.failure is None
    }
    if state.baseline is not None and state.baseline != archived:
        needed.add(state.baseline)
    project.commits.keep_only(needed)
