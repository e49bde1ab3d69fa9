"""Whether a disk has room is asked of the disk; a part of it is never given to commits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from easeci.build.room import free_room, require_room, require_writable
from easeci.errors import InfrastructureError
from tests.cases import each_case


def disk(monkeypatch: pytest.MonkeyPatch, size: int, free: int, files: int, left: int) -> None:
    """Let every disk look like one of this size, with so many files possible and left."""
    about = os.statvfs_result((1, 1, size, free, free, files, left, left, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: about)


@each_case(
    ("size", "free", "expected"),
    [
        (2**40, 2**35, 2**35 - 2**30),
        (2**40, 2**30, 0),
        (2**40, 5, 0),
        (2**20, 2**20, 3 * 2**18),  # a small disk keeps a quarter
        (0, 0, 0),
    ],
)
def test_a_reserve_is_left(size: int, free: int, expected: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        disk(patched, size, free, 0, 0)
        assert free_room(Path()) == expected


@each_case(
    ("size", "files", "fits"),
    [(0, 0, True), (2**30, 1_000, True), (2**31, 1, False), (0, 2_000, False)],
)
def test_bytes_and_files_must_fit(size: int, files: int, fits: bool) -> None:
    with pytest.MonkeyPatch.context() as patched:
        disk(patched, 2**40, 3 * 2**30, 10_000, 1_500)
        if fits:
            require_room(Path(), size, files, "not written")
        else:
            with pytest.raises(InfrastructureError, match="not written: the disk is full"):
                require_room(Path(), size, files, "not written")


def test_a_file_system_that_does_not_count_files_has_room_for_any_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk(monkeypatch, 2**40, 3 * 2**30, 0, 0)
    require_room(Path(), 0, 1_000, "not written")


def test_a_folder_is_tried_and_left_as_it_was(tmp_path: Path) -> None:
    require_writable(tmp_path, 0, "not written")
    require_writable(tmp_path, 2**20, "not written")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InfrastructureError, match="not written: "):
        require_writable(tmp_path, 2**62, "not written")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InfrastructureError, match="not written: it is not there"):
        require_writable(tmp_path / "gone", 0, "not written")
