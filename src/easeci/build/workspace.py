"""The private folder of one build: a checkout, the examples, and room to write."""

from __future__ import annotations

import os
import random
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from easeci.errors import InfrastructureError

PREFIX = "easeci-build-"
LOCK = "lock"
NORMAL_TIME = 315_532_800
"""1980-01-01, the time of every example: the real time could tell something about it."""
FICLONE = 0x40049409
"""The kernel's call that lets two files share their blocks until one of them is changed."""
COPIED_AT_ONCE = 1 << 20
BUILD_UIDS = range(64_100, 65_000)
"""No system gives these to accounts."""


@dataclass(frozen=True)
class Workspace:
    """Folders of one build. They belong to the user ``uid``; None is the invoking user."""

    folder: Path
    uid: int | None

    @property
    def checkout(self) -> Path:
        """The commit's files; the program runs in this folder."""
        return self.folder / "checkout"

    @property
    def examples(self) -> Path:
        """The examples to predict."""
        return self.folder / "examples"

    @property
    def output(self) -> Path:
        """Where the program writes its predictions."""
        return self.folder / "output"

    @property
    def home(self) -> Path:
        """An empty home."""
        return self.folder / "home"

    @property
    def tmp(self) -> Path:
        """An empty folder for temporary files."""
        return self.folder / "tmp"

    @property
    def private(self) -> Path:
        """For what the sandbox itself needs; the program never sees it."""
        return self.folder / "private"

    @property
    def writable(self) -> tuple[Path, ...]:
        """The folders that the program may write to."""
        return (self.checkout, self.output, self.home, self.tmp)

    def hand_over(self) -> None:
        """Make the build's user the owner of all that the program may write to; follow no links."""
        if self.uid is None:
            return
        for folder in self.writable:
            os.lchown(folder, self.uid, self.uid)
            for parent, folders, files in os.walk(folder):
                for name in (*folders, *files):
                    os.lchown(Path(parent) / name, self.uid, self.uid)


def free_uid() -> int:
    """A user id that no account and no process has, so that its limits count one build only."""
    import pwd

    candidates = random.sample(BUILD_UIDS, len(BUILD_UIDS))
    for uid in candidates:
        with suppress(KeyError):
            pwd.getpwuid(uid)
            continue
        if not _has_processes(uid):
            return uid
    raise InfrastructureError("no user id is free to build with")


def _has_processes(uid: int) -> bool:
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == uid:
                return True
    return False


@contextmanager
def open_scratch(avoid: Sequence[Path], uid: int | None = None) -> Iterator[Path]:
    """A new private folder outside the folders to avoid, which is removed whatever happens.

    The next command removes what a killed one has left. If ``uid`` is given, other users can pass
    through the folders above it.
    """
    base = _base(uid, [folder.resolve() for folder in avoid])
    _sweep(base)
    folder, lock = _claimed(base)
    try:
        yield folder
    finally:
        _remove(folder)
        os.close(lock)


@contextmanager
def open_workspace(uid: int | None, avoid: Sequence[Path]) -> Iterator[Workspace]:
    """A new workspace outside the folders to avoid, which is removed whatever happens."""
    with open_scratch(avoid, uid) as scratch:
        space = Workspace(scratch, uid)
        for folder in (*space.writable, space.examples, space.private):
            folder.mkdir()
        space.private.chmod(0o700 if uid is None else 0o711)
        if uid is not None:
            # The build's own user, and nobody else, may pass through the folder.
            os.chown(space.folder, 0, uid)
            space.folder.chmod(0o710)
        yield space


