"""The highest head of a project that this clone has seen, noted outside the store.

::

    <git folder>/easeci-owner/heads/<store>-<project>    the last event: number and code, keyed

A chain cannot show that a whole store was replaced by an older copy of itself, or that SQLite's log
was removed. The note shows it: the store must still hold the event that was noted. The outer folder
is closed to other accounts and never changes, so its times tell them nothing.

An account that may write to the git folder as its owner can remove the note, and another clone has
a note of its own. A note that cannot be written is left out: the record itself is in the store.
"""

from __future__ import annotations

import hmac
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from easeci.files import PRIVATE_FILE, PRIVATE_FOLDER, temporary_name
from easeci.ledger.chain import Head

FOLDER = "easeci-owner"
HEADS = "heads"
LONGEST = 1024
OTHERS = stat.S_IWGRP | stat.S_IWOTH


class ChangedNoteError(ValueError):
    """A note that was not written with this key."""


@dataclass(frozen=True)
class HeadNote:
    """The note of one project; ``name`` is its file, and ``key`` protects what it says."""

    git_dir: Path
    name: str
    key: bytes = field(repr=False)

    @property
    def path(self) -> Path:
        """The file of the note."""
        return self.git_dir / FOLDER / HEADS / self.name

    def read(self) -> Head | None:
        """The noted head; None if there is no note of ours. ChangedNoteError if it was changed."""
        try:
            with self._heads(make=False) as heads:
                descriptor = os.open(self.name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=heads)
                with os.fdopen(descriptor, "rb") as file:
                    content = file.read(LONGEST)
        except OSError:
            return None
        number, _, rest = content.decode("ascii", "replace").partition(" ")
        code, _, _ = rest.partition(" ")
        if not number.isdecimal() or content != self._content(Head(int(number), code)):
            raise ChangedNoteError
        return Head(int(number), code)

    def raise_to(self, head: Head) -> None:
        """Note a head unless a higher one is noted. ChangedNoteError if the note was changed."""
        noted = self.read()
        if noted is None or noted.number < head.number:
            self.write(head)

    def write(self, head: Head) -> None:
        """Note a head in place of the one before, where that is possible."""
        unfinished = temporary_name()  # of its own: several commands may note at once
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with suppress(OSError), self._heads(make=True) as heads:
            descriptor = os.open(unfinished, flags, PRIVATE_FILE, dir_fd=heads)
            with os.fdopen(descriptor, "wb") as file:
                file.write(self._content(head))
                file.flush()
                os.fsync(descriptor)
            os.replace(unfinished, self.name, src_dir_fd=heads, dst_dir_fd=heads)
            os.fsync(heads)

    @contextmanager
    def _heads(self, *, make: bool) -> Iterator[int]:
        """The open folder of notes. OSError if other accounts may write to it.

        Others may own the git folder, so no link is followed and no folder is opened twice.
        """
        opened = [os.open(self.git_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)]
        try:
            for name in (FOLDER, HEADS):
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(name, PRIVATE_FOLDER, dir_fd=opened[-1])
                opened.append(_opened_ours(name, opened[-1]))
            yield opened[-1]
        finally:
            for descriptor in opened:
                os.close(descriptor)

    def _content(self, head: Head) -> bytes:
        said = f"{head.number} {head.code}"
        return f"{said} {hmac.digest(self.key, said.encode(), 'sha256').hex()}\n".encode()


def _opened_ours(name: str, above: int) -> int:
    """Open a folder that only this account can have written to, and close it to others."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, dir_fd=above)
    about = os.fstat(descriptor)
    if about.st_uid != os.geteuid() or about.st_mode & OTHERS:
        os.close(descriptor)
        raise PermissionError(name)
    if stat.S_IMODE(about.st_mode) != PRIVATE_FOLDER:
        os.fchmod(descriptor, PRIVATE_FOLDER)
    return descriptor
