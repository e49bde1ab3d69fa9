"""Answers of a labeller that are not recorded yet, on the disk from the moment they are given.

One line an answer, and one for each that was taken back. Whoever is killed while labelling loses no
answer: the next session finds them here. Only one session at a time holds the journal of a testset.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

from easeci.errors import UsageError
from easeci.vault.disk import PRIVATE_FILE, explained

NAME = "open.jsonl"
UNDO = {"undo": True}


class Journal:
    """The open answers of a testset. ``entries`` are those that were not taken back."""

    def __init__(self, folder: Path) -> None:
        with explained("the journal of labels cannot be used"):
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(folder / NAME, flags, PRIVATE_FILE)
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(self._file)
                raise UsageError(
                    "somebody is labelling this testset already",
                    hint="One at a time, lest two be asked the same: `easeci labels export` is for "
                    "teams.",
                ) from None
            content = os.pread(self._file, os.fstat(self._file).st_size, 0)
        self.entries: list[dict[str, Any]] = []
        if content and not content.endswith(b"\n"):
            self._write(b"\n")  # its last answer was never finished
        for line in content.splitlines():
            self._read(line)

    def _read(self, line: bytes) -> None:
        try:
            entry = json.loads(line)
        except ValueError:
            return
        if entry == UNDO:
            del self.entries[-1:]
        elif isinstance(entry, dict):
            self.entries.append(entry)

    def add(self, entry: dict[str, Any]) -> None:
        self._line(entry)
        self.entries.append(entry)

    def undo(self) -> dict[str, Any]:
        """Take the last answer back."""
        self._line(UNDO)
        return self.entries.pop()

    def clear(self) -> None:
        """All entries are recorded elsewhere."""
        with explained("the journal of labels cannot be emptied"):
            os.ftruncate(self._file, 0)
            os.fsync(self._file)
        self.entries = []

    def close(self) -> None:
        os.close(self._file)

    def _line(self, entry: dict[str, Any]) -> None:
        self._write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")

    def _write(self, content: bytes) -> None:
        with explained("the label was not stored"):
            os.write(self._file, content)
            os.fsync(self._file)
