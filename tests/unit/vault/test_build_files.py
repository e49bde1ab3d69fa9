"""Logs and archives of builds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from easeci.errors import InfrastructureError
from easeci.vault.testset import SealedTestset
from tests.unit.vault.making import sealed, write


def test_a_log_comes_back_and_a_changed_one_does_not(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are replaced when the log is shown."""
    vault, _, testset = sealed(tmp_path)
    stored = testset.builds.store_log("1", b"line \xff\n")
    verified = SealedTestset(vault, 1, {stored.file: stored.digest})
    assert verified.builds.load_log(stored.file) == "line \ufffd\n"
    (testset.folder / stored.file).write_bytes(b"other\n")
    with pytest.raises(InfrastructureError, match="changed or damaged"):
        verified.builds.load_log(stored.file)


def test_a_file_that_was_never_recorded_is_replaced(tmp_path: Path) -> None:
    """A command that was killed leaves its log; the next one stores its own under that name."""
    _, _, testset = sealed(tmp_path)
    first = testset.builds.store_log("1", b"first")
    second = testset.builds.store_log("1", b"second")
    assert replace(first, digest=second.digest) == second != first
    assert testset.builds.load_log(second.file) == "second"


def test_an_archive_is_verified_before_its_path_is_given(tmp_path: Path) -> None:
    vault, _, testset = sealed(tmp_path)
    stored = testset.builds.store_archive("c" * 40, write(tmp_path / "a.tar.gz", b"content"))
    verified = SealedTestset(vault, 1, {stored.file: stored.digest}).builds
    assert verified.archive_path(stored.file).read_bytes() == b"content"
    (testset.folder / stored.file).write_bytes(b"c0ntent")
    with pytest.raises(InfrastructureError, match="changed or damaged"):
        verified.archive_path(stored.file)
    verified.remove_archive(stored.file)
    verified.remove_archive(stored.file)
    assert not (testset.folder / stored.file).exists()
