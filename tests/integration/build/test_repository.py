"""A repository tells what git knows, in its own words, whatever surrounds it."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from easeci.build.checkout import checkout
from easeci.build.git import LOCKED
from easeci.build.repository import CommitFacts, Repository
from easeci.errors import InfrastructureError, UsageError
from tests.sandbox.building import commit_files, git, new_repository


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


def test_revisions_are_resolved(repository: Repository, folder: Path) -> None:
    """Branches, short ids and tags, annotated ones included, all name commits."""
    git(folder, "tag", "--annotate", "v1", "--message", "One")
    head = git(folder, "rev-parse", "HEAD")
    for revision in ("HEAD", "main", "v1", head[:8], head):
        assert repository.resolve(revision) == head
    assert repository.resolve("HEAD~1") != head
    assert repository.has(head)


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


def test_the_first_commit_identifies_the_repository(repository: Repository, folder: Path) -> None:
    """Merging an unrelated history changes nothing."""
    first = repository.resolve("HEAD~1")
    assert repository.first_commit() == first
    git(folder, "checkout", "--quiet", "--orphan", "unrelated")
    commit_files(folder, "Unrelated")
    git(folder, "checkout", "--quiet", "main")
    git(folder, "merge", "--quiet", "--allow-unrelated-histories", "-s", "ours", "unrelated")
    assert repository.first_commit() == first


def test_subjects_are_one_printable_line(repository: Repository, folder: Path) -> None:
    commit_files(folder, "Red \x1b[31m alert\n\nand more")
    assert repository.read_commit("HEAD").subject == "Red  [31m alert"
    commit_files(folder, "A subject\nof two lines \n \nand more")
    assert repository.read_commit("HEAD").subject == "A subject of two lines"
    git(folder, "commit", "--quiet", "--allow-empty", "--allow-empty-message", "--message", "")
    assert repository.read_commit("HEAD").subject == ""


def test_subjects_are_read_in_their_encoding(repository: Repository, folder: Path) -> None:
    """A commit may declare one; a wrong or unknown one must not stop a test."""
    for declared, message, subject in (
        ("ISO-8859-1", b"gr\xf6\xdfer", "größer"),
        ("UTF-8", b"gr\xf6er", "gr\ufffder"),
        ("x-unknown", "größer".encode(), "größer"),
        ("zlib", b"packed", "packed"),
    ):
        tree = git(folder, "rev-parse", "HEAD^{tree}")
        who = "A <a@example.org> 1 +0000"
        head = f"tree {tree}\nauthor {who}\ncommitter {who}\nencoding {declared}\n\n".encode()
        (folder.parent / "commit").write_bytes(head + message + b"\n")
        commit = git(folder, "hash-object", "-t", "commit", "-w", str(folder.parent / "commit"))
        assert repository.read_commit(commit).subject == subject


def test_dirt_is_seen(repository: Repository, folder: Path) -> None:
    assert not repository.is_dirty()
    (folder / "new.txt").write_text("new")
    assert repository.is_dirty()


def test_files_of_a_commit(repository: Repository, folder: Path) -> None:
    """Regular files only, by exact name, as they were."""
    (folder / "link").symlink_to("model.py")
    commit_files(folder, "More")
    assert repository.read_commit("HEAD~2", "model.py").file == b"first = 1\n"
    assert repository.read_commit("HEAD", "model.py").file == b"second = 2\n"
    for name in ("absent", "link", "*.py", ".", ""):
        assert repository.read_commit("HEAD", name).file is None
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "a\u2028b c.yml").write_text("deep\n")
    commit_files(folder, "Deeper")
    for name in ("deep/er/a\u2028b c.yml", "deep/../deep/er/a\u2028b c.yml"):
        assert repository.read_commit("HEAD", name).file == b"deep\n"
    for name in ("deep/er", "deep", "../model.py", "deep/er/absent", "model.py/x"):
        assert repository.read_commit("HEAD", name).file is None
    with pytest.raises(UsageError, match="line break"):
        repository.read_commit("HEAD", "a\nb")


def test_a_damaged_file_of_a_commit_is_told(repository: Repository, folder: Path) -> None:
    """It must not look as if the commit had no such file."""
    blob = git(folder, "rev-parse", "HEAD:model.py")
    (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(InfrastructureError, match=r"git cannot read model\.py"):
        repository.read_commit("HEAD", "model.py")


def test_repositories_of_other_hashes_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "sha256"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main", "--object-format=sha256")
    commit = commit_files(folder, "Long ids", model__py="x = 1\n")
    repository = Repository.find(folder)
    assert repository.read_commit("HEAD", "model.py") == CommitFacts(commit, "Long ids", b"x = 1\n")
    assert repository.branches().containing(commit, ["main"]) == ["main"]
    checkout(repository, commit, tmp_path / "out")
    assert (tmp_path / "out" / "model.py").read_bytes() == b"x = 1\n"


def test_kept_commits_survive(repository: Repository, folder: Path) -> None:
    """No force-push and no clean-up loses a commit that was judged."""
    lost = repository.resolve("HEAD")
    kept = commit_files(folder, "Kept")
    repository.keep_only("judged", [kept])
    git(folder, "reset", "--quiet", "--hard", "HEAD~2")
    git(folder, "reflog", "expire", "--expire=now", "--all")
    git(folder, "gc", "--quiet", "--prune=now")
    assert repository.has(kept)
    assert repository.has(lost)


def test_what_is_not_wanted_is_kept_no_longer(repository: Repository, folder: Path) -> None:
    """And a commit that is not there at all can't be kept, which is no error."""
    first, second = repository.resolve("HEAD"), commit_files(folder, "Second")
    repository.keep_only("p", [first, second])
    repository.keep_only("q", [first])
    repository.keep_only("p", [second, "0" * 39 + "1"])
    refs = git(folder, "for-each-ref", "--format=%(refname)", "refs/easeci").split()
    assert refs == [f"refs/easeci/p/{second}", f"refs/easeci/q/{first}"]


