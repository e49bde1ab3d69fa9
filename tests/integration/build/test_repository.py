"""A repository tells what git knows, in its own words, whatever surrounds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.build.checkout import checkout
from easeci.build.objects import CommitFacts
from easeci.build.repository import Repository
from easeci.errors import UsageError
from tests.sandbox.building import commit_files, fetched, git, new_repository


def test_a_repository_is_found_from_within(folder: Path) -> None:
    (folder / "deep" / "er").mkdir(parents=True)
    found = Repository.find(folder / "deep" / "er")
    assert found == Repository(folder / ".git", folder)
    assert found.folders == (folder, folder / ".git")


def test_bare_repositories_have_no_work_tree(folder: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(folder), "bare.git")
    bare = Repository.find(tmp_path / "bare.git")
    assert bare == Repository(tmp_path / "bare.git", None)
    assert bare.branches().default() == "main"
    assert not bare.is_dirty()
    assert bare.resolve("HEAD") == git(folder, "rev-parse", "HEAD")


def test_linked_work_trees_have_their_own_head(folder: Path, tmp_path: Path) -> None:
    git(folder, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "linked"), "HEAD~1")
    linked = Repository.find(tmp_path / "linked")
    assert linked == Repository(folder / ".git", tmp_path / "linked")
    assert linked.folders == (tmp_path / "linked", folder, folder / ".git")
    assert linked.head_branch() == "other"
    assert linked.resolve("HEAD") == git(folder, "rev-parse", "HEAD~1")


def test_no_repository_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not in a git repository"):
        Repository.find(tmp_path)
    with pytest.raises(UsageError, match=r"there is no folder|cannot be used"):
        Repository.find(tmp_path / "nowhere")


def test_revisions_are_resolved(repository: Repository, folder: Path) -> None:
    """Branches, short ids and tags, annotated ones included, all name commits."""
    git(folder, "tag", "--annotate", "v1", "--message", "One")
    head = git(folder, "rev-parse", "HEAD")
    for revision in ("HEAD", "main", "v1", head[:8], head):
        assert repository.resolve(revision) == head
    assert repository.resolve("HEAD~1") != head
    assert repository.has(head)


@pytest.mark.parametrize(
    "revision",
    [
        *("nothing", "0" * 40, "--all", "HEAD:model.py", "", "a\nb", "HEAD\r", "HEAD\x00"),
        *("\ud800", "HEAD@{99}", "HEAD@{upstream}", "HEAD~1..HEAD", "^HEAD", "HEAD^{tree}"),
    ],
)
def test_unknown_revisions_are_usage_errors(repository: Repository, revision: str) -> None:
    with pytest.raises(UsageError, match="there is no commit") as raised:
        repository.resolve(revision)
    assert "\n" not in raised.value.message


def test_a_repository_without_commits_says_so(tmp_path: Path) -> None:
    empty = Repository.find(new_repository(tmp_path / "empty"))
    with pytest.raises(UsageError, match="no commits yet"):
        empty.resolve("HEAD")


def test_the_first_commit_identifies_the_repository(repository: Repository, folder: Path) -> None:
    """Merging an unrelated history changes nothing."""
    first = repository.resolve("HEAD~1")
    assert repository.first_commit() == first
    git(folder, "checkout", "--quiet", "--orphan", "unrelated")
    commit_files(folder, "Unrelated")
    git(folder, "checkout", "--quiet", "main")
    git(folder, "merge", "--quiet", "--allow-unrelated-histories", "-s", "ours", "unrelated")
    assert repository.first_commit() == first


def test_dirt_is_seen(repository: Repository, folder: Path) -> None:
    assert not repository.is_dirty()
    (folder / "new.txt").write_text("new")
    assert repository.is_dirty()


def test_repositories_of_other_hashes_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "sha256"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main", "--object-format=sha256")
    commit = commit_files(folder, "Long ids", model__py="x = 1\n")
    repository = Repository.find(folder)
    assert repository.read_commit("HEAD", "model.py") == CommitFacts(commit, "Long ids", b"x = 1\n")
    assert repository.branches().containing(commit, ["main"]) == ["main"]
    checkout(fetched(repository, commit), tmp_path / "out")
    assert (tmp_path / "out" / "model.py").read_bytes() == b"x = 1\n"


def test_the_origin_is_found_if_it_is_on_this_machine(folder: Path, tmp_path: Path) -> None:
    """By its path or its URL, bare or with a work tree; elsewhere or closed, there is none."""
    git(tmp_path, "clone", "--quiet", "--bare", str(folder), "a b.git")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(tmp_path / "a b.git"), str(clone))
    assert Repository.find(clone).origin_folder() == tmp_path / "a b.git"
    for url, found in (
        ((tmp_path / "a b.git").as_uri(), tmp_path / "a b.git"),
        (str(folder), folder / ".git"),
        ("../repository", clone / "../repository" / ".git"),
        ("https://example.org/model.git", None),
        ("git@example.org:model.git", None),
        (str(tmp_path / "nowhere"), None),
    ):
        git(clone, "remote", "set-url", "origin", url)
        assert Repository.find(clone).origin_folder() == found
    git(clone, "remote", "remove", "origin")
    assert Repository.find(clone).origin_folder() is None
