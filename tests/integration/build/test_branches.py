"""Branches: which is the default, and which contain a commit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from easeci.build.repository import Repository
from tests.sandbox.building import git


@pytest.mark.parametrize(
    "branch", ["größer", "a\u00a0b", "a\u200bb", "a\u2028b", os.fsdecode(b"gr\xf6\xdfer")]
)
def test_branches_may_have_any_name_that_git_takes(
    repository: Repository, folder: Path, branch: str
) -> None:
    """Also one that has no visible letters, or is written in another encoding."""
    git(folder, "branch", branch, "HEAD~1")
    old = git(folder, "rev-parse", "HEAD~1")
    assert repository.resolve(branch) == old
    assert repository.branches().containing(old, [branch, "main"]) == [branch, "main"]


def test_branches(repository: Repository, folder: Path, tmp_path: Path) -> None:
    """The default branch is the origin's if known; a detached HEAD is on none."""
    assert (repository.head_branch(), repository.branches().default()) == ("main", "main")
    git(folder, "checkout", "--quiet", "-b", "trunk")
    assert (repository.head_branch(), repository.branches().default()) == ("trunk", "main")
    git(tmp_path, "clone", "--quiet", str(folder), "clone")
    clone = Repository.find(tmp_path / "clone")
    git(tmp_path / "clone", "checkout", "--quiet", "-b", "main", "HEAD~1")
    assert clone.branches().default() == "trunk"
    git(folder, "checkout", "--quiet", "--detach")
    assert repository.head_branch() is None


def test_branches_that_contain_a_commit(
    repository: Repository, folder: Path, tmp_path: Path
) -> None:
    """Local branches count, and so do the origin's that nobody has checked out here."""
    old, new = repository.resolve("HEAD~1"), repository.resolve("HEAD")
    git(folder, "branch", "older", "HEAD~1")
    names = ["main", "older", "absent"]
    assert repository.branches().containing(old, names) == ["main", "older"]
    assert repository.branches().containing(new, names) == ["main"]
    git(tmp_path, "clone", "--quiet", str(folder), "clone")
    clone = Repository.find(tmp_path / "clone")
    assert clone.branches().containing(old, names) == ["main", "older"]
    assert clone.branches().containing("0" * 40, names) == []


def test_the_default_branch_of_a_bare_repository(folder: Path, tmp_path: Path) -> None:
    """It is the one at HEAD, also while nobody has pushed to it, and main if HEAD is detached."""
    git(folder, "branch", "trunk")
    git(tmp_path, "clone", "--quiet", "--bare", str(folder), "bare.git")
    bare = Repository.find(tmp_path / "bare.git")
    for head in ("trunk", "new"):
        git(bare.git_dir, "symbolic-ref", "HEAD", f"refs/heads/{head}")
        assert bare.branches().default() == head
    git(bare.git_dir, "update-ref", "--no-deref", "HEAD", "refs/heads/trunk")
    assert bare.branches().default() == "main"
