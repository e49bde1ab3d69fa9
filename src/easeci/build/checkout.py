"""A clean tree of a commit, made without the repository's index, work tree, hooks or filters."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from easeci.build.git import GitAnswer, ask_git, clean_environment, git_entries, shown
from easeci.build.repository import Repository
from easeci.build.sandbox import size_text
from easeci.errors import BuildError, InfrastructureError

MOST_FILES = 500_000
MOST_BYTES = 32 * 2**30
LFS_HEAD = b"version https://git-lfs.github.com/spec/v"
LFS_LARGEST = 1024
"""An LFS pointer is a few lines; the specification limits it to less than this."""
SHA256_DIGITS = 64
"""The length of an id in a repository with SHA-256; otherwise it is 40, of SHA-1."""


@dataclass(frozen=True)
class CleanTree:
    """A commit's tree on disk, which no program has touched; the folder is there once it is whole.

    Every build of the commit gets a copy of it, and the commit's archive is made from it.
    """

    commit: str
    folder: Path

    def fill(self, repository: Repository) -> None:
        """Check the commit out, unless that is done already."""
        if not self.folder.exists():
            unfinished = self.folder.with_name(f"{self.folder.name}.unfinished")
            checkout(repository, self.commit, unfinished)
            unfinished.rename(self.folder)


def checkout(repository: Repository, commit: str, into: Path) -> None:
    """Write the tree of a commit, given by its full id, into an empty folder.

    A git folder of our own borrows the repository's objects. So no setting of the developer or the
    owner (filters, hooks, line endings, ``info/attributes``) has any effect: the tree depends on
    the commit alone. ``export-ignore`` has no effect on checkouts, and so none here.
    """
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="easeci-git-") as private:
        git_dir = Path(private) / "git"
        _write_git_folder(git_dir, "sha256" if len(commit) == SHA256_DIGITS else "sha1")
        environment = clean_environment(
            GIT_DIR=str(git_dir),
            GIT_OBJECT_DIRECTORY=str(repository.git_dir / "objects"),
            GIT_WORK_TREE=str(into),
            GIT_CONFIG_GLOBAL="/dev/null",
            GIT_CONFIG_NOSYSTEM="1",
            GIT_ATTR_NOSYSTEM="1",
            HOME=private,
            XDG_CONFIG_HOME=private,
        )
        _refuse_tree(environment, into, commit)
        written = ask_git(into, "read-tree", "--reset", "-u", commit, environment=environment)
        _require_complete(written)
    _refuse_pointers(into)


def _write_git_folder(folder: Path, object_format: str) -> None:
    """What ``git init`` would make, without starting it: enough for git to read objects."""
    (folder / "refs").mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/none\n", "utf-8")
    extension = f"[extensions]\n\tobjectFormat = {object_format}\n"
    config = "[core]\n\trepositoryFormatVersion = 1\n\tbare = false\n" + extension
    (folder / "config").write_text(config, "utf-8")


def _require_complete(answer: GitAnswer) -> None:
    if answer.ok:
        return
    missing = ("unable to read sha1", "missing blob", "failed to unpack tree", "bad object")
    if any(sign in answer.complaint for sign in missing):
        raise InfrastructureError(
            "the repository does not hold all files of the commit",
            hint="It may be a partial clone: fetch everything with git fetch --refetch --no-filter",
        )
    raise InfrastructureError(f"the commit cannot be checked out: {shown(answer.complaint)}")


def _refuse_tree(environment: Mapping[str, str], folder: Path, commit: str) -> None:
    """Refuse submodules, and trees that are small in git but huge on disk."""
    files = size = 0
    question = ("ls-tree", "-r", "-l", "--full-tree", "-z", commit)
    with git_entries(folder, *question, environment=environment) as entries:
        for entry in entries:
            about, _, path = entry.partition(b"\t")
            mode, _, _, length = about.split()
            if mode == b"160000":
                raise _submodule(path.decode("utf-8", "replace"))
            files += 1
            size += int(length) if length.isdigit() else 0
            if files > MOST_FILES or size > MOST_BYTES:
                raise BuildError(
                    f"the commit has more than {MOST_FILES:,} files or {size_text(MOST_BYTES)}",
                    hint="Put large data into a folder and name it with mounts: in the script.",
                )


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
