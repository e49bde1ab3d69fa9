"""How often the watcher began to test each commit of the drop box, so that none stops it for ever.

::

    <repository>/easeci/private/attempts/<commit>    one line for each try: when it began;
                                                     "outside" follows if it failed from outside

A watcher that is killed cannot record that. So a try is recorded before it begins, and the record
is removed when the try comes to an end. After three tries that did not, the commit is set aside:
its entries stay in the box, nobody tests them, and the owner is told. Only the owner can read any
of this; even its times tell others nothing, because they cannot look into ``private``.

A try that failed from outside, such as on a full disk, does not count as one of the three. But a
commit may be what fills the disk. So after three such failures the next tries lie 1, 2, 4, …
minutes apart, at most an hour, without an end; and the owner is told.

Records are kept by commit: many entries may name the same one. A live watcher holds the lock of the
record that it works on.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from easeci.files import explained, make_folder, sync_folder
from easeci.notify.schedule import wait_after

MOST_TRIES = 3
APART_SECONDS = 60.0
"""Tries begin so far apart: what stops a watcher from outside may be over by then."""
LONGEST_WAIT = timedelta(hours=1)
"""Between tries that failed from outside."""
OUTSIDE = b"outside\n"
LARGEST_RECORD = 1 << 20


@dataclass(frozen=True)
class TryCount:
    """How often a commit was tried: without an end, and with a failure from outside."""

    unfinished: int
    failed_outside: int

    @staticmethod
    def parse(record: bytes) -> TryCount:
        """The count that a record's lines give."""
        lines, failed = record.count(b"\n"), record.count(OUTSIDE)
        return TryCount(lines - 2 * failed, failed)

    @property
    def is_set_aside(self) -> bool:
        """Whether the commit was tried too often to try it again."""
        return self.unfinished >= MOST_TRIES

    @property
    def is_postponed(self) -> bool:
        """Whether the commit failed from outside so often that its tries lie apart."""
        return not self.is_set_aside and self.failed_outside >= MOST_TRIES

    @property
    def wait_seconds(self) -> float:
        """How long to wait after the last try."""
        failures = self.failed_outside - MOST_TRIES + 1
        longer = min(wait_after(failures), LONGEST_WAIT).total_seconds()
        return max(longer, APART_SECONDS if self.unfinished else 0.0)


@dataclass(frozen=True)
class AttemptRecord:
    """The record of one commit, locked. ``count`` and ``age`` are as they were when it opened."""

    path: Path
    descriptor: int
    count: TryCount
    age: float

    @property
    def is_due(self) -> bool:
        """Whether it may be tried now. A clock that was put back does not make it wait."""
        return not self.count.is_set_aside and not 0 <= self.age < self.count.wait_seconds

    def begin(self) -> None:
        """Record a try; it is on the disk before anything is tried."""
        with explained("the try cannot be recorded"):
            os.write(self.descriptor, b"%d\n" % time.time())
            os.fsync(self.descriptor)
            sync_folder(self.path.parent)

    def fail_outside(self) -> None:
        """Record that the try that began failed for a reason around us."""
        with explained("the try cannot be recorded"):
            os.write(self.descriptor, OUTSIDE)
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
                count = TryCount.parse(os.pread(descriptor, LARGEST_RECORD, 0))
                age = time.time() - os.fstat(descriptor).st_mtime
                record = AttemptRecord(path, descriptor, count, age)
            yield record
        finally:
            if record is not None and not os.fstat(descriptor).st_size:
                path.unlink(missing_ok=True)  # nothing was tried
            os.close(descriptor)

    def set_aside(self) -> list[str]:
        """The commits that were tried too often, and are not being tried now."""
        return self._commits(lambda count: count.is_set_aside)

    def postponed(self) -> list[str]:
        """The commits that failed from outside again and again, and are not being tried now."""
        return self._commits(lambda count: count.is_postponed)

    def _commits(self, fits: Callable[[TryCount], bool]) -> list[str]:
        import fcntl

        found = []
        for path in sorted(self.folder.iterdir()) if self.folder.is_dir() else ():
            with path.open("rb") as file:
                if _lock(file.fileno(), fcntl.LOCK_SH) and fits(TryCount.parse(file.read())):
                    found.append(path.name)
        return found

    def retry(self) -> list[str]:
        """Let everything that was set aside or postponed be tried again; the commits."""
        found = [*self.set_aside(), *self.postponed()]
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
