"""Which accounts of this machine may push to a repository."""

from __future__ import annotations

import stat
from enum import Enum
from pathlib import Path


class Sharing(Enum):
    """Who may push besides the owner: nobody, the group, everybody with an account."""

    NOBODY = 0
    GROUP = 0o070
    ALL = 0o077


def find_sharing(git_dir: Path) -> Sharing:
    """Who may push, by the modes of the repository's folders."""
    mode = (git_dir / "objects").stat().st_mode
    if mode & stat.S_IWOTH:
        return Sharing.ALL
    return Sharing.GROUP if mode & stat.S_IWGRP else Sharing.NOBODY
