"""A bare repository that others may push to: which parts only the owner may write.

An account that pushes must write objects and refs, and git makes its lock files in the repository's
folder itself. Write access to anything else would let a developer control the owner's git: settings
and hooks name programs, and ``info`` changes what history means. So these are closed to others. The
folders that must stay open are made sticky: others can add files there, but not replace them.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from easeci.errors import UsageError
from easeci.store import head_note

OPEN = (".", "objects", "refs", "logs", "logs/refs")
CLOSED = ("hooks", "info", "objects/info", "easeci", head_note.FOLDER)
FILES = ("config", "HEAD", "description")
OTHERS = stat.S_IWGRP | stat.S_IWOTH


def close_to_others(git_dir: Path) -> None:
    """Let others write what a push needs, and nothing else."""
    for name in (*OPEN, *CLOSED):
        path = git_dir / name
        if not path.is_symlink() and not path.exists():
            path.mkdir(mode=0o755)
            if name in OPEN:  # the owner's git makes it for others, too
                path.chmod(stat.S_IMODE((git_dir / "refs").stat().st_mode))
        about = _ours(path)
        mode = stat.S_IMODE(about.st_mode)
        path.chmod(mode | stat.S_ISVTX if name in OPEN else mode & ~OTHERS)
    for name in FILES:
        path = git_dir / name
        if path.is_symlink() or path.exists():
            path.chmod(stat.S_IMODE(_ours(path).st_mode) & ~OTHERS)
    for path in (git_dir / "hooks").iterdir():
        if not path.is_symlink():
            path.chmod(stat.S_IMODE(_ours(path).st_mode) & ~OTHERS)


def require_closed(git_dir: Path) -> None:
    """Refuse a repository in which others could control the owner's git."""
    for name in (*OPEN, *CLOSED, *FILES):
        path = git_dir / name
        if not path.is_symlink() and not path.exists():
            continue
        mode = _ours(path).st_mode
        if mode & OTHERS and not (name in OPEN and mode & stat.S_ISVTX):
            raise UsageError(
                f"others may change {path}",
                hint="Check whether somebody has, then close it again: `easeci hook install`",
            )


def _ours(path: Path) -> os.stat_result:
    about = path.lstat()
    if about.st_uid != os.geteuid() or stat.S_ISLNK(about.st_mode):
        raise UsageError(
            f"{path} does not belong to this account",
            hint="The repository and its settings must belong to the owner of the testsets.",
        )
    return about
