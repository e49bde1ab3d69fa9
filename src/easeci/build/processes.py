"""How much the processes of a build use, seen from outside."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PROC = Path("/proc")
BLOCK = 512
"""What ``st_blocks`` counts in, whatever the file system."""
MAPPING = re.compile(r"[0-9a-f]+-[0-9a-f]+ \S+ [0-9a-f]+ ([0-9a-f]+):([0-9a-f]+) (\d+)")
"""A mapping's first line in smaps: its addresses, modes, offset, device and file."""


@dataclass(frozen=True)
class Process:
    """A running process, its parent and the memory that it holds."""

    pid: int
    parent: int
    resident_bytes: int


def descendants(root: int) -> list[Process]:
    """Every process below one, itself not included."""
    children: dict[int, list[Process]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (process := _read(int(entry.name))) is not None:
            children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    waiting = [root]
    while waiting:
        below = children.pop(waiting.pop(), [])
        found += below
        waiting += [process.pid for process in below]
    return found


def threads_of(uid: int) -> int:
    """How many threads run under a user id: what the kernel holds against a limit of processes."""
    total = 0
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            with suppress(OSError):  # it has ended meanwhile
                about = dict(
                    line.split(":", 1) for line in (entry / "status").read_text().splitlines()
                )
                total += int(about["Threads"]) if int(about["Uid"].split()[0]) == uid else 0
    return total


def _read(pid: int) -> Process | None:
    try:
        text = (PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:  # it has ended meanwhile
        return None
    # The name may hold spaces and brackets of its own; what follows the last one is numbers.
    fields = text.rpartition(")")[2].split()
    return Process(pid, int(fields[1]), int(fields[21]) * os.sysconf("SC_PAGE_SIZE"))


@dataclass(frozen=True)
class HeldFiles:
    """Files without a name that processes hold, by device and number, with what each takes.

    ``unseen`` if a process hides what it holds.
    """

    sizes: Mapping[tuple[int, int], int]
    unseen: bool = False

    def on(self, device: int) -> dict[tuple[int, int], int]:
        """Those of one file system."""
        return {file: size for file, size in self.sizes.items() if file[0] == device}


@cache
def memory_device() -> int:
    """The device of files that exist in memory only and never had a name: memfds and their kin."""
    descriptor = os.memfd_create("easeci")
    try:
        return os.fstat(descriptor).st_dev
    finally:
        os.close(descriptor)


def held_files(processes: Iterable[Process]) -> HeldFiles:
    """What processes hold open, or in root's eyes have mapped, after its last name was removed.

    A thread can have open files of its own, so every thread is looked at. A process that makes
    itself unreadable is one that hides something, unless it has ended meanwhile.
    """
    sizes: dict[tuple[int, int], int] = {}
    unseen = False
    for process in processes:
        try:
            for place in _places_of_files(PROC / str(process.pid)):
                sizes |= _nameless(place)
        except FileNotFoundError:  # it has ended meanwhile
            continue
        except OSError:
            unseen |= not _has_ended(process.pid)
    return HeldFiles(sizes, unseen)


def _places_of_files(process: Path) -> Iterator[Path]:
    for thread in (process / "task").iterdir():
        yield thread / "fd"
    if os.geteuid() == 0:
        yield process / "map_files"


def _nameless(place: Path) -> dict[tuple[int, int], int]:
    found = {}
    for file in place.iterdir():
        with suppress(FileNotFoundError):  # it was closed meanwhile
            about = file.stat()
            if about.st_nlink == 0 and stat.S_ISREG(about.st_mode):
                found[about.st_dev, about.st_ino] = about.st_blocks * BLOCK
    return found


def _has_ended(pid: int) -> bool:
    """Whether nothing is left of a process but its exit code, in all its threads."""
    try:
        threads = list((PROC / str(pid) / "task").iterdir())
        states = [(thread / "stat").read_text("utf-8", "replace") for thread in threads]
    except OSError:
        return True
    return all(text.rpartition(")")[2].split()[0] in "ZX" for text in states)


def use_more_than(limit: int, processes: list[Process], root: int, held: HeldFiles) -> bool:
    """Whether the processes, which are all those below ``root``, together use more memory.

    Files in memory that they hold count, mapped or not. Adding up resident memory counts shared
    pages once for each process, and forked workers share almost all of theirs. So where the sum
    exceeds the limit, each page is split among its users; and where that exceeds it, too, pages of
    held files count only once, with their file. While some processes end, the shares of the others
    grow; hence a second look.
    """
    files = held.on(memory_device())
    size = sum(files.values())
    if sum(process.resident_bytes for process in processes) + size <= limit:
        return False
    if sum(map(_proportional, processes)) + size <= limit:
        return False
    return sum(_proportional(process, files) for process in descendants(root)) + size > limit


def _proportional(process: Process, apart: Collection[tuple[int, int]] = ()) -> int:
    """Its share of all pages that it has mapped, those of some files left out."""
    try:
        name = "smaps" if apart else "smaps_rollup"
        text = (PROC / str(process.pid) / name).read_text("utf-8", "replace")
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return 0
    except OSError:
        return process.resident_bytes
    total, counts = 0, True
    for line in text.splitlines():
        if match := MAPPING.match(line):
            file = (os.makedev(int(match[1], 16), int(match[2], 16)), int(match[3]))
            counts = file not in apart
        elif counts and line.startswith("Pss:"):
            total += int(line.split()[1]) * 1024
    return total
