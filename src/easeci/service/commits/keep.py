"""What keeps commits from being lost: the archive of the baseline, and refs in the repository.

Both follow from the state; :func:`easeci.service.commits.advance.catch_up` brings them in line.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from easeci.build.archive import save_archive
from easeci.build.checkout import checkout
from easeci.ledger.events import BaselineArchived
from easeci.script import Adaptivity
from easeci.service.project import Project


def ensure_archive(project: Project) -> None:
    """Keep the files of the baseline's commit, whatever becomes of the repository."""
    commit, kept = project.state.baseline, project.state.archive
    testset = project.state.latest_testset
    if testset is None or commit is None or (kept is not None and kept.commit == commit):
        return
    if not project.repository.has(commit):  # another clone's: a command there will do it
        return
    with tempfile.TemporaryDirectory(prefix="easeci-") as folder:
        tree, packed = Path(folder) / "tree", Path(folder) / "archive"
        tree.mkdir()
        checkout(project.repository, commit, tree)
        save_archive(tree, packed)
        file, digest = project.sealed(testset).builds.store_archive(commit, packed)
    project.append(BaselineArchived(testset.number, commit, file, digest))
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
