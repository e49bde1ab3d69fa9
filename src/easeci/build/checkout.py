"""A clean tree of a commit, made without the repository's index, work tree, hooks or filters."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from easeci.build.fetch import MOST_BYTES, MOST_FILES, FetchedCommit, too_large
from easeci.build.git import WORK_SECONDS, GitAnswer, ask_git, git_entries, shown
from easeci.build.room import LEAST_BYTES, require_room, require_writable
from easeci.build.same_model import tree_without
from easeci.errors import BuildError, InfrastructureError
from easeci.files import explained

TREE_TIME = 946_684_800
"""2000-01-01, the time of all files of a checkout. ZIP files can't hold any time before 1980."""
LFS_HEAD = b"version https://git-lfs.github.com/spec/v"
LFS_LARGEST = 1024
"""An LFS pointer is a few lines; the specification limits it to less than this."""
LONGEST_NAME = 255
LONGEST_PATH = 3000
"""In bytes. Linux allows 4096 for a whole path, and the build's own folder comes before it."""
DEEPEST = 100
LONGEST_TARGET = 4095
"""Of a link, in bytes: what Linux allows."""
LINK, SUBMODULE = b"120000", b"160000"
"""Modes of entries in a tree."""
SHOWN = 100
NOT_WRITTEN = "the commit cannot be checked out"
RENAME = "Rename the file, and commit it again."
REPLACE = "Replace the link, and commit it again."


@dataclass(frozen=True)
class ListedTree:
    """What a tree holds, as git lists it: files, links and folders, and the bytes of all files."""

    files: int
    size: int


@dataclass(frozen=True)
class CleanTree:
    """A commit's tree on disk, which no program has touched; the folder is there once it is whole.

    Every build of the commit gets a copy of it, and the commit's archive is made from it.
    """

    commit: str
    folder: Path

    def fill(self, fetched: FetchedCommit, ignore: Sequence[str] = ()) -> None:
        """Check the commit out without ignored paths, unless that is done already."""
        if not self.folder.exists():
            unfinished = self.folder.with_name(f"{self.folder.name}.unfinished")
            checkout(fetched, unfinished, ignore)
            unfinished.rename(self.folder)


def checkout(commit: FetchedCommit, into: Path, ignore: Sequence[str] = ()) -> None:
    """Write the tree of a commit into an empty folder, without the paths that are ignored.

    Only the fetched commit is read. So no setting of the developer or the owner (filters, hooks,
    line endings, ``info/attributes``) has any effect: the files depend on the tree alone, and so do
    their times. ``export-ignore`` has no effect on checkouts, and so none here.
    """
    into.mkdir(parents=True, exist_ok=True)
    tree = tree_without(commit, ignore)
    with tempfile.TemporaryDirectory(prefix="easeci-git-") as private:
        environment = {
            **commit.environment,
            "GIT_WORK_TREE": str(into),
            "GIT_INDEX_FILE": str(Path(private) / "index"),
            "HOME": private,
            "XDG_CONFIG_HOME": private,
        }
        listed = _refuse_tree(environment, into, tree)
        require_room(into, listed.size, listed.files, NOT_WRITTEN)
        command = ("read-tree", "--reset", "-u", tree)
        written = ask_git(into, *command, environment=environment, seconds=WORK_SECONDS)
        if not written.ok:
            _refuse_unwritten(written, listed, into)
    _refuse_pointers(into)
    set_times(into)


def set_times(checkout: Path) -> None:
    """Give all files, links and folders of a checkout the same time: no program can tell when."""
    for parent, folders, files in os.walk(checkout):
        for name in (*folders, *files, "."):
            os.utime(Path(parent, name), (TREE_TIME, TREE_TIME), follow_symlinks=False)


def _refuse_unwritten(written: GitAnswer, listed: ListedTree, into: Path) -> NoReturn:
    """Raise what a checkout stands for that failed. What is not around us is the commit's fault.

    Git's complaint quotes paths of the commit, so nothing is decided by it.
    """
    cause = f"{NOT_WRITTEN}: {shown(written.complaint)}"
    if written.was_killed:
        raise InfrastructureError(cause)
    shutil.rmtree(into, ignore_errors=True)
    with explained(NOT_WRITTEN):
        into.mkdir(exist_ok=True)
    require_room(into, listed.size, listed.files, NOT_WRITTEN)
    require_writable(into, listed.size + listed.files * LEAST_BYTES, NOT_WRITTEN)
    raise BuildError(cause, hint=RENAME)


def _refuse_tree(environment: Mapping[str, str], folder: Path, tree: str) -> ListedTree:
    """Refuse submodules, what no folder can hold, and trees that are huge on disk only."""
    files = size = 0
    question = ("ls-tree", "-r", "-t", "-l", "--full-tree", "-z", tree)
    with git_entries(folder, *question, environment=environment) as entries:
        for entry in entries:
            about, _, path = entry.partition(b"\t")
            mode, _, _, length = about.split()
            if mode == SUBMODULE:
                raise _submodule(path.decode("utf-8", "replace"))
            _refuse_path(path)
            if mode == LINK:
                _refuse_link(path, int(length))
            files += 1
            size += int(length) if length.isdigit() else 0
            if files > MOST_FILES or size > MOST_BYTES:
                raise too_large()
    return ListedTree(files, size)


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
    raise BuildError(f"the commit has {limit}: {_named(path)}", hint=RENAME)


def _refuse_link(path: bytes, length: int) -> None:
    if not 0 < length <= LONGEST_TARGET:
        what = f"a target of more than {LONGEST_TARGET:,} bytes" if length else "no target"
        raise BuildError(f"the commit has a link with {what}: {_named(path)}", hint=REPLACE)


def _named(path: bytes) -> str:
    where = path.decode("utf-8", "replace")
    return repr(where if len(where) <= SHOWN else f"{where[:SHOWN]}…")


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
