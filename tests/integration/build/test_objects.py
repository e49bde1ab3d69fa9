"""Commits and files are read from git's objects as they were written."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.build.repository import Repository
from easeci.errors import InfrastructureError, UsageError
from tests.sandbox.building import commit_files, git


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
