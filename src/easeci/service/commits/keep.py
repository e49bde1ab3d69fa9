"""What keeps commits from being lost: the archive of the baseline, and refs in the repository.

Both follow from the state; :func:`easeci.service.commits.advance.catch_up` brings them in line.
"""

from __future__ import annotations

from easeci.build.archive import save_archive
from easeci.build.checkout import CleanTree
from easeci.build.workspace import open_scratch
from easeci.ledger.events import BaselineArchived
from easeci.script import Adaptivity
from easeci.service.project import Project


def ensure_archive(project: Project, tree: CleanTree | None = None) -> None:
    """Keep the files of the baseline's commit, whatever becomes of the repository.

    They are taken from the tree if it is of that commit; otherwise the commit is checked out.
    """
    commit, kept = project.state.baseline, project.state.archive
    testset = project.state.latest_testset
    if testset is None or commit is None or (kept is not None and kept.commit == commit):
        return
    at_hand = tree is not None and tree.commit == commit and tree.folder.exists()
    if not at_hand and not project.repository.has(commit):
        return  # it is in another clone: a command there will archive it
    with open_scratch((*project.repository.folders, project.store.folder)) as scratch:
        if tree is None or not at_hand:
            tree = CleanTree(commit, scratch / "tree")
            tree.fill(project.repository)
        save_archive(tree.folder, scratch / "archive")
        builds = project.sealed(testset).builds
        stored = builds.store_archive(commit, scratch / "archive")
    project.append(BaselineArchived(testset.number, commit, stored.file, stored.digest))
    if kept is not None:
        project.sealed(project.state.testsets[kept.testset]).builds.remove_archive(kept.file)


def keep_refs(project: Project) -> None:
    """Refs that keep commits from being lost: of the baseline, and of all that is on its way.

    Once there was a testset with ``none``, no ref is taken away any more: which commits are still
    needed tells what passed.
    """
    state = project.state
    wanted = {state.baseline} if state.baseline is not None else set()
    hidden = any(t.script.adaptivity is Adaptivity.NONE for t in state.testsets.values())
    for submission in state.submissions:
        waits = submission.signal is None and submission.failure is None
        if hidden or waits:
            wanted.add(submission.commit)
    project.repository.keep_only(_refs_name(project), wanted, others_too=hidden)


def keep_ref(project: Project, commit: str) -> None:
    """A ref that keeps a commit of the repository from being lost while it is tested."""
    project.repository.keep(_refs_name(project), [commit])


def _refs_name(project: Project) -> str:
    # Named by the key and not by the project: two stores may have projects of the same name, and
    # not every name of a project can be in the name of a ref.
    return project.vault.key.digest(project.name.encode(), "refs")[:16]
