"""Hooks, drop box and modes, without a build."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from easeci.build.repository import Repository
from easeci.errors import UsageError
from easeci.ledger.disclosure import DisclosedRow
from easeci.ledger.signals import Signal
from easeci.service.commits.answer import RunAnswer
from easeci.service.pushes.dropbox import DropBox, DroppedPush, Refused, parse_push
from easeci.service.pushes.hooks import COMMIT, KEPT, MARK, PUSH, Push, install, pushes, uninstall
from easeci.service.pushes.permissions import Sharing, close_to_others, find_sharing, require_closed
from easeci.service.pushes.results import NotTested, PushResult

ID = "a" * 40
NAME = "0" * 32


def git(folder: Path, *arguments: str) -> str:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder.parent),
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout + done.stderr


@pytest.fixture
def working(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "model"
    folder.mkdir()
    git(folder, "init", "--quiet", "-b", "main")
    return folder


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    folder = tmp_path / "shared.git"
    git(tmp_path, "init", "--quiet", "--bare", "--shared=group", str(folder))
    return folder


def installed(folder: Path, command: str = "/bin/echo") -> Path:
    return install(Repository.find(folder), [command], ["--store", "/a b"]).path


def test_pushes_are_branches_that_move() -> None:
    zero, lines = "0" * 40, []
    lines += [f"{zero} {ID} refs/heads/main\n", f"{ID} {zero} refs/heads/gone\n"]
    lines += [f"{zero} {ID} refs/tags/v1\n", f"{zero} {ID} refs/heads/a/b\n", "\n"]
    assert pushes(lines) == [Push("main", ID), Push("a/b", ID)]


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


# The drop box ------------------------------------------------------------------------------------


def test_who_may_push_is_in_the_modes(bare: Path) -> None:
    assert find_sharing(bare) is Sharing.GROUP
    installed(bare)
    modes = {path: path.stat().st_mode & 0o7777 for path in (bare / "easeci").iterdir()}
    assert modes == {bare / "easeci" / "drop": 0o1730, bare / "easeci" / "results": 0o750}
    (bare / "objects").chmod(0o2777)
    installed(bare)
    assert (bare / "easeci" / "drop").stat().st_mode & 0o7777 == 0o1733
    (bare / "objects").chmod(0o700)
    assert find_sharing(bare) is Sharing.NOBODY


@pytest.mark.parametrize("name", ["config", "hooks", "info", "HEAD", "easeci"])
def test_what_others_may_change_is_found(bare: Path, name: str) -> None:
    installed(bare)
    require_closed(bare)
    (bare / name).chmod(0o775)
    with pytest.raises(UsageError, match="others may change"):
        require_closed(bare)
    close_to_others(bare)
    require_closed(bare)


def test_a_link_in_place_of_settings_is_found(bare: Path) -> None:
    (bare / "config").rename(bare / "other")
    (bare / "config").symlink_to("other")
    with pytest.raises(UsageError, match="does not belong to this account"):
        close_to_others(bare)


def test_entries_come_in_the_order_of_arrival(bare: Path) -> None:
    installed(bare)
    dropbox = DropBox.of(bare)
    names = [dropbox.drop(f"b{number}", ID) for number in range(5)]
    os.utime(dropbox.drop_box / names[4], (0, 0))  # its owner can set this time
    later = dropbox.drop("last", ID)
    arrived = [entry.name for entry in dropbox.arrived()]
    assert set(arrived) == {*names, later}
    assert arrived[:4] == names[:4]
    assert arrived[-1] == later


def test_only_files_of_their_own_are_read(bare: Path) -> None:
    installed(bare)
    dropbox = DropBox.of(bare)
    good = json.dumps({"branch": "main", "commit": ID})
    outside = bare.parent / "secret"
    outside.write_text(good)
    box = dropbox.drop_box
    (box / f"{1:032x}").symlink_to(outside)
    (box / f"{2:032x}").hardlink_to(outside)
    os.mkfifo(box / f"{3:032x}")
    (box / f"{4:032x}").write_text(good + " " * 2000)
    (box / f"{5:032x}").mkdir()
    (box / f"{6:032x}").mkdir()
    (box / f"{6:032x}" / "full").write_text("")
    (box / "other").write_text(good)
    (box / ".new-unfinished").write_text("{")
    found = dropbox.arrived()
    assert len(found) == 7
    assert all(isinstance(item, Refused) for item in found)
    assert [dropbox.remove(item.name) for item in found].count(False) == 1
    assert outside.read_text() == good


@pytest.mark.parametrize(
    "given",
    [
        "",
        "[]",
        "nonsense",
        "[" * 900,
        '{"branch": "main"}',
        json.dumps({"branch": "main", "commit": ID, "passed": True}),
        json.dumps({"branch": "main", "commit": "HEAD"}),
        json.dumps({"branch": "main", "commit": ID + "\n"}),
        json.dumps({"branch": "--all", "commit": ID}),
        json.dumps({"branch": "a\u001b[2J", "commit": ID}),
        json.dumps({"branch": "", "commit": ID}),
        json.dumps({"branch": 3, "commit": ID}),
    ],
)
def test_nothing_but_a_branch_and_a_commit_is_an_entry(given: str) -> None:
    assert isinstance(parse_push(NAME, given.encode(), 1), Refused)


def test_an_entry_is_whom_the_system_says_it_is_from() -> None:
    given = json.dumps({"branch": "main", "commit": ID}).encode()
    assert parse_push(NAME, given, 7) == DroppedPush(NAME, "main", ID, 7)


def test_a_result_replaces_the_one_before(bare: Path) -> None:
    installed(bare)
    dropbox = DropBox.of(bare)
    row = DisclosedRow(1, ID, "a model", "main", 1, "2026-11-16T00:00:00Z", Signal.PENDING, 1)
    answers = [
        RunAnswer(replace(row, signal=signal), steps=4, steps_used=1, charged=True)
        for signal in (Signal.PENDING, Signal.PASS)
    ]
    results: list[PushResult] = [NotTested("no testset", "Add one."), *answers]
    for result in results:
        dropbox.publish(ID, result)
        assert dropbox.result(ID) == result
    assert [path.name for path in dropbox.results.iterdir()] == [ID]


@pytest.mark.parametrize("name", ["commondir", ".git"])
def test_files_of_others_do_not_lead_git_elsewhere(bare: Path, name: str) -> None:
    """Who may push can make files in the repository's folder; git would follow these."""
    evil = bare.parent / "evil.git"
    git(bare.parent, "init", "--quiet", "--bare", str(evil))
    (bare / name).write_text(f"{'gitdir: ' if name == '.git' else ''}{evil}")
    repository = Repository.find(bare)
    assert repository.git_dir == bare
    assert repository.top is None
