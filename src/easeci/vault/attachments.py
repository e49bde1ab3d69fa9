"""Files that examples refer to: found below one folder, hashed, and copied into the vault."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from easeci.errors import DataError
from easeci.files import PRIVATE_FILE, make_folder
from easeci.tables.column import by_number
from easeci.vault.key import CHUNK, Key

LONGEST_PATH = 4096
SAMPLE = 1000
SYNCED_ONE_BY_ONE = 100


@dataclass(frozen=True)
class Attachments:
    """The files that examples refer to."""

    folder: Path
    columns: Mapping[str, Mapping[str, str]]
    """For each column of paths: the hash of the content of each file, by path as written."""

    @cached_property
    def hashes(self) -> dict[str, str]:
        """The hash of each file, by its path in the form a/b/c."""
        found: dict[str, str] = {}
        for paths in self.columns.values():
            found.update({os.path.normpath(path): digest for path, digest in paths.items()})
        return found


def find_attachments(name: str, columns: pl.DataFrame, folder: Path) -> Attachments:
    """Find the columns that hold paths of files below a folder, and hash these files."""
    if not folder.is_dir():
        raise DataError(f"there is no folder {folder}")
    known = AttachmentFolder(folder)
    found = {
        column: {path: known.content_hash(path) for path in _paths(columns[column])}
        for column in columns.columns
        if _holds_paths(name, columns[column], known)
    }
    if not found:
        raise DataError(
            f"no column of {name} holds paths of files in {folder}",
            hint="A path is relative to that folder, such as images/001.png, and stays inside it.",
        )
    return Attachments(folder, found)


def path_columns(name: str, columns: pl.DataFrame, folder: Path) -> list[str]:
    """The columns that hold paths of files below a folder; none if the folder does not exist."""
    if not folder.is_dir():
        return []
    known = AttachmentFolder(folder)
    return [column for column in columns.columns if _holds_paths(name, columns[column], known)]


def _paths(values: pl.Series) -> pl.Series:
    paths = values.drop_nulls().unique(maintain_order=True)
    return paths.filter(paths != "")


def _holds_paths(name: str, values: pl.Series, folder: AttachmentFolder) -> bool:
    """Whether a column holds paths. DataError if most of its values are paths, but not all."""
    paths = _paths(values)
    sample = paths.gather_every(max(1, len(paths) // SAMPLE))
    if len(paths) == 0 or 2 * sum(map(folder.holds, sample)) <= len(sample):
        return False
    missing = [path for path in paths if not folder.holds(path)]
    if missing:
        rows = values.is_in(pl.Series(missing, dtype=pl.String).implode()).fill_null(False)
        raise DataError(
            # By row number: a path may contain the class.
            f"{name}: column '{values.name[:40]}' refers to files that are not in {folder.path}: "
            f"{by_number(rows)}",
            hint="A path is relative to that folder, and stays inside it.",
        )
    return True


class AttachmentFolder:
    """A folder with the files of examples. It remembers what it found out about paths."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._root = os.path.realpath(path)
        self._inside: dict[str, bool] = {}
        self._hashes: dict[str, str] = {}

    def holds(self, path: str) -> bool:
        """Whether a path names a file in this folder, and not one outside of it by a link."""
        if len(path) > LONGEST_PATH or "\0" in path or path.startswith("/"):
            return False
        if ".." in path.split("/"):
            return False
        whole = os.path.join(self._root, path)  # noqa: PTH118 - pathlib is too slow for millions
        parent = os.path.dirname(whole)  # noqa: PTH120
        try:
            status = os.lstat(whole)
            if stat.S_ISLNK(status.st_mode):
                return self._is_inside(os.path.realpath(whole)) and Path(whole).is_file()
        except (OSError, ValueError):
            return False
        if parent not in self._inside:
            self._inside[parent] = self._is_inside(os.path.realpath(parent))
        return stat.S_ISREG(status.st_mode) and self._inside[parent]

    def _is_inside(self, real: str) -> bool:
        return real == self._root or real.startswith(self._root.rstrip("/") + "/")

    def content_hash(self, path: str) -> str:
        """The hash of a file's content. Each file is read once."""
        plain = os.path.normpath(path)
        if plain not in self._hashes:
            running = hashlib.sha256()
            for chunk in _chunks(Path(self._root, plain)):
                running.update(chunk)
            self._hashes[plain] = running.hexdigest()
        return self._hashes[plain]


def _chunks(path: Path) -> Iterator[bytes]:
    """The content of one of the owner's files. DataError if it cannot be read."""
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk
    except OSError as error:
        raise DataError(
            f"a file of the examples cannot be read: {error.strerror or 'input/output error'}",
            hint="Every file that an example refers to must be readable.",
        ) from None


def copy_attachments(files: Attachments, target: Path, key: Key) -> dict[str, str]:
    """Copy all files into ``target``. Returns the keyed digest of each, by path."""
    digests: dict[str, str] = {}
    make_folder(target)
    one_by_one = len(files.hashes) <= SYNCED_ONE_BY_ONE
    for path, expected in sorted(files.hashes.items()):
        copy = target / path
        make_folder(copy.parent)
        plain = hashlib.sha256()
        with copy.open("xb") as file:
            os.fchmod(file.fileno(), PRIVATE_FILE)
            digests[path] = key.digest_chunks(
                _passing(files.folder / path, file.write, plain.update)
            )
            if one_by_one:
                file.flush()
                os.fsync(file.fileno())
        if plain.hexdigest() != expected:
            raise DataError("a file of the examples changed while they were read")
    if not one_by_one:
        os.sync()  # once for all: a million files, synced one by one, take hours
    return digests


def _passing(source: Path, *receivers: Callable[[bytes], object]) -> Iterator[bytes]:
    """The chunks of a file, each also given to ``receivers``: the file is read only once."""
    for chunk in _chunks(source):
        for receive in receivers:
            receive(chunk)
        yield chunk
