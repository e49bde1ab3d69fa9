"""Branches: which is the default, and which contain a commit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from easeci.build.branches import LONGEST_NAME, branch_name, is_matched
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


def test_a_pattern_takes_any_text_for_its_stars(repository: Repository, folder: Path) -> None:
    """Slashes included; a name without a star takes only itself."""
    commit = repository.resolve("HEAD")
    for ref in ("heads/feature/b", "heads/feature/a/x", "pull/7/head", "merge-requests/3/head"):
        git(folder, "update-ref", f"refs/{ref}", commit)
    git(folder, "update-ref", "refs/remotes/origin/feature/theirs", commit)
    taken = {
        "feature/*": ["feature/a/x", "feature/b", "feature/theirs"],
        "f*/*x": ["feature/a/x"],
        "refs/heads/feature/*": ["feature/a/x", "feature/b"],
        "refs/pull/*": ["refs/pull/7/head"],
        "refs/pull/*/head": ["refs/pull/7/head"],
        "refs/pull/*/merge": [],
        "refs/pull/7/head": ["refs/pull/7/head"],
        "refs/merge-requests/*/head": ["refs/merge-requests/3/head"],
        "pull/*": [],
        "feature": [],
        "feature/*/": [],
        "*": ["feature/a/x", "feature/b", "feature/theirs", "main"],
    }
    branches = repository.branches()
    assert {pattern: branches.containing(commit, [pattern]) for pattern in taken} == taken
    for pattern, names in taken.items():
        assert all(is_matched(name, [pattern]) for name in names)


def test_the_branch_that_a_commit_counts_for_is_always_the_same(
    repository: Repository, folder: Path
) -> None:
    """The first pattern wins; in it branches that end at the commit, then the alphabet.

    Not the order in which refs were made, and not which of them was pushed last.
    """
    old, new = repository.resolve("HEAD~1"), repository.resolve("HEAD")
    for name, commit in (("z/b", old), ("z/a", new), ("z/c", old), ("y/a", new)):
        git(folder, "branch", name, commit)
    asked = repository.branches().containing
    assert asked(old, ["z/*", "y/*"]) == ["z/b", "z/c", "y/a"]
    assert asked(old, ["y/*", "z/*", "main"]) == ["y/a", "z/b", "z/c", "main"]
    assert asked(old, ["z/*", "m*"]) == ["z/b", "z/c", "main"]
    assert asked(new, ["z/*", "*"]) == ["z/a", "main", "y/a"]


@pytest.mark.parametrize(
    "name",
    ["a\u2028b", "a\u202eb", "a\x9bb", os.fsdecode(b"gr\xf6\xdfer"), "x" * (LONGEST_NAME - 7)],
)
def test_a_pattern_takes_no_name_that_cannot_be_shown(
    repository: Repository, folder: Path, name: str
) -> None:
    """Accounts that may push choose such names: they would reach terminals, letters and pages."""
    ref, commit = f"refs/heads/feature/{name}", repository.resolve("HEAD")
    (folder / ".git" / "packed-refs").write_bytes(os.fsencode(f"{commit} {ref}\n"))
    branches = repository.branches()
    assert ref in branches.tips
    assert branches.containing(commit, ["feature/*"]) == []
    assert not is_matched(branch_name(ref), ["feature/*"])
    assert branches.containing(commit, [f"feature/{name}"]) == [f"feature/{name}"]


def test_a_branch_cannot_pass_for_a_pull_request(repository: Repository, folder: Path) -> None:
    """Git lets a branch be called refs/pull/7/head: its full name begins with refs/heads."""
    commit = repository.resolve("HEAD")
    git(folder, "update-ref", "refs/heads/refs/pull/7/head", commit)
    branches = repository.branches()
    assert branches.containing(commit, ["refs/pull/*"]) == []
    assert branches.containing(commit, ["refs/*7*"]) == ["refs/heads/refs/pull/7/head"]
    assert branch_name("refs/heads/refs/pull/7/head") == "refs/heads/refs/pull/7/head"
    git(folder, "symbolic-ref", "HEAD", "refs/heads/refs/pull/7/head")
    git(folder, "branch", "--delete", "--force", "main")
    assert repository.branches().default() == "refs/heads/refs/pull/7/head"
    assert repository.head_branch() == "refs/heads/refs/pull/7/head"


def test_a_tag_does_not_change_the_name_of_a_branch(repository: Repository, folder: Path) -> None:
    """Git's own short name becomes heads/main beside a tag called main."""
    git(folder, "tag", "main")
    assert repository.head_branch() == "main"


def test_a_hostile_pattern_takes_no_time() -> None:
    """Matching is linear: a pattern of many stars does not search through all splits."""
    assert not is_matched("a" * 250, ["*a" * 100 + "*b"])
    assert is_matched("a" * 250, ["*a" * 100 + "*"])
    assert not is_matched("feature/", ["feature/*/"])
    assert not is_matched("aba", ["ab*ba"])
