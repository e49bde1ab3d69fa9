"""Workspaces: where they are, what examples become in them, and that they go."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from easeci.build import workspace
from easeci.build.workspace import (
    NORMAL_TIME,
    _copy_content,
    copy_examples,
    free_uid,
    open_workspace,
)
from easeci.errors import InfrastructureError


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    base = tmp_path / "base"
    base.mkdir()
    monkeypatch.setenv("TMPDIR", str(base))
    return base


def test_a_workspace_is_private_and_goes(base: Path) -> None:
    with open_workspace(None, ()) as space:
        assert space.folder.parent == base
        assert space.folder.stat().st_mode & 0o777 == 0o700
    assert list(base.iterdir()) == []


def test_it_goes_after_an_error_too(base: Path) -> None:
    with pytest.raises(KeyboardInterrupt), open_workspace(None, ()):
        raise KeyboardInterrupt
    assert list(base.iterdir()) == []


def test_it_never_lies_in_the_repository(base: Path) -> None:
    """A TMPDIR inside is not used; then one of the usual places is."""
    with open_workspace(None, (base,)) as space:
        assert not space.folder.is_relative_to(base)
    with pytest.raises(InfrastructureError, match="no folder to build in"):
        open_workspace(None, (Path("/"),)).__enter__()


def test_what_killed_builds_left_is_removed(base: Path) -> None:
    """But nothing of a build that still runs, nor what is not ours."""
    dies = (
        "import os; from easeci.build.workspace import open_workspace\n"
        "space = open_workspace(None, ()); space.__enter__(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", dies], check=False)
    (base / "other").mkdir()
    assert len(list(base.glob("easeci-build-*"))) == 1
    with open_workspace(None, ()) as first, open_workspace(None, ()) as second:
        assert set(base.iterdir()) == {first.folder, second.folder, base / "other"}


def test_users_of_builds_are_nobody_else() -> None:
    uid = free_uid()
    assert 64_100 <= uid < 65_000


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    folder = tmp_path / "examples"
    (folder / "files").mkdir(parents=True, mode=0o700)
    (folder / "examples.csv").write_text("id\n1\n")
    (folder / "files" / "1.png").write_bytes(b"png")
    (folder / "files" / "1.png").chmod(0o600)
    for path in folder.rglob("*"):
        os.utime(path, (NORMAL_TIME, NORMAL_TIME))
    (folder / "examples.csv").chmod(0o644)
    return folder


def test_examples_are_readable_and_of_one_time(examples: Path, tmp_path: Path) -> None:
    """The vault's own files keep their modes, and share no inode with what a program sees."""
    into = tmp_path / "into"
    into.mkdir()
    copy_examples(examples, into)
    # By the vault's names: to list a folder of the copy would set its time.
    for original in (examples, *examples.rglob("*")):
        path = into / original.relative_to(examples)
        about = path.stat()
        assert (about.st_atime, about.st_mtime) == (NORMAL_TIME, NORMAL_TIME)
        assert about.st_mode & 0o777 == (0o755 if path.is_dir() else 0o644)
        assert path.is_dir() or about.st_nlink == 1
        assert not path.samefile(original)
    assert (into / "examples.csv").read_text() == "id\n1\n"
    assert (into / "files" / "1.png").read_bytes() == b"png"
    assert (examples / "files" / "1.png").stat().st_mode & 0o777 == 0o600


def test_times_do_not_tell_how_long_each_file_took_to_copy(
    examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that somebody labelled lately is read faster; no file's own times show that."""
    (tmp_path / "into").mkdir()
    copied: list[float] = []

    def slowly(source: Path, target: Path) -> None:
        _copy_content(source, target)
        copied.append(target.stat().st_ctime)
        time.sleep(0.1)

    monkeypatch.setattr(workspace, "_copy_content", slowly)
    copy_examples(examples, tmp_path / "into")
    changed = [path.stat().st_ctime for path in (tmp_path / "into").rglob("*")]
    assert min(changed) > max(copied)


def test_examples_are_files(examples: Path, tmp_path: Path) -> None:
    """A link in a vault would give a program something else than examples."""
    (examples / "link").symlink_to("/etc/passwd")
    (tmp_path / "into").mkdir()
    with pytest.raises(InfrastructureError, match="not a regular file"):
        copy_examples(examples, tmp_path / "into")
