"""Git runs with our settings only, whatever the environment and the repository say."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from easeci.build.repository import Repository
from tests.sandbox.building import commit_files, fetched, git, new_repository


def test_git_variables_of_a_hook_lead_nowhere(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a hook, git points GIT_DIR and others at the repository that the hook is of."""
    other = new_repository(tmp_path / "other")
    commit_files(other, "Elsewhere")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    repository = Repository.find(folder)
    assert repository.top == folder
    assert repository.read_commit("HEAD").subject == "The second"


def test_hooks_and_monitors_never_run(repository: Repository, folder: Path) -> None:
    """Nothing that a repository's settings name is run by us."""
    trap = folder.parent / "trapped"
    script = folder.parent / "trap"
    script.write_text(f"#!/bin/sh\ntouch {trap}\n")
    script.chmod(0o755)
    shutil.copy(script, folder / ".git" / "hooks" / "reference-transaction")
    git(folder, "config", "core.fsmonitor", str(script))
    git(folder, "config", "uploadpack.packObjectsHook", str(script))
    repository.is_dirty()
    fetched(repository, repository.resolve("HEAD"))
    assert not trap.exists()


@pytest.mark.root
def test_root_uses_the_repository_of_another_as_that_user() -> None:
    """Git refuses another user's repository; as its owner, nothing is lent to its settings."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        folder = new_repository(Path(name) / "theirs")
        commit_files(folder, "Theirs", model__py="x = 1\n")
        for path in (folder, *folder.rglob("*")):
            os.lchown(path, 64_999, 64_999)
        repository = Repository.find(folder)
        assert repository.read_commit("HEAD").subject == "Theirs"
        commit = fetched(repository, repository.resolve("HEAD"))
        assert commit.read("model.py").file == b"x = 1\n"
        assert {path.stat().st_uid for path in commit.git_dir.rglob("*")} == {0}
