"""Single examples from a large file: verified once, then read line by line.

A testset may have a million examples, and a labeller waits for one of them. So the whole file is
read and verified once, and the places of its lines are remembered. While the system reports the
same unchanged file, a line is read from its place. Otherwise the file is verified again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from easeci.tables.source import BYTE_ORDER_MARK

_BREAKS = (ord("\n"), ord("\r"))

Identity = tuple[int, ...]
"""What tells that a file is unchanged.

The time of its last status change (ctime) is part of it: all examples have the same mtime."""


class LineReader:
    """Rows of a file of JSON lines. ``verify`` raises an error if the content was changed."""

    def __init__(self, path: Path, verify: Callable[[bytes], None]) -> None:
        self._path, self._verify = path, verify
        self._identity: Identity | None = None
        self._starts = self._ends = np.zeros(0, np.int64)

    def rows(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """The rows with these numbers, counted from 0. Empty lines do not count."""
        with self._path.open("rb", buffering=0) as file:
            if _identity(file.fileno()) != self._identity:
                self._look(file)
            return [json.loads(self._line(file.fileno(), number)) for number in numbers]

    def _look(self, file: FileIO) -> None:
        # Before reading: a change during the reading is then noticed the next time.
        identity = _identity(file.fileno())
        content = file.readall()
        self._verify(content)
        self._starts, self._ends = lines_of(content)
        self._identity = identity

    def _line(self, descriptor: int, number: int) -> bytes:
        start = int(self._starts[number])
        return os.pread(descriptor, int(self._ends[number]) - start, start)


def lines_of(content: bytes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where the lines of a text begin and end, without empty lines."""
    data = np.frombuffer(content, np.uint8)
    first = len(BYTE_ORDER_MARK) if content.startswith(BYTE_ORDER_MARK) else 0
    breaks = np.flatnonzero((data == _BREAKS[0]) | (data == _BREAKS[1]))
    starts = np.concatenate([[first], breaks + 1]).astype(np.int64)
    ends = np.concatenate([breaks, [len(data)]]).astype(np.int64)
    some = ends > starts
    starts, ends = starts[some], ends[some]
    # Only a line that begins with a blank can be nothing but blanks.
    blank = np.isin(data[starts], np.frombuffer(b" \t\v\f", np.uint8))
    for index in np.flatnonzero(blank):
        blank[index] = not content[starts[index] : ends[index]].strip()
    return starts[~blank], ends[~blank]


def _identity(descriptor: int) -> Identity:
    status = os.fstat(descriptor)
    return (
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    )  # fmt: skip
