"""How much a Parquet file says it holds, from its footer alone.

The footer is written in Thrift's compact protocol. Only what a check of sizes needs is taken from
it. A footer may lie, so it is read in a process with limits, and can only be a reason to refuse.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAGIC = b"PAR1"
_LENGTH_AND_MAGIC = 8
_ROWS, _ROW_GROUPS = 3, 4
_CHUNKS, _GROUP_ROWS = 1, 3
_CHUNK = 3
_PATH, _UNPACKED = 3, 6

Struct = dict[int, Any]


@dataclass(frozen=True)
class ParquetFooter:
    """What a file says of itself: rows, and the unpacked bytes of some of its columns."""

    rows: int
    unpacked_bytes: int


def load_footer(path: Path, columns: Collection[str], longest: int) -> ParquetFooter | None:
    """The footer of a file; None if it has none that can be understood. It is never trusted.

    A footer of more than ``longest`` bytes is not read.
    """
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - _LENGTH_AND_MAGIC))
        tail = file.read(_LENGTH_AND_MAGIC)
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != MAGIC or length > min(longest, end - _LENGTH_AND_MAGIC):
            return None
        file.seek(end - _LENGTH_AND_MAGIC - length)
        content = file.read(length)
    try:
        return _footer(_Reader(content).struct(), columns)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return None


def _footer(whole: Struct, columns: Collection[str]) -> ParquetFooter:
    groups: list[Struct] = whole[_ROW_GROUPS]
    chunks = [chunk[_CHUNK] for group in groups for chunk in group[_CHUNKS]]
    wanted = {column.encode() for column in columns}
    return ParquetFooter(
        rows=max(whole[_ROWS], sum(group[_GROUP_ROWS] for group in groups)),
        unpacked_bytes=sum(chunk[_UNPACKED] for chunk in chunks if chunk[_PATH][0] in wanted),
    )


class _Reader:
    """Values of Thrift's compact protocol. IndexError or ValueError if there are none."""

    def __init__(self, content: bytes) -> None:
        self._content, self._place = content, 0

    def struct(self) -> Struct:
        """Fields by their number, up to the mark that ends a struct."""
        fields: Struct = {}
        number = 0
        while header := self._byte():
            step, kind = header >> 4, header & 15
            number = number + step if step else self._whole()
            # The kind of a truth value is the value itself.
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        match kind:
            case 1 | 2 | 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._whole()
            case 7:
                return self._bytes(8)
            case 8:
                return self._bytes(self._varint())
            case 9 | 10:
                return self._list()
            case 12:
                return self.struct()
            case _:
                raise ValueError("a kind of value that no footer has")

    def _list(self) -> list[Any]:
        header = self._byte()
        size, kind = header >> 4, header & 15
        if size == 15:
            size = self._varint()
        return [self._value(kind) for _ in range(size)]

    def _byte(self) -> int:
        self._place += 1
        return self._content[self._place - 1]

    def _bytes(self, length: int) -> bytes:
        start, self._place = self._place, self._place + length
        if self._place > len(self._content):
            raise IndexError("longer than the footer")
        return self._content[start : self._place]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("a number that is too long")

    def _whole(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
