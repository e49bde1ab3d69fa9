"""How much the files of a build have grown, seen from outside."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import time
from pathlib import Path

MOST_ENTRIES = 5_000
DEEPEST = 32
"""Trees within these limits are measured in this process, in a few hundredths of a second."""
BLOCK = 512
"""What ``st_blocks`` counts in, whatever the file system."""


class DiskUse:
    """How much folders have grown since this was made, measured now and then.

    A program can make a tree that takes long to walk, or one too deep for recursion. Such a tree
    is left to ``du``, in a process of its own that nobody waits for.
    """

    EVERY_SECONDS = 0.5

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self._folders = folders
        self._first: int | None = None
        self._latest = 0
        self._pause = self.EVERY_SECONDS
        self._running: subprocess.Popen[bytes] | None = None
        self._measure()

    def grown_bytes(self) -> int:
        """By the last measurement; never waits."""
        if self._running is None:
            if time.monotonic() - self._began >= self._pause:
                self._measure()
        elif self._running.poll() is not None:
            output, _ = self._running.communicate()
            self._running = None
            self._note(sum(int(line.split(b"\t")[0]) for line in output.splitlines()))
        return self._latest - (self._first or 0)

    def stop(self) -> None:
        """End ``du`` if it is at work."""
        if self._running is not None:
            self._running.kill()
            self._running.communicate()
            self._running = None

    def _measure(self) -> None:
        self._began = time.monotonic()
        size = small_size(self._folders)
        if size is not None:
            self._note(size)
        else:
            self._running = subprocess.Popen(  # noqa: S603 - no shell
                ["du", "-s", "--block-size=1", "--", *map(str, self._folders)],  # noqa: S607
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )

    def _note(self, size: int) -> None:
        self._latest = size
        self._first = size if self._first is None else self._first
        # Large trees take long to walk: look less often, so that looking stays cheap.
        self._pause = max(self.EVERY_SECONDS, 10 * (time.monotonic() - self._began))


def small_size(folders: tuple[Path, ...]) -> int | None:
    """The bytes that folders take on disk, as ``du`` counts; None if there is too much to walk."""
    walk = _Walk()
    for folder in folders:
        walk.enter(str(folder), None, 0)
        if walk.too_much:
            return None
    return walk.size


class _Walk:
    """Adds up what is in folders. No link is followed, and nothing that is opened can block."""

    def __init__(self) -> None:
        self.size = 0
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
        except OSError as error:  # it is gone, or closed to us as it would be to du
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
        except FileNotFoundError:  # it is gone meanwhile
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
        self.size += about.st_blocks * BLOCK
