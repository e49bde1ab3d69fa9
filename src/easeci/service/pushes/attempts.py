"""How often the watcher began to test each commit of the drop box, so that none stops it for ever.

::

    <repository>/easeci/private/attempts/<commit>    one line for each try: when it began

A watcher that is killed cannot record that. So a try is recorded before it begins, and the record
is removed when the try comes to an end. After three tries that did not, the commit is set aside:
its entries stay in the box, nobody tests them, and the owner is told. Only the owner can read any
of this; even its times tell others nothing, because they cannot look into ``private``.

Records are kept by commit: many entries may name the same one. A live watcher holds the lock of the
record that it works on.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from easeci.files import explained, make_folder, sync_folder

MOST_TRIES = 3
APART_SECONDS = 60.0
"""Tries begin so far apart: what stops a watcher from outside may be over by then."""


@dataclass(frozen=True)
class AttemptRecord:
    """The record of one commit, locked. ``tries`` and ``age`` are as it was when it was opened."""

    path: Path
    descriptor: int
    tries: int
    age: float

    @property
    def is_set_aside(self) -> bool:
        """Whether the commit was tried too often to try it again."""
        return self.tries >= MOST_TRIES

    @property
    def is_due(self) -> bool:
        """Whether it may be tried now. A clock that was put back does not make it wait."""
        return not self.is_set_aside and not (self.tries and 0 <= self.age < APART_SECONDS)

    def begin(self) -> None:
        """Record a try; it is on the disk before anything is tried."""
        with explained("the try cannot be recorded"):
            os.write(self.descriptor, b"%d\n" % time.time())
            os.fsync(self.descriptor)
            sync_folder(self.path.parent)

    def withdraw(self) -> None:
        """Do not count the try that began: it failed for a reason outside the commit."""
        with explained("the try cannot be recorded"):
            kept = os.pread(self.descriptor, 1 << 16, 0).splitlines(keepends=True)[: self.tries]
            os.ftruncate(self.descriptor, sum(map(len, kept)))
            os.fsync(self.descriptor)

    def remove(self) -> None:
        """The try came to an end, and none of the earlier ones matters any more."""
        with explained("the record of a try cannot be removed"):
            self.path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Attempts:
    """The records of all commits that were begun and did not come to an end yet."""

    folder: Path

    @contextmanager
    def record(self, commit: str) -> Iterator[AttemptRecord | None]:
        """The record of a commit, locked for us; None while another watcher works on it."""
        import fcntl

        path = self.folder / commit
        with explained("the tries cannot be read"):
            make_folder(self.folder)
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(path, flags, 0o600)
        record = None
        try:
            if _lock(descriptor, fcntl.LOCK_EX):
                tries = os.pread(descriptor, 1 << 16, 0).count(b"\n")
                age = time.time() - os.fstat(descriptor).st_mtime
                record = AttemptRecord(path, descriptor, tries, age)
            yield record
        finally:
            if record is not None and not os.fstat(descriptor).st_size:
                path.unlink(missing_ok=True)  # no try counts
            os.close(descriptor)

    def set_aside(self) -> list[str]:
        """The commits that were tried too often, and are not being tried now."""
        import fcntl

        found = []
        for path in sorted(self.folder.iterdir()) if self.folder.is_dir() else ():
            with path.open("rb") as file:
                if _lock(file.fileno(), fcntl.LOCK_SH) and file.read().count(b"\n") >= MOST_TRIES:
                    found.append(path.name)
        return found

    def retry(self) -> list[str]:
        """Let everything that was set aside be tried again; the commits."""
        found = self.set_aside()
        for commit in found:
            (self.folder / commit).unlink(missing_ok=True)
        return found


def _lock(descriptor: int, how: int) -> bool:
    """Lock a file until it is closed; False if another process holds it."""
    import fcntl

    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
