"""Writing that either happens as a whole or leaves nothing behind.

A file is written under another name in its own folder, brought to the disk, and renamed. A folder
of files is made the same way. Whatever goes wrong is an error in words that says what to do.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from easeci.errors import InfrastructureError

PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600
_BEGINNING, _ENDING = ".making-", ".tmp"

_CAUSES = {
    errno.ENOSPC: ("the disk is full", "Free some space and try again"),
    errno.EDQUOT: ("the disk quota is used up", "Free some space and try again"),
    errno.EFBIG: (
        "a file would be larger than allowed",
        "Raise the limit (ulimit -f) and try again",
    ),
    errno.EROFS: ("the file system is read-only", "Use a store elsewhere (--store)"),
    errno.EACCES: ("permission denied", "Use a store that you may write to (--store)"),
    errno.EPERM: ("permission denied", "Use a store that you may write to (--store)"),
    errno.ENOENT: ("it is not there", "Put it back from a backup"),
    errno.EIO: ("the disk has an error", "Check the disk; put the store back from a backup"),
}


def file_error(error: OSError, what: str) -> InfrastructureError:
    """What happened, why, and what to do. The error's own text may name secret files."""
    cause, advice = _CAUSES.get(
        error.errno or 0, (error.strerror or "input/output error", "Check the store and its disk")
    )
    return InfrastructureError(f"{what}: {cause}", hint=f"{advice}.")


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn errors of the system into errors in words."""
    try:
        yield
    except OSError as error:
        raise file_error(error, what) from None


def make_folder(path: Path) -> None:
    """A folder for the owner alone, with all above it; one that is there stays as it is."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


def create_file(path: Path, content: bytes, mode: int = PRIVATE_FILE) -> None:
    """A new file, complete or not there at all; FileExistsError if there is one of that name."""
    with _beside(path) as temporary:
        write_synced(temporary, content, mode)
        _place(temporary, path)
    sync_folder(path.parent)


def _place(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)  # unlike a rename, it never replaces anything
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK):
            raise
        if path.exists():  # a file system without links: the next best thing
            raise FileExistsError(path.name) from None
        temporary.rename(path)


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    temporary = path.parent / f"{_BEGINNING}{path.name}-{secrets.token_hex(8)}{_ENDING}"
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def write_synced(path: Path, content: bytes, mode: int) -> None:
    """Write a file that nobody else knows of yet, and wait until it is on the disk."""
    with path.open("xb") as file:
        os.fchmod(file.fileno(), mode)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def create_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """A new folder with all that ``fill`` puts into it, or nothing at all."""
    temporary = path.parent / f"{_BEGINNING}{path.name}-{secrets.token_hex(8)}{_ENDING}"
    try:
        temporary.mkdir(mode=PRIVATE_FOLDER)
        fill(temporary)
        for folder, _, _ in os.walk(temporary):
            sync_folder(Path(folder))
        temporary.rename(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync_folder(path.parent)


def remove_folder(path: Path) -> None:
    """Remove a folder; to whoever looks, it goes at once."""
    temporary = path.parent / f"{_BEGINNING}{path.name}-{secrets.token_hex(8)}{_ENDING}"
    path.rename(temporary)
    sync_folder(path.parent)
    shutil.rmtree(temporary)


def unfinished(name: str) -> bool:
    """Whether a name is that of something that was never finished."""
    return name.startswith(_BEGINNING) and name.endswith(_ENDING)


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
