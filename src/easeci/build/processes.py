"""How much the processes of a build use, seen from outside."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


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


def use_more_than(limit: int, processes: list[Process], root: int) -> bool:
    """Whether the processes, which are all those below ``root``, together use more memory.

    Adding up resident memory counts shared pages once for each process, and forked workers share
    almost all of theirs. So where the sum exceeds the limit, each page is split among its users.
    While some of them end, the shares of the others grow; hence a second look.
    """
    if sum(process.resident_bytes for process in processes) <= limit:
        return False
    if sum(map(_proportional, processes)) <= limit:
        return False
    return sum(map(_proportional, descendants(root))) > limit


def _proportional(process: Process) -> int:
    try:
        text = (PROC / str(process.pid) / "smaps_rollup").read_text("utf-8")
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return 0
    except OSError:
        return process.resident_bytes
    match = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    return int(match[1]) * 1024 if match else 0
