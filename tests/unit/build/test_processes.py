"""The memory of a build's processes, as the kernel tells it."""

from __future__ import annotations

import mmap
import os
import threading
from pathlib import Path

import pytest

from easeci.build import processes
from easeci.build.processes import (
    HeldFiles,
    Process,
    _proportional,
    descendants,
    held_files,
    memory_device,
    threads_of,
    use_more_than,
)

KIB = 1024


def running(
    proc: Path, pid: int, parent: int, *, name: str = "model", shared_kib: int = 100
) -> None:
    """A process as /proc shows it, of which other processes share some pages."""
    (proc / str(pid)).mkdir(parents=True)
    zeros, pages = " ".join(["0"] * 19), 400 * KIB // os.sysconf("SC_PAGE_SIZE")
    (proc / str(pid) / "stat").write_text(f"{pid} ({name}) S {parent} {zeros} {pages} 0\n")
    (proc / str(pid) / "smaps_rollup").write_text(f"Rss: 400 kB\nPss:  {shared_kib} kB\n")


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(processes, "PROC", tmp_path)
    (tmp_path / "self").mkdir()
    return tmp_path


def test_children_of_children_count_and_strangers_do_not(proc: Path) -> None:
    """Names may hold spaces and brackets: they cannot make a process somebody else's child."""
    running(proc, 10, 1)
    running(proc, 11, 10, name="a) S 1 (b")
    running(proc, 12, 11)
    running(proc, 20, 1)
    assert sorted(process.pid for process in descendants(10)) == [11, 12]


def test_a_process_that_has_ended_is_passed_over(proc: Path) -> None:
    running(proc, 11, 10)
    (proc / "12").mkdir()
    assert descendants(10) == [Process(11, 10, 400 * KIB)]


def test_pages_that_workers_share_count_once(proc: Path) -> None:
    """Four workers hold 400 KiB each, of which they share most."""
    for pid in range(11, 15):
        running(proc, pid, 10)
    found = descendants(10)
    assert sum(process.resident_bytes for process in found) == 1600 * KIB
    assert not use_more_than(400 * KIB, found, 10, HeldFiles({}))
    assert use_more_than(399 * KIB, found, 10, HeldFiles({}))


def test_files_in_memory_count_once_mapped_or_not() -> None:
    """A file that a process holds open and has mapped is counted with the file, not twice."""
    size = 64 * 1024 * KIB
    descriptor = os.memfd_create("held")
    try:
        os.ftruncate(descriptor, size)
        with mmap.mmap(descriptor, size) as mapped:
            mapped.write(b"x" * size)
            here = [process for process in descendants(os.getppid()) if process.pid == os.getpid()]
            held = held_files(here)
            assert sum(held.on(memory_device()).values()) == size
            assert not held.unseen
            apart = _proportional(here[0], held.on(memory_device()))
            assert _proportional(here[0]) - apart >= size
        held = held_files(here)
        assert use_more_than(size - 1, [], 0, held)
        assert not use_more_than(size, [], 0, held)
    finally:
        os.close(descriptor)
    assert held_files(here).on(memory_device()) == {}


def test_every_thread_of_a_user_counts() -> None:
    """Twenty threads that wait count as twenty, beside the process that started them."""
    end = threading.Event()
    waiting = [threading.Thread(target=end.wait) for _ in range(20)]
    for thread in waiting:
        thread.start()
    try:
        assert threads_of(os.getuid()) > len(waiting)
        assert threads_of(4_000_000_000) == 0  # a user id that nobody has
    finally:
        end.set()
        for thread in waiting:
            thread.join()
