"""A clean tree of a commit, made without the repository's index, work tree, hooks or filters."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from easeci.build.fetch import FetchedCommit
from easeci.build.git import WORK_SECONDS, ask_git, from_outside, git_entries, shown
from easeci.build.sandbox import size_text
from easeci.errors import BuildError, EaseciError, InfrastructureError

MOST_FILES = 500_000
MOST_BYTES = 32 * 2**30
LFS_HEAD = b"version https://git-lfs.github.com/spec/v"
LFS_LARGEST = 1024
"""An LFS pointer is a few lines; the specification limits it to less than this."""
LONGEST_NAME = 255
LONGEST_PATH = 3000
"""In bytes. Linux allows 4096 for a whole path, and the build's own folder comes before it."""
DEEPEST = 100
UNWRITABLE = (
    *("File name too long", "invalid path", "Invalid argument", "unable to create symlink"),
    *("Not a directory", "Is a directory", "File exists", "Invalid or incomplete multibyte"),
)
"""What git says of a path that cannot be written because of the tree that it is in."""
SHOWN = 100
RENAME = "Rename the file, and commit it again."


@dataclass(frozen=True)
class CleanTree:
    """A commit's tree on disk, which no program has touched; the folder is there once it is whole.

    Every build of the commit gets a copy of it, and the commit's archive is made from it.
    """

    commit: str
    folder: Path

    def fill(self, fetched: FetchedCommit) -> None:
        """Check the commit out, unless that is done already."""
        if not self.folder.exists():
            unfinished = self.folder.with_name(f"{self.folder.name}.unfinished")
            checkout(fetched, unfinished)
            unfinished.rename(self.folder)


def checkout(commit: FetchedCommit, into: Path) -> None:
    """Write the tree of a commit into an empty folder.

    Only the fetched commit is read. So no setting of the developer or the owner (filters, hooks,
    line endings, ``info/attributes``) has any effect: the tree depends on the commit alone.
    ``export-ignore`` has no effect on checkouts, and so none here.
    """
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="easeci-git-") as private:
        environment = {
            **commit.environment,
            "GIT_WORK_TREE": str(into),
            "GIT_INDEX_FILE": str(Path(private) / "index"),
            "HOME": private,
            "XDG_CONFIG_HOME": private,
        }
        _refuse_tree(environment, into, commit.id)
        command = ("read-tree", "--reset", "-u", commit.id)
        written = ask_git(into, *command, environment=environment, seconds=WORK_SECONDS)
        if not written.ok:
            raise _not_written(written.complaint)
    _refuse_pointers(into)


def _not_written(complaint: str) -> EaseciError:
    """A tree that no folder can hold is the commit's fault; all else is around us."""
    if not from_outside(complaint) and any(cause in complaint for cause in UNWRITABLE):
        return BuildError(f"the commit cannot be checked out: {shown(complaint)}", hint=RENAME)
    return InfrastructureError(f"the commit cannot be checked out: {shown(complaint)}")


def _refuse_tree(environment: Mapping[str, str], folder: Path, commit: str) -> None:
    """Refuse submodules, paths that no folder can hold, and trees that are huge on disk only."""
    files = size = 0
    question = ("ls-tree", "-r", "-t", "-l", "--full-tree", "-z", commit)
    with git_entries(folder, *question, environment=environment) as entries:
        for entry in entries:
            about, _, path = entry.partition(b"\t")
            mode, _, _, length = about.split()
            if mode == b"160000":
                raise _submodule(path.decode("utf-8", "replace"))
            _refuse_path(path)
            files += 1
            size += int(length) if length.isdigit() else 0
            if files > MOST_FILES or size > MOST_BYTES:
                raise BuildError(
                    f"the commit has more than {MOST_FILES:,} files and folders, or more than "
                    f"{size_text(MOST_BYTES)}",
                    hint="Put large data into a folder and name it with mounts: in the script.",
                )


def _refuse_path(path: bytes) -> None:
    parts = path.split(b"/")
    if max(map(len, parts)) > LONGEST_NAME:
        limit = f"a name of more than {LONGEST_NAME} bytes"
    elif len(path) > LONGEST_PATH:
        limit = f"a path of more than {LONGEST_PATH:,} bytes"
    elif len(parts) > DEEPEST:
        limit = f"a file more than {DEEPEST} folders deep"
    else:
        return
    where = path.decode("utf-8", "replace")
    where = where if len(where) <= SHOWN else f"{where[:SHOWN]}…"
    raise BuildError(f"the commit has {limit}: {where!r}", hint=RENAME)


def _submodule(path: str) -> BuildError:
    return BuildError(
        f"{path!r} is a submodule, and builds have no network to fetch it",
        hint="Commit its files instead (git subtree), or install them as a package and name their "
        "folder with mounts: in the script.",
    )


def _refuse_pointers(folder: Path) -> None:
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent) / name
            if not path.is_symlink() and _is_pointer(path):
                raise BuildError(
                    f"{str(path.relative_to(folder))!r} is kept with Git LFS, so the commit holds "
                    "only a pointer to it",
                    hint="Put large files into a folder and name it with mounts: in the script, "
                    "or commit the file itself (git lfs migrate export).",
                )


def _is_pointer(path: Path) -> bool:
    if path.lstat().st_size >= LFS_LARGEST:
        return False
    content = path.read_bytes()
    return content.startswith(LFS_HEAD) and b"\noid " in content
