"""Entries of zip files: every compression of Inspect, and limits for hostile files."""

from __future__ import annotations

import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard

from easeci.errors import DataError
from easeci.tables.logs import load_log, zip_entries
from easeci.tables.logs.zip_entries import ZSTANDARD, opened_zip
from tests.cases import each_case

TEXT = b"a text that occurs again and again; " * 50


def write_zip(path: Path, packed: bytes, method: int, size: int, checksum: int) -> Path:
    """A zip file whose directory claims a method, a size and a checksum."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("entry", packed)
        (info,) = archive.filelist
        info.compress_type, info.file_size, info.CRC = method, size, checksum
    return path


def deflated(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(content) + packer.flush()


def frames(content: bytes) -> bytes:
    """Two frames of zstd, as Inspect writes large entries; their sizes are not declared."""
    half = len(content) // 2
    parts = (content[:half], content[half:])
    packers = (zstandard.ZstdCompressor().compressobj() for _ in parts)
    return b"".join(p.compress(x) + p.flush() for p, x in zip(packers, parts, strict=True))


PACKED = {
    "stored": (zipfile.ZIP_STORED, TEXT),
    "deflate": (zipfile.ZIP_DEFLATED, deflated(TEXT)),
    "zstd": (ZSTANDARD, zstandard.ZstdCompressor().compress(TEXT)),
    "zstd in frames": (ZSTANDARD, frames(TEXT)),
}


@each_case("name", PACKED)
def test_entries_of_every_compression(tmp_path: Path, name: str) -> None:
    method, packed = PACKED[name]
    path = write_zip(tmp_path / "a.eval", packed, method, len(TEXT), zlib.crc32(TEXT))
    with opened_zip(path) as entries:
        assert entries.read("entry") == TEXT
        assert entries.names == ["entry"]


@each_case("name", PACKED)
def test_sizes_and_checksums_that_are_wrong_are_refused(tmp_path: Path, name: str) -> None:
    """A bomb that declares a small size is not unpacked beyond that size."""
    method, packed = PACKED[name]
    for size, checksum in ((len(TEXT) - 1, zlib.crc32(TEXT)), (len(TEXT), 0)):
        path = write_zip(tmp_path / "a.eval", packed, method, size, checksum)
        with opened_zip(path) as entries, pytest.raises(DataError, match="size or checksum"):
            entries.read("entry")


@each_case("method", [zipfile.ZIP_DEFLATED, ZSTANDARD])
def test_bombs_do_not_fill_the_memory(tmp_path: Path, method: int) -> None:
    """64 MiB of zeros that claim to have 10 bytes: only 11 are unpacked."""
    zeros = bytes(1 << 20)
    packer: Any = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    if method == ZSTANDARD:
        packer = zstandard.ZstdCompressor().compressobj()
    packed = b"".join(packer.compress(zeros) for _ in range(64)) + packer.flush()
    path = write_zip(tmp_path / "a.eval", packed, method, 10, 0)
    tracemalloc.start()
    with opened_zip(path) as entries, pytest.raises(DataError, match="size or checksum"):
        entries.read("entry")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 16 << 20


@each_case("method", [zipfile.ZIP_DEFLATED, ZSTANDARD, zipfile.ZIP_LZMA, 99])
def test_what_cannot_be_unpacked_is_refused(tmp_path: Path, method: int) -> None:
    path = write_zip(tmp_path / "a.eval", b"no such thing", method, 20, 0)
    with opened_zip(path) as entries, pytest.raises(DataError, match="entry cannot be unpacked"):
        entries.read("entry")


def test_entries_that_are_too_large_are_refused_before_they_are_unpacked(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.eval", TEXT, zipfile.ZIP_STORED, 3 << 30, 0)
    with (
        opened_zip(path) as entries,
        pytest.raises(DataError, match=r"3,072 MiB .*more than 2 GiB"),
    ):
        entries.read("entry")


def test_all_entries_together_are_bounded(tmp_path: Path) -> None:
    """Entries that share their bytes may have any size together."""
    path = write_zip(tmp_path / "a.eval", TEXT, zipfile.ZIP_STORED, len(TEXT), zlib.crc32(TEXT))
    with pytest.MonkeyPatch.context() as patch, opened_zip(path) as entries:
        patch.setattr(zip_entries, "MOST_UNPACKED", 2 * len(TEXT))
        entries.read("entry")
        entries.read("entry")
        with pytest.raises(DataError, match="has more than 0 GiB unpacked"):
            entries.read("entry")


def test_a_file_that_is_not_a_zip_file_is_refused(tmp_path: Path) -> None:
    for content in (b"PK\x03\x04 and nothing else", b"{}"):
        (tmp_path / "a.eval").write_bytes(content)
        with pytest.raises(DataError, match=r"not a .*zip file"):
            load_log(tmp_path / "a.eval")


def test_a_later_entry_replaces_one_of_the_same_name(tmp_path: Path) -> None:
    """That is how Inspect writes a sample again."""
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        archive.writestr("entry", "first")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("entry", "second")
    with opened_zip(tmp_path / "a.eval") as entries:
        assert entries.read("entry") == b"second"
