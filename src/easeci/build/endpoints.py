"""Named sockets and pipes in a folder: ways to processes outside of a sandbox.

A read-only mount does not close them: a program may connect to a socket or write to a pipe if only
its mode allows that.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path


def find_endpoints(folder: Path, leave_out: Collection[Path] = ()) -> Iterator[Path]:
    """The sockets and pipes in a folder and below it, and folders that may hide some.

    The latter can be entered but not listed. Links are not followed, and nothing is looked for in
    what is left out. The folder may hold millions of files, so none of them is opened or asked for
    more than its kind.
    """
    left_out = {str(path) for path in leave_out}
    waiting = [str(folder)]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    if entry.is_symlink() or entry.path in left_out:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif not entry.is_file(follow_symlinks=False) and _leads_out(entry):
                        yield Path(entry.path)
        except PermissionError:
            if os.access(here, os.X_OK):
                yield Path(here)
        except OSError:  # it is gone meanwhile, or is not a folder
            continue


def _leads_out(entry: os.DirEntry[str]) -> bool:
    mode = entry.stat(follow_symlinks=False).st_mode
    return stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode)
