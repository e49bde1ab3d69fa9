"""How much the files of a build have grown, seen from outside."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from easeci.build.processes import BLOCK
from easeci.build.sandbox import FILE_BYTES

MEASURE = """
{
  du -s --block-size=1 -- "$@" 2>&1 >&3 3>&- | grep -c 'Permission denied' >&3
  du -s --inodes -- "$@" 2>/dev/null >&3
} 3>&1
"""
"""Prints each folder's size, then how much is closed to us, then each folder's number of files."""
MOST_ENTRIES = 5_000
DEEPEST = 32
"""Trees within these limits are measured in this process, in a few hundredths of a second."""


@dataclass(frozen=True)
class TreeSize:
    """What folders take on disk, and whether a part of them is closed to us."""

    size: int
    closed: bool


class DiskUse:
    """How much folders have grown since this was made, measured now and then.

    What ``held`` gives is added: the size of files that have lost their names. Each file counts a
    little by itself, so that empty ones count, too.

    A program can make a tree that takes long to walk, or one too deep for recursion. Such a tree
    is left to ``du``, in a process of its own that nobody waits for.
    """

    EVERY_SECONDS = 0.5

    def __init__(self, folders: tuple[Path, ...], held: Callable[[], int] = int) -> None:
        self._folders = folders
        self._held = held
        self._pause = self.EVERY_SECONDS
        self._running: subprocess.Popen[bytes] | None = None
        self._measure()
        if self._running is not None:
            self._running.wait()
            self._collect()
        self._first = self._latest

    def grown_bytes(self) -> int:
        """By the last measurement; never waits."""
        if self._running is None:
            if time.monotonic() - self._began >= self._pause:
                self._measure()
        elif self._running.poll() is not None:
            self._collect()
        return self._latest - self._first

    def _collect(self) -> None:
        """Take what ``du`` found."""
        if self._running is not None:
            output, _ = self._running.communicate()
            self._running = None
            numbers = [int(line.split(b"\t")[0]) for line in output.splitlines()]
            half = len(numbers) // 2
            size = sum(numbers[:half]) + sum(numbers[half + 1 :]) * FILE_BYTES
            self._note(TreeSize(size, closed=numbers[half] > 0))

    def stop(self) -> None:
        """End ``du`` if it is at work."""
        if self._running is not None:
            os.killpg(self._running.pid, signal.SIGKILL)
            self._running.communicate()
            self._running = None

    def _measure(self) -> None:
        self._began = time.monotonic()
        # First, so that a file that loses its name meanwhile does not count twice.
        self._nameless = self._held()
        measured = measure_small(self._folders)
        if measured is not None:
            self._note(measured)
        else:
            self._running = subprocess.Popen(  # noqa: S603 - no shell
                ["/bin/sh", "-c", MEASURE, "sh", *map(str, self._folders)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
                start_new_session=True,
            )

    def _note(self, measured: TreeSize) -> None:
        self._latest = measured.size + self._nameless
        self.closed = measured.closed
        # Large trees take long to walk: look less often, so that looking stays cheap.
        self._pause = max(self.EVERY_SECONDS, 4 * (time.monotonic() - self._began))


def measure_small(folders: tuple[Path, ...]) -> TreeSize | None:
    """What folders take on disk, and a little for each file; None if there is too much to walk."""
    walk = _Walk()
    for folder in folders:
        walk.enter(str(folder), None, 0)
        if walk.too_much:
            return None
    return TreeSize(walk.size, walk.closed)


class _Walk:
    """Adds up what is in folders. No link is followed, and nothing that is opened can block."""

    def __init__(self) -> None:
        self.size = 0
        self.closed = False
        self.too_much = False
        self._entries = 0
        self._linked: set[tuple[int, int]] = set()

    def enter(self, name: str, above: int | None, depth: int) -> None:
        """Count a folder and what is below it."""
        if depth > DEEPEST:
            self.too_much = True
            return
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            descriptor = os.open(name, flags, dir_fd=above)
        except OSError as error:  # or it is gone
            self.closed |= error.errno == errno.EACCES
            self.too_much = error.errno in (errno.EMFILE, errno.ENFILE)
            return
        try:
            self._count(os.fstat(descriptor))
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    self._take(entry, descriptor, depth)
                    if self.too_much:
                        return
        finally:
            os.close(descriptor)

    def _take(self, entry: os.DirEntry[str], above: int, depth: int) -> None:
        try:
            about = entry.stat(follow_symlinks=False)
        except OSError as error:  # or it is gone meanwhile
            self.closed |= error.errno == errno.EACCES
            return
        if stat.S_ISDIR(about.st_mode):
            self.enter(entry.name, above, depth + 1)
        else:
            self._count(about)

    def _count(self, about: os.stat_result) -> None:
        self._entries += 1
        self.too_much |= self._entries > MOST_ENTRIES
        file = (about.st_dev, about.st_ino)
        if about.st_nlink > 1 and not stat.S_ISDIR(about.st_mode):
            if file in self._linked:  # another name of a file that is counted already
                return
            self._linked.add(file)
        self.size += about.st_blocks * BLOCK + FILE_BYTES
