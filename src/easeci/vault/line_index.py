"""Single examples out of a large file: verified once, then read line by line.

A testset may have a million examples, and whoever labels wants one of them now. So the file is read
and held against its digest once; what is remembered is where its lines are. As long as the system
says that it is the same file, unchanged, a line is read from there; otherwise all begins anew.
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
"""By what the system tells that a file is the one that it was.

When its times were last set is part of it: all examples have the same time of change."""


class LineReader:
    """Rows of a file of JSON lines. ``verify`` raises if its content is not what it was."""

    def __init__(self, path: Path, verify: Callable[[bytes], None]) -> None:
        self._path, self._verify = path, verify
        self._identity: Identity | None = None
        self._starts = self._ends = np.zeros(0, np.int64)

    def rows(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """The rows with these numbers, counted from 0, without empty lines."""
        with self._path.open("rb", buffering=0) as file:
            if _identity(file.fileno()) != self._identity:
                self._look(file)
            return [json.loads(self._line(file.fileno(), number)) for number in numbers]

    def _look(self, file: FileIO) -> None:
        # Taken before all is read: what changes meanwhile is seen the next time.
        identity = _identity(file.fileno())
        content = file.readall()
        self._verify(content)
        self._starts, self._ends = lines_of(content)
        self._identity = identity

    def _line(self, descriptor: int, number: int) -> bytes:
        start = int(self._starts[number])
        return os.pread(descriptor, int(self._ends[number]) - start, start)


def lines_of(content: bytes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where the lines of a text that are not empty begin and end."""
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
