"""One digest over the files that a script mounts, such as weights that no commit holds.

Weights may have 100 GB, so no file is read twice while it is unchanged: its digest is remembered by
path, device, inode, size, mtime and ctime. The kernel sets ctime, so a change whose mtime was put
back is noticed.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from easeci.errors import InfrastructureError
from easeci.files import PRIVATE_FILE, explained, make_folder

WAIT_SECONDS = 600.0
"""How long another command may write to the memory."""
TRIES = 5
"""How often a file is read that changes meanwhile."""
SETTLED_NS = 2 * 10**9
"""A file that was changed this lately is not remembered: another change could leave its times as
they are, because the clocks of file systems are coarse."""
UNREADABLE = b"unreadable"
LARGE = 1 << 26
"""What was read of a file of this size is kept at once."""
TABLE = "create table if not exists digests (path blob primary key, seen text, digest blob)"
REMEMBER = "replace into digests values (?, ?, ?)"
RECALL = "select digest from digests where path = ? and seen = ?"


def mounts_digest(mounts: Sequence[str], memory: Path, *, hidden: Sequence[Path] = ()) -> str:
    """One digest over all that programs see below the mounted folders and files.

    It covers paths, kinds, permissions, targets of links, and contents. ``memory`` is the file that
    remembers digests of contents. ``hidden`` are folders that programs never see, such as the
    repository and the store: they don't count. Links are not followed: what they lead to is seen
    only if it is mounted, too. Of sockets, pipes and what this account can't read, only the kind
    counts.
    """
    running = hashlib.sha256()
    if not mounts:
        return running.hexdigest()
    left_out = {os.fsencode(folder.resolve()) for folder in hidden}
    with explained("the mounted files cannot be read"), _opened(memory) as digests:
        for name in mounts:
            _add(running, b"mount", os.fsencode(name))
            source = os.fsencode(Path(name).resolve())
            for path in _below(source, left_out):
                with suppress(FileNotFoundError, NotADirectoryError):  # it is gone meanwhile
                    _add(running, path[len(source) :], *_described(path, digests))
    return running.hexdigest()


def _add(running: hashlib._Hash, *parts: bytes) -> None:
    """Add parts with their lengths, so that no two lists of parts look alike."""
    for part in (len(parts).to_bytes(8, "big"), *parts):
        running.update(len(part).to_bytes(8, "big") + part)


def _below(path: bytes, left_out: Collection[bytes]) -> Iterator[bytes]:
    """The path and all below it, in the order of their names; links are not followed."""
    waiting = [path]
    while waiting:
        here = waiting.pop()
        if here in left_out:
            continue
        yield here
        if os.path.islink(here):  # noqa: PTH114 - names are bytes here
            continue
        with suppress(OSError), os.scandir(here) as entries:
            waiting += sorted((entry.path for entry in entries), reverse=True)


def _described(path: bytes, digests: _Memory) -> tuple[bytes, ...]:
    """What a program can see of one file, link or folder, without its name."""
    try:
        about = os.lstat(path)
    except PermissionError:
        return (UNREADABLE,)
    kind, mode = stat.S_IFMT(about.st_mode), stat.S_IMODE(about.st_mode) & 0o777
    described = kind.to_bytes(4, "big") + mode.to_bytes(4, "big")
    if stat.S_ISLNK(about.st_mode):
        return described, os.readlink(path)  # noqa: PTH115 - names are bytes here
    if stat.S_ISREG(about.st_mode):
        return described, digests.content(path)
    if stat.S_ISDIR(about.st_mode):
        return described, b"" if os.access(path, os.R_OK | os.X_OK) else UNREADABLE
    if stat.S_ISCHR(about.st_mode) or stat.S_ISBLK(about.st_mode):
        return described, about.st_rdev.to_bytes(8, "big")
    return described, b""


class _Memory:
    """Digests of files that were read earlier."""

    def __init__(self, digests: sqlite3.Connection) -> None:
        self._digests = digests

    def content(self, path: bytes) -> bytes:
        """The digest of a regular file's content, as remembered or read."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except PermissionError:
            return UNREADABLE
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            for _ in range(TRIES):
                about = os.fstat(descriptor)
                known = self._digests.execute(RECALL, (path, _identity(about))).fetchone()
                if known is not None:
                    return bytes(known[0])
                began = time.time_ns()
                file.seek(0)
                digest = hashlib.file_digest(file, "sha256").digest()
                if _identity(os.fstat(descriptor)) == _identity(about):
                    if about.st_ctime_ns < began - SETTLED_NS:
                        self._remember(path, about, digest)
                    return digest
        raise InfrastructureError(
            f"mounts: {os.fsdecode(path)} changes while it is read",
            hint="Wait until nothing writes to it any more.",
        )

    def _remember(self, path: bytes, about: os.stat_result, digest: bytes) -> None:
        self._digests.execute(REMEMBER, (path, _identity(about), digest))
        if about.st_size >= LARGE:
            self._digests.commit()


@contextmanager
def _opened(path: Path) -> Iterator[_Memory]:
    """The memory in a file, which is begun anew if it is damaged."""
    make_folder(path.parent)
    try:
        try:
            digests = _connected(path)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            path.unlink()
            digests = _connected(path)
        with closing(digests), digests:  # what was read is kept if no error ends this
            yield _Memory(digests)
    except sqlite3.Error:
        raise InfrastructureError(
            f"{path} cannot be used",
            hint="It only remembers digests of mounted files: if it is damaged, remove it.",
        ) from None


def _connected(path: Path) -> sqlite3.Connection:
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, PRIVATE_FILE))
    digests = sqlite3.connect(path, timeout=WAIT_SECONDS)
    try:
        digests.execute(TABLE)
    except BaseException:
        digests.close()
        raise
    return digests


def _identity(about: os.stat_result) -> str:
    """What tells that a file is unchanged, beside its path."""
    seen = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
    return " ".join(map(str, seen))
