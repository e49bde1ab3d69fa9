"""Whole or not at all: what happens to a store that cannot be written."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from easeci.errors import InfrastructureError, UsageError
from easeci.files import create_file, create_folder, file_error, replacing, unfinished
from easeci.vault.key import KEY_FILE
from easeci.vault.paths import open_vault
from easeci.vault.sealing import seal
from easeci.vault.testset import SealedTestset
from tests.accounts import bound_by_modes
from tests.unit.vault.making import offered, sealed, write

PROGRAM = """
import resource, sys
from pathlib import Path
from easeci.errors import InfrastructureError
from easeci.tables.label_formats import load_answers
from easeci.vault.paths import open_vault
from easeci.vault.testset import SealedTestset
from easeci.vault.intake import load_offered
from easeci.vault.sealing import seal
action, folder, limit = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
if action == "seal":
    vault = open_vault(folder / "store", "demo")
    offered = load_offered(folder / "offered.csv")
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    if action == "open":
        open_vault(folder / "elsewhere" / "store", "demo")
    elif action == "seal":
        seal(vault, 1, offered)
    else:
        testset = SealedTestset(open_vault(folder / "store", "demo"), 1)
        if action == "labels":
            testset.labels.add(load_answers(folder / "labels.csv"), known=[])
        else:
            testset.predictions.store(folder / "predictions.csv")
except InfrastructureError as error:
    print(error)
    sys.exit(int(error.exit_code))
"""


def attempt(action: str, folder: Path, limit: int = 0) -> str:
    """What an action that must fail says, in a process with a limit on the size of files, if any."""
    done = subprocess.run(
        bound_by_modes(sys.executable, "-c", PROGRAM, action, str(folder), str(limit)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 6, done.stderr
    return done.stdout


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("limit", [1, 100, 5_000, 20_000])
def test_a_testset_that_does_not_fit_leaves_nothing_behind(tmp_path: Path, limit: int) -> None:
    """Wherever the writing stops, there is no testset, and no part of one."""
    offered(tmp_path, 3_000)
    vault = open_vault(tmp_path / "store", "demo")
    before = everything(tmp_path / "store")
    text = attempt("seal", tmp_path, limit)
    assert "testset 1 was not stored: a file would be larger than allowed" in text
    assert "ulimit" in text
    assert everything(tmp_path / "store") == before
    assert vault.numbers() == []


@pytest.mark.parametrize(("action", "what"), [("labels", "labels"), ("predictions", "predictions")])
def test_files_that_do_not_fit_leave_nothing_behind(tmp_path: Path, action: str, what: str) -> None:
    sealed(tmp_path)
    write(tmp_path / "labels.csv", "id,label\n1,a\n")
    write(tmp_path / "predictions.csv", "id,prediction\n0,a\n1,a\n2,a\n3,a\n4,a\n")
    before = everything(tmp_path / "store")
    assert f"the {what} for testset 1 were not stored" in attempt(action, tmp_path, 10)
    assert everything(tmp_path / "store") == before


def test_a_folder_without_rights_is_a_clear_error(tmp_path: Path) -> None:
    """Everything may be read, and nothing written."""
    offered(tmp_path)
    open_vault(tmp_path / "store", "demo")
    for path in (tmp_path, *tmp_path.rglob("*")):
        if path.is_dir():
            path.chmod(0o555)
    before = everything(tmp_path)
    assert "was not stored: permission denied" in attempt("seal", tmp_path)
    assert "cannot be used: permission denied" in attempt("open", tmp_path)
    assert "--store" in attempt("open", tmp_path)
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    ("number", "fragment"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "read-only"),
        (errno.EIO, "the disk has an error"),
        (errno.ELOOP, os.strerror(errno.ELOOP)),
    ],
)
def test_causes_in_words(number: int, fragment: str) -> None:
    error = file_error(OSError(number, os.strerror(number), "secret/name"), "it failed")
    assert error.message.startswith("it failed: ")
    assert fragment in error.message
    assert "secret" not in str(error)
    assert error.hint


def test_an_interrupted_folder_is_not_there(tmp_path: Path) -> None:
    def fill(folder: Path) -> None:
        assert unfinished(folder.name)
        (folder / "part").write_text("x")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        create_folder(tmp_path / "whole", fill)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_swept_away(tmp_path: Path) -> None:
    vault, _, testset = sealed(tmp_path)
    before = everything(vault.folder)
    write(vault.folder / ".making-2-0123.tmp" / "examples" / "part", "x")
    write(testset.folder / "labels" / ".making-0001.parquet-0123.tmp", "x")
    assert vault.numbers() == [1]
    vault.sweep()
    assert everything(vault.folder) == before


def test_files_are_never_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create_file(tmp_path / "f", b"first")
    with pytest.raises(FileExistsError):
        create_file(tmp_path / "f", b"second")

    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    with pytest.raises(FileExistsError):
        create_file(tmp_path / "f", b"second")
    create_file(tmp_path / "g", b"second")
    assert everything(tmp_path) == {"f": b"first", "g": b"second"}


def test_a_file_is_replaced_as_a_whole_or_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError), replacing(path, 0o644) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert path.read_text() == "before"
    with replacing(path, 0o600) as file:
        file.write(b"after")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("after", 0o600)
    assert list(tmp_path.iterdir()) == [path]


def test_the_store_is_ignored_by_git_and_private(tmp_path: Path) -> None:
    vault, _, _ = sealed(tmp_path)
    assert (tmp_path / "store" / ".gitignore").read_text() == "*\n"
    for path in (tmp_path / "store").rglob("*"):
        mode = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == mode, path
    assert vault.numbers() == [1]


def test_a_key_that_was_lost_is_not_made_again(tmp_path: Path) -> None:
    """A new key would call every testset damaged."""
    sealed(tmp_path)
    (tmp_path / "store" / KEY_FILE).unlink()
    with pytest.raises(InfrastructureError, match="is lost"):
        open_vault(tmp_path / "store", "other")


@pytest.mark.parametrize("name", ["", "..", ".hidden", "a/b", "a b", "x" * 101, "a\n"])
def test_names_of_projects_are_safe(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name"):
        open_vault(tmp_path / "store", name)


def test_a_store_must_be_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "store", "x")
    with pytest.raises(InfrastructureError, match="is not a folder"):
        open_vault(tmp_path / "store", "demo")


def test_a_testset_is_stored_once(tmp_path: Path) -> None:
    vault, _, _ = sealed(tmp_path)
    with pytest.raises(InfrastructureError, match="there is one already"):
        seal(vault, 1, offered(tmp_path))
    vault.discard(1)
    assert vault.numbers() == []
    with pytest.raises(InfrastructureError, match="testset 1 is missing"):
        SealedTestset(vault, 1)
    seal(vault, 1, offered(tmp_path))
    assert vault.numbers() == [1]
