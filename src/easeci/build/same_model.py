"""Which commits are the same model: the same tree without ignored paths, the same mounted files.

A commit that is the same model as an earlier one makes the same predictions, so nothing has to be
tested. Everything that a program can see of its commit is in that tree: its checkout has no
``.git``, and the same tree is checked out with the same times.
"""

from __future__ import annotations

import hashlib
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NoReturn

from easeci.build.fetch import MOST_FILES, FetchedCommit, too_large, write_git_folder
from easeci.build.git import (
    WORK_SECONDS,
    GitAnswer,
    ask_git,
    git_entries,
    shown,
)
from easeci.build.mounted import mounts_digest
from easeci.build.room import require_writable
from easeci.errors import BuildError, InfrastructureError, ScriptError

NOT_READ = "the commit's tree cannot be read"
PATHSPEC = "It takes git pathspecs, seen from the top of the repository, such as docs/** or *.md"
ANY_BLOB = "1" * 40


def model_of(
    commit: FetchedCommit,
    ignore: Sequence[str],
    mounts: Sequence[str],
    memory: Path,
    *,
    hidden: Sequence[Path] = (),
) -> str:
    """The identity of a commit's model: equal for two commits only if programs can't tell them.

    The arguments are those of :func:`tree_without` and of
    :func:`easeci.build.mounted.mounts_digest`.
    """
    parts = f"{tree_without(commit, ignore)} {mounts_digest(mounts, memory, hidden=hidden)}"
    return hashlib.sha256(parts.encode()).hexdigest()


def tree_without(commit: FetchedCommit, ignore: Sequence[str]) -> str:
    """The id of the commit's tree without the paths that the pathspecs match.

    The tree is written into the git folder of the fetched commit. No settings, hooks or attributes
    of any user have an effect on it.
    """
    with _private_index(commit.environment) as index:
        if not ignore:
            return index.need("rev-parse", "--verify", f"{commit.id}^{{tree}}").text
        _refuse_endless(index, commit.id)
        index.need("read-tree", commit.id)
        options = ("--cached", "-r", "-f", "--quiet", "--ignore-unmatch")
        if not index.ask("rm", *options, "--", *ignore).ok:
            _refuse_pathspecs(index, ignore)
        return index.need("write-tree").text


def require_program_kept(program: str, ignore: Sequence[str]) -> None:
    """Refuse pathspecs that are not valid, or that match the script's program.

    A word of the command line counts as a path if it looks like one; so do modules after ``-m``.
    """
    if not ignore:
        return
    with tempfile.TemporaryDirectory(prefix="easeci-git-") as folder:
        write_git_folder(Path(folder), "sha1")
        with _private_index(FetchedCommit("", Path(folder)).environment) as index:
            for path in dict.fromkeys(program_paths(program)):
                index.need("update-index", "--add", "--cacheinfo", f"100644,{ANY_BLOB},{path}")
            matched = index.ask("ls-files", "-z", "--", *ignore)
            if not matched.ok:
                _refuse_pathspecs(index, ignore)
    if matched.output:
        name = matched.output.split(b"\0")[0].decode("utf-8", "replace")
        raise ScriptError(
            f"ignore: matches {name}, which the script's program names",
            hint="What is ignored is left out of the checkout. Name other paths, or keep this one: "
            f"add   ':!{name}'   to the list.",
        )


@dataclass(frozen=True)
class _PrivateIndex:
    """A git index of our own, with an empty work tree."""

    folder: Path
    environment: Mapping[str, str]

    def ask(self, *arguments: str) -> GitAnswer:
        return ask_git(self.folder, *arguments, environment=self.environment, seconds=WORK_SECONDS)

    def need(self, *arguments: str) -> GitAnswer:
        answer = self.ask(*arguments)
        if answer.ok:
            return answer
        cause = f"{NOT_READ}: {shown(answer.complaint)}"
        if answer.was_killed:
            raise InfrastructureError(cause)
        # What is not around us is the commit's fault.
        for folder in (self.folder, Path(self.environment["GIT_DIR"])):
            require_writable(folder, 0, NOT_READ)
        raise BuildError(cause)


@contextmanager
def _private_index(environment: Mapping[str, str]) -> Iterator[_PrivateIndex]:
    with tempfile.TemporaryDirectory(prefix="easeci-git-") as private:
        work_tree = Path(private) / "tree"
        work_tree.mkdir()
        more = {
            "GIT_WORK_TREE": str(work_tree),
            "GIT_INDEX_FILE": str(Path(private) / "index"),
            "HOME": private,
            "XDG_CONFIG_HOME": private,
        }
        yield _PrivateIndex(work_tree, {**environment, **more})


def _refuse_endless(index: _PrivateIndex, commit: str) -> None:
    """Refuse a tree that is too large to be listed: a few objects can stand for billions."""
    question = ("ls-tree", "-r", "-t", "--full-tree", "-z", commit)
    with git_entries(index.folder, *question, environment=index.environment) as entries:
        for number, _ in enumerate(entries):
            if number >= MOST_FILES:
                raise too_large()


def _refuse_pathspecs(index: _PrivateIndex, ignore: Sequence[str]) -> NoReturn:
    """Raise for the first of the pathspecs that git does not take, or for all of them together."""
    for spec in ignore:
        if not index.ask("ls-files", "--", spec).ok:
            raise ScriptError(f"ignore: {spec!r} is not a pathspec of git", hint=PATHSPEC)
    raise ScriptError("ignore: git does not take these pathspecs together", hint=PATHSPEC)


def program_paths(program: str) -> Iterator[str]:
    """The paths that a command line names, as far as it shows them."""
    try:
        words = shlex.split(program)
    except ValueError:
        return
    for before, word in zip(["", *words], words, strict=False):
        if before == "-m":
            module = word.replace(".", "/")
            yield from (f"{module}.py", f"{module}/__main__.py")
            continue
        path = PurePosixPath(word.rpartition("=")[2])
        inside = not path.is_absolute() and ".." not in path.parts
        if inside and path.parts and ("/" in word or path.suffix):
            yield str(path)
