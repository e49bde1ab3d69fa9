"""How much the processes of a build use, seen from outside."""

from __future__ import annotations

import os
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")
PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
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


def _read(pid: int) -> Process | None:
    try:
        text = (PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:  # it has ended meanwhile
        return None
    # The name may hold spaces and brackets of its own; what follows the last one is numbers.
    fields = text.rpartition(")")[2].split()
    return Process(pid, int(fields[1]), int(fields[21]) * PAGE)


def use_more_than(limit: int, processes: list[Process], root: int) -> bool:
    """Whether the processes, which are those below one, use more memory than that together.

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


class DiskUse:
    """How much folders have grown, asked of ``du`` now and then.

    A process of its own, because a tree may be large; and ``du``, because a program can make a
    tree too deep for recursion.
    """

    EVERY_SECONDS = 0.5

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self._command = ["du", "-s", "--block-size=1", "--", *map(str, folders)]
        self._asked = time.monotonic()
        self._running: subprocess.Popen[bytes] | None = self._ask()
        self._first: int | None = None
        self._latest = 0
        self._pause = self.EVERY_SECONDS

    def grown_bytes(self) -> int:
        """By the last answer; never waits."""
        now = time.monotonic()
        if self._running is None:
            if now - self._asked >= self._pause:
                self._asked, self._running = now, self._ask()
        elif self._running.poll() is not None:
            self._take(self._running, now)
        return self._latest - (self._first or 0)

    def stop(self) -> None:
        if self._running is not None:
            self._running.kill()
            self._running.communicate()
            self._running = None

    def _ask(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - no shell
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def _take(self, done: subprocess.Popen[bytes], now: float) -> None:
        output, _ = done.communicate()
        numbers = [int(line.split(b"\t")[0]) for line in output.splitlines() if b"\t" in line]
        self._latest = sum(numbers)
        self._first = self._latest if self._first is None else self._first
        # Large trees take long to walk: look less often, so that looking stays cheap.
        self._pause = max(self.EVERY_SECONDS, 10 * (now - self._asked))
        self._running = None
