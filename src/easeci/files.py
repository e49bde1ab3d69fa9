"""Durable writes: a file or a folder is written as a whole, or nothing is left of it.

Content goes to a temporary name in the same folder, then to the disk, and is then renamed. The
errors of the operating system become errors that say what to do.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from easeci.errors import InfrastructureError

PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600
IGNORED_BY_GIT = b"*\n"
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
    """What failed, why, and what to do. The system's own text may name secret files."""
    cause, advice = _CAUSES.get(
        error.errno or 0, (error.strerror or "input/output error", "Check the store and its disk")
    )
    return InfrastructureError(f"{what}: {cause}", hint=f"{advice}.")


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Raise errors of the operating system as :func:`file_error`."""
    try:
        yield
    except OSError as error:
        raise file_error(error, what) from None


# -- folders


def make_folder(path: Path) -> None:
    """Make a folder for the owner alone, and its parents. An existing one stays as it is."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    sync_folder(path.parent)  # or a power cut takes it away, with all that is in it


def make_store_folder(path: Path) -> None:
    """Make the folder of a store: private, and git ignores it even inside a repository."""
    with explained(f"the store {path} cannot be used"):
        if path.exists() and not path.is_dir():
            raise InfrastructureError(f"the store {path} is not a folder")
        make_folder(path)
        try:
            if not (path / ".gitignore").exists():
                create_file(path / ".gitignore", IGNORED_BY_GIT)
        except FileExistsError:
            pass  # another command was faster


def create_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Make a new folder with all that ``fill`` puts into it, or nothing at all."""
    temporary = _temporary(path)
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
    """Remove a folder. To other processes it is gone at once."""
    temporary = _temporary(path)
    path.rename(temporary)
    sync_folder(path.parent)
    shutil.rmtree(temporary)


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# -- files


def create_file(path: Path, content: bytes, mode: int = PRIVATE_FILE) -> None:
    """Write a new file. FileExistsError if there is a file of that name."""
    temporary = _temporary(path)
    try:
        write_synced(temporary, content, mode)
        _place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
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


def replace_file(path: Path, content: bytes, mode: int = PRIVATE_FILE) -> None:
    """Write a file in place of the one that is there, if any."""
    with replacing(path, mode) as file:
        file.write(content)


@contextmanager
def replacing(path: Path, mode: int = PRIVATE_FILE) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of ``path`` at the end.

    It is opened first, so a place that cannot be written is known before the content is made.
    """
    temporary = _temporary(path)
    try:
        with _synced(temporary, mode) as file:
            yield file
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def write_synced(path: Path, content: bytes, mode: int) -> None:
    """Write a new file that no other process reads yet, and wait until it is on the disk."""
    with _synced(path, mode) as file:
        file.write(content)


@contextmanager
def _synced(path: Path, mode: int) -> Iterator[IO[bytes]]:
    with path.open("xb") as file:
        os.fchmod(file.fileno(), mode)
        yield file
        file.flush()
        os.fsync(file.fileno())


# -- temporary names


def temporary_name() -> str:
    """A new name for something that is not finished yet."""
    return f"{_BEGINNING}{secrets.token_hex(8)}{_ENDING}"


def _temporary(path: Path) -> Path:
    return path.parent / temporary_name()


def unfinished(name: str) -> bool:
    """Whether a name is a temporary one: its process was killed, or is still writing."""
    return name.startswith(_BEGINNING) and name.endswith(_ENDING)
