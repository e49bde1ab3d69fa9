"""Room on a disk: how much a commit may take, and whether a folder can hold what it should.

Git's complaints quote file names, which developers choose. So whether a disk is full is asked of
the disk, and never read out of a complaint.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

from easeci.errors import InfrastructureError
from easeci.files import explained

RESERVE_BYTES = 2**30
"""What commits leave free, so that labels and events can always be stored."""
SMALL_DISK_PART = 4
"""Of a small disk they leave this part of it free: a quarter."""
LEAST_BYTES = 4096
"""What each file, link and folder takes at least: a block."""


def free_room(folder: Path) -> int:
    """How many bytes may still be written to a folder's disk. The reserve does not count."""
    about = os.statvfs(folder)
    reserve = min(RESERVE_BYTES, about.f_blocks * about.f_frsize // SMALL_DISK_PART)
    return max(0, about.f_bavail * about.f_frsize - reserve)


def require_room(folder: Path, size: int, files: int, what: str) -> None:
    """Refuse to begin what the folder's disk has no room for: so many bytes in so many files."""
    with explained(what):
        about = os.statvfs(folder)
        enough = size + files * LEAST_BYTES <= free_room(folder)
    few = about.f_files > 0 and about.f_favail < files  # some file systems do not count files
    if few or not enough:
        raise no_room(what)


def no_room(what: str) -> InfrastructureError:
    """The error that tells of a disk without room."""
    return InfrastructureError(
        f"{what}: the disk is full, or nearly full",
        hint=f"Free some space and try again. Commits leave {RESERVE_BYTES >> 30} GiB free (of a "
        "small disk, a quarter).",
    )


def require_writable(folder: Path, size: int, what: str) -> None:
    """Refuse a folder that cannot hold so many bytes more: it is read-only, full, or has a quota.

    They are taken and given back at once: no number tells of every quota.
    """
    probe = folder / ".easeci-probe"
    with explained(what), ExitStack() as stack:
        flags = os.O_CREAT | os.O_RDWR | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(probe, flags, 0o600)
        stack.callback(probe.unlink)
        stack.callback(os.close, descriptor)
        os.posix_fallocate(descriptor, 0, max(size, LEAST_BYTES))
