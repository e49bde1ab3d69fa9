"""How much a build has written is known, whatever kind of tree it makes."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from easeci.build.disk import DEEPEST, MOST_ENTRIES, DiskUse, TreeSize, measure_small
from easeci.build.sandbox import FILE_BYTES

MIB = 2**20


def du(folder: Path) -> int:
    command = ["du", "-s", "--block-size=1", str(folder)]
    return int(subprocess.run(command, capture_output=True, text=True).stdout.split()[0])


def test_small_trees_are_measured_as_du_does(tmp_path: Path) -> None:
    """Links are not followed, a file with two names counts once, a pipe blocks nothing."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "large").write_bytes(os.urandom(MIB))
    (tmp_path / "a" / "b" / "small").write_bytes(b"x")
    (tmp_path / "again").hardlink_to(tmp_path / "a" / "large")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "away").symlink_to("/usr")
    (tmp_path / "loop").symlink_to(tmp_path)
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(10 * MIB)
    os.mkfifo(tmp_path / "pipe")
    count = 3 + 3 + 3 + 1  # folders, files, links and a pipe
    size = du(tmp_path) + count * FILE_BYTES
    assert measure_small((tmp_path,)) == TreeSize(size, closed=False)
    assert measure_small((tmp_path / "absent",)) == TreeSize(0, closed=False)


def make_deep(folder: Path) -> None:
    for _ in range(DEEPEST + 2):
        folder = folder / "d"
        folder.mkdir()


def make_many(folder: Path) -> None:
    for number in range(MOST_ENTRIES + 1):
        (folder / str(number)).touch()


@pytest.mark.parametrize("make", [make_deep, make_many])
def test_other_trees_are_left_to_du(make: Callable[[Path], None], tmp_path: Path) -> None:
    """And what was there before does not count."""
    make(tmp_path)
    assert measure_small((tmp_path,)) is None
    disk = DiskUse((tmp_path,))
    try:
        assert disk.grown_bytes() == 0
        (tmp_path / "new").write_bytes(os.urandom(MIB))
        end = time.monotonic() + 60
        while disk.grown_bytes() < MIB:
            assert time.monotonic() < end
    finally:
        disk.stop()


def test_growth_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DiskUse, "EVERY_SECONDS", 0.0)
    (tmp_path / "before").write_bytes(os.urandom(MIB))
    disk = DiskUse((tmp_path,))
    assert disk.grown_bytes() == 0
    (tmp_path / "new").write_bytes(os.urandom(2 * MIB))
    end = time.monotonic() + 60
    while disk.grown_bytes() < 2 * MIB:
        assert time.monotonic() < end
    assert disk.grown_bytes() < 3 * MIB