def _claimed(base: Path) -> tuple[Path, int]:
    """A new folder and its lock. It gets the name that others sweep only once it is locked."""
    import fcntl

    made = Path(tempfile.mkdtemp(prefix=f".{PREFIX}", dir=base))
    lock = os.open(made / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    folder = made.with_name(made.name.removeprefix("."))
    made.rename(folder)
    return folder, lock


def _base(uid: int | None, avoid: Sequence[Path]) -> Path:
    named = os.environ.get("TMPDIR")
    for base in [Path(name).resolve() for name in (named, "/var/tmp", "/tmp") if name]:  # noqa: S108
        if any(base.is_relative_to(folder) for folder in avoid):
            continue
        if base.is_dir() and os.access(base, os.W_OK) and (uid is None or _open_to_all(base)):
            return base
    raise InfrastructureError(
        "there is no folder to build in",
        hint="Set TMPDIR to a folder outside the repository that every user may pass through.",
    )


def _open_to_all(folder: Path) -> bool:
    return all(step.stat().st_mode & stat.S_IXOTH for step in (folder, *folder.parents))


def _sweep(base: Path) -> None:
    """Remove what killed commands have left. A live one holds its lock."""
    import fcntl

    for folder in base.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder.lstat().st_uid != os.geteuid():
                continue
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(folder)
            finally:
                os.close(lock)


def _remove(folder: Path) -> None:
    """Remove a folder, whatever depth and modes a program has left in it.

    Every folder is first moved to the top, so no path gets long and nothing recurses; ``rm`` takes
    a time that grows with the square of the depth. The lock goes last: what is left of a removal
    that was killed is found and removed by the next build.
    """
    moved, name = 0, f".{os.getpid()}-{random.getrandbits(64):x}"
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        with os.scandir(here) as entries:
            found = [entry for entry in entries if entry.path != str(folder / LOCK)]
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                os.chmod(entry.path, 0o700)  # noqa: PTH101
                moved += 1
                waiting.append(folder / f"{name}-{moved}")
                os.rename(entry.path, waiting[-1])  # noqa: PTH104
            else:
                os.unlink(entry.path)  # noqa: PTH108
        if here != folder:
            here.rmdir()
    (folder / LOCK).unlink(missing_ok=True)
    folder.rmdir()


def copy_examples(examples: Path, into: Path) -> None:
    """Give a build examples of its own: readable by all, and all of one time.

    No file shares its inode with the vault's: its times would tell which examples somebody has
    labelled, and when. The times at which a file was made and last changed cannot be set, so all
    files are made first and get their modes last. Then these times do not tell either how long it
    took to read each of the vault's files, which is shorter for those that were read lately.
    """
    pairs = list(_make_empty(examples, into))
    for source, target in pairs:
        _copy_content(source, target)
    for _, target in pairs:
        target.chmod(0o644)
        os.utime(target, (NORMAL_TIME, NORMAL_TIME))
    for parent, _, _ in os.walk(into, topdown=False):
        Path(parent).chmod(0o755)
        os.utime(parent, (NORMAL_TIME, NORMAL_TIME))


def _make_empty(examples: Path, into: Path) -> Iterator[tuple[Path, Path]]:
    """Make all folders and empty files; gives each file of the vault with its copy to be filled."""
    for parent, folders, files in os.walk(examples):
        folders.sort()
        here = into / Path(parent).relative_to(examples)
        for name in folders:
            (here / name).mkdir()
        for name in sorted(files):
            source, target = Path(parent) / name, here / name
            if not stat.S_ISREG(source.lstat().st_mode):
                raise InfrastructureError(
                    f"the examples hold {name!r}, which is not a regular file"
                )
            target.touch(exist_ok=False)
            yield source, target


def _copy_content(source: Path, target: Path) -> None:
    """Fill a copy. The two share blocks where the file system can do that, but no inode."""
    import fcntl

    # Not opened with "wb": ext4 then writes every file to the disk at once, in case it is replaced.
    with source.open("rb") as original, target.open("r+b") as copy:
        with suppress(OSError):  # it cannot, or the two are on different ones
            fcntl.ioctl(copy, FICLONE, original.fileno())
            return
        shutil.copyfileobj(original, copy, COPIED_AT_ONCE)
