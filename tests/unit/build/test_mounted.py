"""The digest of mounted files changes with what programs see of them, and with nothing else."""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from easeci.build import mounted
from easeci.build.mounted import mounts_digest
from easeci.errors import InfrastructureError


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """A mounted folder with a file, a folder and a link."""
    folder = tmp_path / "weights"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "w.bin").write_bytes(b"one")
    (folder / "link").symlink_to("sub/w.bin")
    return folder


def digest(weights: Path, *hidden: Path) -> str:
    return mounts_digest((str(weights),), weights.parent / "memory", hidden=hidden)


CHANGES: list[Callable[[Path], object]] = [
    lambda folder: (folder / "sub" / "w.bin").write_bytes(b"two"),
    lambda folder: (folder / "sub" / "w.bin").chmod(0o755),
    lambda folder: (folder / "sub" / "w.bin").rename(folder / "sub" / "v.bin"),
    lambda folder: (folder / "sub" / "empty").mkdir(),
    lambda folder: (folder / "new").write_bytes(b""),
    lambda folder: (folder / "link").replace(folder / "sub" / "link"),
    lambda folder: os.mkfifo(folder / "pipe"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_noticed(weights: Path, change: Callable[[Path], object]) -> None:
    """Content, permissions, names, folders, targets of links and kinds."""
    before = digest(weights)
    assert digest(weights) == before
    change(weights)
    assert digest(weights) != before


def test_a_change_with_its_times_put_back_is_noticed(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel's own time of a change (ctime) is part of what is remembered."""
    path = weights / "sub" / "w.bin"
    monkeypatch.setattr(mounted, "SETTLED_NS", -(10**12))
    before, about = digest(weights), path.stat()
    while path.stat().st_ctime_ns == about.st_ctime_ns:
        path.write_bytes(b"two")
        os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert path.stat().st_mtime_ns == about.st_mtime_ns
    assert digest(weights) != before


def read_files(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts how often a file's content is read."""
    read: list[int] = []
    original = hashlib.file_digest

    def noting(file: Any, name: str) -> Any:
        read.append(1)
        return original(file, name)

    monkeypatch.setattr(hashlib, "file_digest", noting)
    return read


def test_an_unchanged_file_is_read_once(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights may have 100 GB."""
    monkeypatch.setattr(mounted, "SETTLED_NS", -(10**12))
    read = read_files(monkeypatch)
    assert len({digest(weights) for _ in range(3)}) == 1
    assert len(read) == 1


def test_a_file_that_was_just_changed_is_not_remembered(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second change within one tick of the clock would leave its times as they are."""
    read = read_files(monkeypatch)
    (weights / "sub" / "w.bin").write_bytes(b"now")
    digest(weights)
    digest(weights)
    assert len(read) == 2


def test_a_file_changed_while_it_is_read_is_read_again(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The digest is that of a content which the file had as a whole; endless change is an error."""
    path, original, changes = weights / "sub" / "w.bin", hashlib.file_digest, [3]

    def changing(file: Any, name: str) -> Any:
        found = original(file, name)
        if changes[0]:
            changes[0] -= 1
            path.write_bytes(b"x" * (10 + changes[0]))
        return found

    monkeypatch.setattr(hashlib, "file_digest", changing)
    after = digest(weights)
    assert changes == [0]
    assert digest(weights) == after
    changes[0] = 100
    with pytest.raises(InfrastructureError, match=r"w\.bin changes while it is read"):
        digest(weights)


def test_hidden_folders_do_not_count(weights: Path) -> None:
    """Programs never see the store, even where it lies in a mounted folder."""
    (weights / "store").mkdir()
    before = digest(weights, weights / "store")
    (weights / "store" / "ledger").write_bytes(b"event")
    assert digest(weights, weights / "store") == before != digest(weights)


def test_links_are_not_followed(weights: Path, tmp_path: Path) -> None:
    """What a link leads to outside is not mounted; a link to a folder above has no end."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (weights / "outside").symlink_to(outside)
    (weights / "loop").symlink_to(weights)
    before = digest(weights)
    (outside / "file").write_bytes(b"x")
    assert digest(weights) == before


def test_a_mounted_link_is_what_it_leads_to(weights: Path, tmp_path: Path) -> None:
    """Programs see the folder that a mounted name leads to when the build begins."""
    current = tmp_path / "current"
    current.symlink_to(weights)
    before = mounts_digest((str(current),), tmp_path / "memory")
    other = tmp_path / "other"
    other.mkdir()
    current.unlink()
    current.symlink_to(other)
    assert mounts_digest((str(current),), tmp_path / "memory") != before


def test_sockets_are_never_opened(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only that they are there counts."""
    monkeypatch.chdir(weights)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        assert digest(weights) == digest(weights)


def test_a_damaged_memory_is_begun_anew(weights: Path, tmp_path: Path) -> None:
    """It only saves time. It is private, because it names files of the owner."""
    before = digest(weights)
    assert (tmp_path / "memory").stat().st_mode & 0o777 == 0o600
    (tmp_path / "memory").write_bytes(b"nonsense" * 1000)
    assert digest(weights) == before
    assert digest(weights) == before


def test_nothing_mounted_needs_no_memory(tmp_path: Path) -> None:
    """Most scripts mount nothing."""
    assert mounts_digest((), tmp_path / "memory") == mounts_digest((), tmp_path / "other")
    assert not (tmp_path / "memory").exists()
