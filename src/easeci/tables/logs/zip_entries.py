"""Read the entries of a zip file into memory, also those that zstd compressed.

Python's ``zipfile`` lists the entries, but before version 3.14 it cannot read those compressed by
zstd (method 93). A log may come from anybody: sizes are bounded, what is unpacked must have the
size and checksum that the file declares, and nothing is written to disk.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from easeci.errors import DataError, UsageError
from easeci.tables.reading_limits import size_in_mib

MOST_UNPACKED = 8 << 30
"""The most bytes that all entries of a file may have when unpacked."""
LARGEST_ENTRY = 2 << 30
"""The most bytes that one entry may have when unpacked, because it is held in memory."""
ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_ENCRYPTED = 0x1


class ZipEntries:
    """The entries of an open zip file by name. A later entry replaces one of the same name."""

    def __init__(self, path: Path, file: BinaryIO, entries: dict[str, zipfile.ZipInfo]) -> None:
        self._path = path
        self._file = file
        self._entries = entries
        self._unpacked = 0

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    @property
    def names(self) -> list[str]:
        """The names of all entries, in the order of the file's directory."""
        return list(self._entries)

    def read(self, name: str) -> bytes:
        """The content of an entry. DataError if it is damaged or too large."""
        info = self._entries[name]
        self._require_size(info)
        packed = self._packed(info)
        if info.flag_bits & _ENCRYPTED:
            raise self._problem(info, "is encrypted")
        try:
            content = _unpacked(packed, info)
        except (zlib.error, ValueError):
            raise self._problem(info, "cannot be unpacked") from None
        if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
            raise self._problem(info, "is damaged: its size or checksum is wrong")
        return content

    def _require_size(self, info: zipfile.ZipInfo) -> None:
        self._unpacked += info.file_size
        if info.file_size > LARGEST_ENTRY:
            size = size_in_mib(info.file_size)
            raise self._problem(info, f"has {size} unpacked, more than {_limit(LARGEST_ENTRY)}")
        if self._unpacked > MOST_UNPACKED:
            raise DataError(f"{self._path} has more than {_limit(MOST_UNPACKED)} unpacked")

    def _packed(self, info: zipfile.ZipInfo) -> bytes:
        if info.header_offset < 0:
            raise self._problem(info, "is damaged")
        self._file.seek(info.header_offset)
        header = self._file.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or header[:4] != b"PK\x03\x04":
            raise self._problem(info, "is damaged")
        _, name_length, extra_length = _LOCAL_HEADER.unpack(header)
        self._file.seek(name_length + extra_length, 1)
        packed = self._file.read(info.compress_size)
        if len(packed) < info.compress_size:
            raise self._problem(info, "is cut off")
        return packed

    def _problem(self, info: zipfile.ZipInfo, why: str) -> DataError:
        shown = "".join(c if c.isprintable() else "?" for c in info.filename)[:80]
        return DataError(f"{self._path}: the entry {shown} {why}", hint="Is the file complete?")


@contextmanager
def opened_zip(path: Path) -> Iterator[ZipEntries]:
    """The entries of a zip file while it is open. DataError if it is not one."""
    with path.open("rb") as file:
        try:
            listed = zipfile.ZipFile(file).infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error):
            raise DataError(
                f"{path} is not a readable zip file",
                hint="Is the file complete? An Inspect log that ends in .eval is a zip file.",
            ) from None
        yield ZipEntries(path, file, {info.filename: info for info in listed})


def _unpacked(packed: bytes, info: zipfile.ZipInfo) -> bytes:
    """At most one byte more than declared, so that a wrong size shows and costs no memory."""
    most = info.file_size + 1
    if info.compress_type == zipfile.ZIP_STORED:
        return packed
    if info.compress_type == zipfile.ZIP_DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
    if info.compress_type == ZSTANDARD:
        return _unpacked_zstandard(packed, most)
    raise ValueError(info.compress_type)


def _unpacked_zstandard(packed: bytes, most: int) -> bytes:
    """Large entries consist of several frames."""
    try:
        import zstandard
    except ImportError:
        raise needs_extra() from None
    reader = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
    parts, left = [], most
    try:
        while left and (part := reader.read(left)):
            parts.append(part)
            left -= len(part)
    except zstandard.ZstdError:
        raise ValueError("not zstd") from None
    return b"".join(parts)


def needs_extra() -> UsageError:
    """The error if the packages that read logs are missing."""
    return UsageError("evaluation logs need the extra: pip install 'easeci[logs]'")


def _limit(size: int) -> str:
    return f"{size >> 30} GiB"
