"""The branches of a repository, and which of them contain a commit.

A *branch* has the name that people use: ``main`` is ``refs/heads/main`` here or the origin's
``refs/remotes/origin/main``. Any other ref, such as a pull request's, has its full name,
``refs/pull/7/head``; so has a branch whose own name begins with ``refs/``, so that it cannot pass
for such a ref.

A *pattern* is such a name, in which ``*`` stands for any text, slashes included. Accounts that may
push choose the names of refs: a pattern with ``*`` takes only names that can be shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from easeci.build.git import ask_git

LOCAL, ORIGIN = "refs/heads/", "refs/remotes/origin/"
REFS, ANY = "refs/", "*"
LONGEST_NAME = 255
"""No pattern with ``*`` takes a branch with a longer name."""


def branch_name(ref: str) -> str:
    """The name of the branch that a ref is."""
    for folder in (LOCAL, ORIGIN):
        name = ref.removeprefix(folder)
        if name != ref:
            return ref if name.startswith(REFS) else name
    return ref


def is_matched(branch: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns takes the branch of this name."""
    return any(_takes(pattern, ref) for pattern in patterns for ref in _full(branch))


def _full(name: str) -> tuple[str, ...]:
    """The full names of refs that a name or a pattern means."""
    return (name,) if name.startswith(REFS) else (LOCAL + name, ORIGIN + name)


def _takes(pattern: str, ref: str) -> bool:
    return any(_fits(full, ref) for full in _full(pattern))


def _fits(pattern: str, ref: str) -> bool:
    """Whether a full pattern takes a ref; in a time that no pattern and no name makes long."""
    first, *middle = pattern.split(ANY)
    if not middle:
        return ref == pattern
    last = middle.pop()
    if not ref.isprintable() or len(branch_name(ref)) > LONGEST_NAME:
        return False
    if len(ref) < len(first) + len(last) or not (ref.startswith(first) and ref.endswith(last)):
        return False
    rest = ref[len(first) : len(ref) - len(last)]
    for part in middle:
        _, found, rest = rest.partition(part) if part else ("", ANY, rest)
        if not found:
            return False
    return True


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
                origin_head = branch_name(leads_to)
                continue  # it is not a branch: it says which one is the default
            tips[ref] = commit
            if line.startswith("*"):
                checked_out = branch_name(ref)
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

    def containing(self, commit: str, patterns: Sequence[str]) -> list[str]:
        """The branches that match and whose tip, here or at the origin, contains the commit.

        In the order of the patterns. Of those that one pattern takes, branches whose tip is the
        commit come first, and then those whose names come first in the alphabet. If a pattern takes
        branches whose tip is the commit, git is not asked which others contain it.
        """
        matching = {pattern: self._matching(pattern) for pattern in patterns}
        unclear = [name for name, tips in matching.items() if tips and commit not in tips.values()]
        containing = self._refs_containing(commit, unclear)
        found: dict[str, None] = {}
        for tips in matching.values():
            exact = [ref for ref, tip in tips.items() if tip == commit]
            refs = exact or containing.intersection(tips)
            found.update(dict.fromkeys(sorted(branch_name(ref) for ref in refs)))
        return list(found)

    def _matching(self, pattern: str) -> dict[str, str]:
        """The refs that a pattern takes, each with its tip."""
        if ANY not in pattern and not pattern.startswith(REFS):
            return {ref: self.tips[ref] for ref in _full(pattern) if ref in self.tips}
        listed = self.tips
        if pattern.startswith(REFS) and not pattern.startswith((LOCAL, ORIGIN)):
            form = "--format=%(objectname) %(refname)"
            lines = _lines(ask_git(self.folder, "for-each-ref", form, _folder(pattern)).output)
            listed = {ref: tip for tip, _, ref in (line.partition(" ") for line in lines)}
        return {ref: tip for ref, tip in listed.items() if _takes(pattern, ref)}

    def _refs_containing(self, commit: str, patterns: Sequence[str]) -> set[str]:
        """At least the refs that match one of the patterns and contain the commit."""
        if not patterns:
            return set()
        folders = {_folder(full): None for pattern in patterns for full in _full(pattern)}
        question = ("--format=%(refname)", f"--contains={commit}", *folders)
        return set(_lines(ask_git(self.folder, "for-each-ref", *question).output))

    def _head(self) -> str | None:
        return self.checked_out or head_branch(self.folder)


def _folder(pattern: str) -> str:
    """What git lists for a full pattern: the ref itself, or the folder that all matches lie in."""
    prefix, star, _ = pattern.partition(ANY)
    return prefix.rpartition("/")[0] if star else pattern


def _lines(output: bytes) -> list[str]:
    """Lines as git ends them: a branch may have other line separators in its name."""
    return [line for line in output.decode("utf-8", "surrogateescape").split("\n") if line]


def head_branch(folder: Path) -> str | None:
    """The branch that is checked out, even if it has no commit yet; None if HEAD is detached."""
    answer = ask_git(folder, "symbolic-ref", "--quiet", "HEAD")
    return branch_name(_lines(answer.output)[0]) if answer.ok else None
