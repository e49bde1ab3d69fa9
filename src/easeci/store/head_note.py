"""The highest head of a project that this clone has seen, noted outside the store.

::

    <git folder>/easeci-owner/heads/<store>-<project>    the last event: number and code, keyed

A chain cannot show that a whole store was replaced by an older copy of itself, or that SQLite's log
was removed. The note shows it: the store must still hold the event that was noted. The outer folder
is closed to other accounts and never changes, so its times tell them nothing.

Somebody who can write to the git folder as the owner can remove the note, and another clone has a
note of its own. A note that cannot be written is left out: the record itself is in the store.
"""

from __future__ import annotations

import hmac
import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from easeci.files import PRIVATE_FOLDER, replace_file
from easeci.ledger.chain import Head

FOLDER = "easeci-owner"
HEADS = "heads"
LONGEST = 1024


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
        return self._folder / HEADS / self.name

    @property
    def _folder(self) -> Path:
        return self.git_dir / FOLDER

    def read(self) -> Head | None:
        """The noted head; None if there is no note of ours. ChangedNoteError if it was changed."""
        if not self._is_ours():
            return None
        try:
            with self.path.open("rb") as file:
                content = file.read(LONGEST)
        except OSError:
            return None
        number, _, rest = content.decode("ascii", "replace").partition(" ")
        code, _, _ = rest.partition(" ")
        if not number.isdecimal() or content != self._content(Head(int(number), code)):
            raise ChangedNoteError
        return Head(int(number), code)

    def write(self, head: Head) -> None:
        """Note a head in place of the one before, where that is possible."""
        with suppress(OSError):
            if self.git_dir.stat().st_uid != os.geteuid():
                return  # another account could lead us elsewhere by a link
            self._folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
            if self._is_ours():
                if stat.S_IMODE(self._folder.stat().st_mode) != PRIVATE_FOLDER:
                    self._folder.chmod(PRIVATE_FOLDER)
                self.path.parent.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
                replace_file(self.path, self._content(head))

    def _is_ours(self) -> bool:
        """Whether the folder is one that only this account can have written to."""
        try:
            about = self._folder.lstat()
        except OSError:
            return False
        others = about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        return stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and not others

    def _content(self, head: Head) -> bytes:
        said = f"{head.number} {head.code}"
        return f"{said} {hmac.digest(self.key, said.encode(), 'sha256').hex()}\n".encode()