def test_a_git_that_was_killed_leaves_a_file_to_be_removed(
    repository: Repository, folder: Path
) -> None:
    """Nothing is tested that is not held; to let go of what was can wait."""
    first, second = repository.resolve("HEAD"), commit_files(folder, "Second")
    repository.keep_only("x", [first])
    packed = folder / ".git" / "packed-refs.lock"
    packed.touch()
    repository.keep_only("x", [second])
    assert held(folder) == {first, second}
    single = folder / ".git" / "refs" / "easeci" / "y" / f"{first}.lock"
    single.parent.mkdir()
    single.touch()
    with pytest.raises(InfrastructureError, match=str(single)) as raised:
        repository.keep_only("y", [first])
    assert raised.value.hint == LOCKED
    packed.unlink()
    repository.keep_only("x", [second])
    assert held(folder) == {second}


def held(folder: Path) -> set[str]:
    return set(git(folder, "for-each-ref", "--format=%(objectname)", "refs/easeci").split())


def test_hooks_and_monitors_never_run(repository: Repository, folder: Path) -> None:
    """Nothing that a repository's settings name is run by us."""
    trap = folder.parent / "trapped"
    script = folder.parent / "trap"
    script.write_text(f"#!/bin/sh\ntouch {trap}\n")
    script.chmod(0o755)
    shutil.copy(script, folder / ".git" / "hooks" / "reference-transaction")
    git(folder, "config", "core.fsmonitor", str(script))
    repository.is_dirty()
    repository.keep_only("x", [repository.resolve("HEAD")])
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
        repository.keep_only("kept", [repository.resolve("HEAD")])
        assert (folder / ".git" / "refs" / "easeci" / "kept").stat().st_uid == 64_999
