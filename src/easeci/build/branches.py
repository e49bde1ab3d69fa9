"""The branches of a repository, and which of them contain a commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from easeci.build.git import ask_git

LOCAL, ORIGIN = "refs/heads/", "refs/remotes/origin/"


@dataclass(frozen=True)
class Branches:
    """The branches of a repository and of its origin, as they were when they were listed."""

    folder: Path
    is_bare: bool
    tips: Mapping[str, str]
    """From the full name of a ref to its commit."""
    checked_out: str | None
    """The branch at HEAD; None if HEAD is detached, or if that branch has no commit yet."""
    origin_head: str | None
    """The branch that clones of the origin start from."""

    @staticmethod
    def read(folder: Path, *, is_bare: bool) -> Branches:
        """List them; git is asked once."""
        form = "--format=%(HEAD)%(objectname) %(refname) %(symref)"
        # Where git cannot list them, there are none: so no forged push counts for a branch.
        listed = ask_git(folder, "for-each-ref", form, LOCAL, ORIGIN).output
        tips, checked_out, origin_head = {}, None, None
        for line in _lines(listed):
            commit, ref, leads_to = line[1:].split(" ")
            if ref == f"{ORIGIN}HEAD":
                origin_head = leads_to.removeprefix(ORIGIN)
            tips[ref] = commit
            if line.startswith("*"):
                checked_out = ref.removeprefix(LOCAL)
        return Branches(folder, is_bare, tips, checked_out, origin_head)

    def default(self) -> str:
        """The branch that others start from: the origin's, or main, master, or the one at HEAD.

        Others start from a bare repository itself, so there HEAD comes before main.
        """
        if self.origin_head:
            return self.origin_head
        if self.is_bare and (head := self._head()) is not None:
            return head
        for branch in ("main", "master"):
            if LOCAL + branch in self.tips:
                return branch
        return self._head() or "main"

    def containing(self, commit: str, names: Sequence[str]) -> list[str]:
        """Those of the named branches whose tip, here or at the origin, contains the commit."""
        found = {name for name in names if commit in self._tips(name).values()}
        unclear = [ref for name in names if name not in found for ref in self._tips(name)]
        if unclear:
            question = ("--format=%(refname)", f"--contains={commit}", *unclear)
            refs = set(_lines(ask_git(self.folder, "for-each-ref", *question).output))
            found |= {name for name in names if refs.intersection(self._tips(name))}
        return [name for name in names if name in found]

    def _tips(self, name: str) -> dict[str, str]:
        refs = (LOCAL + name, ORIGIN + name)
        return {ref: self.tips[ref] for ref in refs if ref in self.tips}

    def _head(self) -> str | None:
        return self.checked_out or head_branch(self.folder)


def _lines(output: bytes) -> list[str]:
    """Lines as git ends them: a branch may have other line separators in its name."""
    return [line for line in output.decode("utf-8", "surrogateescape").split("\n") if line]


def head_branch(folder: Path) -> str | None:
    """The branch that is checked out, even if it has no commit yet; None if HEAD is detached."""
    answer = ask_git(folder, "symbolic-ref", "--quiet", "--short", "HEAD")
    return answer.text if answer.ok else None
