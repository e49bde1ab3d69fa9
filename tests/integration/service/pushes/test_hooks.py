"""Hooks: where they go, what they run, and that other hooks stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.build.repository import Repository
from easeci.errors import UsageError
from easeci.service.pushes.hooks import COMMIT, KEPT, MARK, PUSH, Push, install, pushes, uninstall
from tests.integration.service.pushes.repositories import ID, git, installed


def test_pushes_are_branches_that_move() -> None:
    """Refs of forges are among them. Tags, notes and copies of other repositories are not."""
    zero, lines = "0" * 40, []
    lines += [f"{zero} {ID} refs/heads/main\n", f"{ID} {zero} refs/heads/gone\n"]
    lines += [f"{zero} {ID} refs/tags/v1\n", f"{zero} {ID} refs/heads/a/b\n", "\n"]
    lines += [f"{zero} {ID} refs/notes/commits\n", f"{zero} {ID} refs/remotes/origin/main\n"]
    lines += [f"{zero} {ID} refs/pull/7/head\n", f"{zero} {ID} refs/heads/refs/pull/8/head\n"]
    assert pushes(lines) == [
        Push("main", ID),
        Push("a/b", ID),
        Push("refs/pull/7/head", ID),
        Push("refs/heads/refs/pull/8/head", ID),
    ]


def test_a_branch_with_an_odd_space_is_another_branch() -> None:
    (push,) = pushes([f"{ID} {ID} refs/heads/main\u00a0\n"])
    assert push.branch != "main"


def test_installing_twice_changes_nothing(working: Path) -> None:
    path = installed(working)
    before = path.read_text()
    assert path == working / ".git" / "hooks" / COMMIT
    assert "--store '/a b'" in before
    assert MARK in before
    installed(working)
    assert path.read_text() == before
    assert uninstall(Repository.find(working)) == [path]
    assert uninstall(Repository.find(working)) == []


def test_another_hook_runs_first_and_comes_back(working: Path) -> None:
    path = working / ".git" / "hooks" / COMMIT
    path.write_text("#!/bin/sh\necho theirs\n")
    path.chmod(0o755)
    installed(working)
    said = git(working, "commit", "--allow-empty", "--message", "one")
    assert said.index("theirs") < said.index("hook run post-commit")
    installed(working)
    assert "theirs" in path.with_name(COMMIT + KEPT).read_text()
    uninstall(Repository.find(working))
    assert path.read_text() == "#!/bin/sh\necho theirs\n"


def test_two_other_hooks_are_too_many(working: Path) -> None:
    path = working / ".git" / "hooks" / COMMIT
    path.write_text("#!/bin/sh\n")
    path.with_name(COMMIT + KEPT).write_text("#!/bin/sh\n")
    with pytest.raises(UsageError, match="another hook"):
        installed(working)


def test_both_hooks_of_a_push_are_told_the_same(bare: Path, working: Path) -> None:
    told = bare.parent / "told"
    path = bare / "hooks" / PUSH
    path.write_text(f"#!/bin/sh\ncat > {told}-theirs\n")
    path.chmod(0o755)
    ours = bare.parent / "ours"
    ours.write_text(f"#!/bin/sh\ncat > {told}-ours\nexit 1\n")
    ours.chmod(0o755)
    installed(bare, str(ours))
    git(working, "commit", "--allow-empty", "--message", "one")
    git(working, "push", "--quiet", str(bare), "main", "main:other")
    texts = [bare.parent.joinpath(f"told-{who}").read_text() for who in ("theirs", "ours")]
    assert texts[0] == texts[1]
    assert texts[0].count("refs/heads/") == 2


def test_a_command_that_is_gone_breaks_no_commit(working: Path) -> None:
    installed(working, "/nowhere/easeci")
    assert "cannot run" in git(working, "commit", "--allow-empty", "--message", "one")


def test_the_hooks_folder_is_where_git_looks(working: Path) -> None:
    git(working, "config", "core.hooksPath", "own")
    assert installed(working) == working / "own" / COMMIT
    assert "hook run" in git(working, "commit", "--allow-empty", "--message", "one")


def test_a_folder_for_all_repositories_is_refused(working: Path) -> None:
    git(working, "config", "--global", "core.hooksPath", str(working.parent / "all"))
    with pytest.raises(UsageError, match="all repositories"):
        installed(working)


def test_a_linked_work_tree_has_the_hooks_of_its_repository(working: Path) -> None:
    git(working, "commit", "--allow-empty", "--message", "one")
    linked = working.parent / "linked"
    git(working, "worktree", "add", "--quiet", str(linked))
    assert installed(linked) == working / ".git" / "hooks" / COMMIT
    assert "hook run" in git(linked, "commit", "--allow-empty", "--message", "two")


def test_a_gate_belongs_to_a_bare_repository(working: Path) -> None:
    with pytest.raises(UsageError, match="bare"):
        install(Repository.find(working), ["/bin/true"], [], gate=True)


def test_a_gate_is_refused_where_others_push(bare: Path) -> None:
    with pytest.raises(UsageError, match="owner's account"):
        install(Repository.find(bare), ["/bin/true"], [], gate=True)
