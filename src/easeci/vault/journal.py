"""Answers of labellers that are not recorded yet, on the disk from the moment they are given.

Each answer is a line. An answer that was taken back is another line, with the position of its
example. (In older journals without a position, it takes back the last answer.) A session that is
killed loses no answer: the next session finds them here. One session at a time holds the journal of
a testset: a terminal, or a server with several labellers.

A second file says which labeller was asked which examples, so that a restarted server asks the
same. It is not synced to the disk: only a power cut can lose it.
"""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

from easeci.errors import BusyError
from easeci.files import PRIVATE_FILE, explained, sync_folder

NAME = "open.jsonl"
HELD = "held.json"
UNDO = "undo"


class Journal:
    """The journal of a testset. ``entries`` are the answers that were not taken back."""

    def __init__(self, folder: Path) -> None:
        import fcntl  # only Unix has it, and only here is it needed

        self._folder = folder
        with explained("the journal of labels cannot be used"):
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(folder / NAME, flags, PRIVATE_FILE)
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(self._file)
                raise BusyError(
                    "somebody is labelling this testset already, in a terminal or on a server's "
                    "page",
                    hint="One session at a time, so that no two labellers get the same example. "
                    "Teams label on a server's page, or with files: `easeci labels export`.",
                ) from None
        self.entries: list[dict[str, Any]] = []
        try:
            with explained("the journal of labels cannot be used"):
                sync_folder(folder)  # the file may be new: without its name, its lines are lost
            self._load()
        except BaseException:
            self.close()
            raise

    def _load(self) -> None:
        with explained("the journal of labels cannot be used"):
            content = os.pread(self._file, os.fstat(self._file).st_size, 0)
        if content and not content.endswith(b"\n"):
            self._write(b"\n")  # the last line was never finished
        for line in content.splitlines():
            self._read(line)

    def _read(self, line: bytes) -> None:
        try:
            entry = json.loads(line)
        except ValueError:
            return
        if not isinstance(entry, dict):
            return
        if UNDO not in entry:
            self.entries.append(entry)
        elif "position" in entry:
            self._forget(entry["position"])
        else:
            del self.entries[-1:]

    def add(self, entry: dict[str, Any]) -> None:
        """Write one more answer."""
        self._line(entry)
        self.entries.append(entry)

    def undo(self, position: int) -> None:
        """Take back the answer to the example at a position."""
        self._line({UNDO: True, "position": position})
        self._forget(position)

    def _forget(self, position: int) -> None:
        for index in reversed(range(len(self.entries))):
            if self.entries[index]["position"] == position:
                del self.entries[index]
                return

    def held(self) -> dict[str, list[int]]:
        """The positions each labeller was asked when the last session was killed."""
        try:
            found = json.loads((self._folder / HELD).read_bytes())
        except (OSError, ValueError):
            return {}
        named = found.items() if isinstance(found, dict) else ()
        return {
            seat: [position for position in positions if isinstance(position, int)]
            for seat, positions in named
            if isinstance(positions, list)
        }

    def keep_held(self, held: dict[str, list[int]]) -> None:
        """Remember the positions that each labeller is asked now."""
        path, temporary = self._folder / HELD, self._folder / f".{HELD}"
        with explained("who labels what was not stored"):
            if not held:
                path.unlink(missing_ok=True)
                return
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            file = os.open(temporary, flags, PRIVATE_FILE)
            try:
                _write_all(file, json.dumps(held).encode())
            finally:
                os.close(file)
            temporary.replace(path)

    def clear(self) -> None:
        """Empty the journal, once the ledger has all entries."""
        with explained("the journal of labels cannot be emptied"):
            os.ftruncate(self._file, 0)
            os.fsync(self._file)
        self.entries = []

    def close(self) -> None:
        """Give the journal up. Writing to it is then an error."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def _line(self, entry: dict[str, Any]) -> None:
        self._write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")

    def _write(self, content: bytes) -> None:
        """Write all of it to the disk, or nothing: half a line would spoil the next one."""
        with explained("the label was not stored"):
            before = os.fstat(self._file).st_size
            try:
                _write_all(self._file, content)
                os.fsync(self._file)
            except OSError:
                os.ftruncate(self._file, before)
                raise


def _write_all(file: int, content: bytes) -> None:
    if os.write(file, content) != len(content):
        raise OSError(errno.ENOSPC, "written in part")
