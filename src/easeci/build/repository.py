"""A git repository, asked through git itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from easeci.build.git import (
    NO_WORK_TREE,
    NOT_A_REPOSITORY,
    ask_git,
    clean_environment,
    need_git,
    shown,
)
from easeci.errors import UsageError

REGULAR_FILES = ("100644", "100755", "100664")
IN_NO_NAME = re.compile(r"[\x00-\x1f\x7f\ud800-\udc7f]")
"""What no name that git knows has in it: control characters, and what stands for no byte."""


@dataclass(frozen=True)
class Repository:
    """Where a repository lies: its common git folder, and its work tree unless it is bare."""

    git_dir: Path
    top: Path | None

    @staticmethod
    def find(folder: Path) -> Repository:
        """The repository that a folder belongs to."""
        folder = folder.absolute()
        question = ("--path-format=absolute", "--git-common-dir", "--show-toplevel")
        answer = ask_git(folder, "rev-parse", *question)
        if NOT_A_REPOSITORY in answer.complaint:
            raise UsageError(
                f"{folder} is not in a git repository",
                hint="Change to the repository of your model, or make one: git init",
            )
        if not answer.ok and NO_WORK_TREE not in answer.complaint:
            raise UsageError(f"{folder} cannot be used: {shown(answer.complaint)}")
        git_dir, *top = answer.text.splitlines()
        return Repository(Path(git_dir).resolve(), Path(top[0]).resolve() if top else None)

    @property
    def folder(self) -> Path:
        """Where git is run. A linked work tree has a HEAD of its own, so its top comes first."""
        return self.top or self.git_dir

    @property
    def folders(self) -> tuple[Path, ...]:
        """Every folder that holds a part of it: none of them is for a program to see."""
        return (*self.trees, self.git_dir)

    @property
    def trees(self) -> tuple[Path, ...]:
        """Its work trees: this one, and the main one if this one is linked to it."""
        main = self.git_dir.parent if self.git_dir.name == ".git" else None
        return tuple(dict.fromkeys(tree for tree in (self.top, main) if tree is not None))

    def resolve(self, revision: str) -> str:
        """The full id of the commit that a revision names; an annotated tag names its commit."""
        found = self._commits([revision])[0]
        if found is not None:
            return found
        if not ask_git(self.folder, "rev-parse", "--verify", "--quiet", "HEAD").ok and not (
            ask_git(self.folder, "for-each-ref", "--count=1").text
        ):
            raise UsageError(
                "the repository has no commits yet", hint="Commit your model's program first."
            )
        raise UsageError(
            f"there is no commit {_printable(revision)!r}",
            hint="Name a commit, a branch or a tag; a commit from elsewhere must be fetched first.",
        )

    def has(self, commit: str) -> bool:
        """Whether the commit is in the repository."""
        return self._commits([commit])[0] is not None

    def _commits(self, revisions: Sequence[str]) -> list[str | None]:
        """The full ids of the commits that revisions name; None where there is none."""
        if not revisions:
            return []
        asked = [f"{revision}^{{commit}}" for revision in revisions]
        readable = ["" if IN_NO_NAME.search(text) else text for text in asked]  # a line for each
        given = "".join(f"{text}\n" for text in readable).encode("utf-8", "surrogateescape")
        answer = ask_git(self.folder, "cat-file", "--batch-check=%(objectname)", given=given)
        lines = answer.text.split("\n") if answer.ok else [""] * len(asked)
        return [line if re.fullmatch("[0-9a-f]{40,64}", line) else None for line in lines]

    def head_branch(self) -> str | None:
        """The branch that is checked out; None if HEAD is detached."""
        answer = ask_git(self.folder, "symbolic-ref", "--quiet", "--short", "HEAD")
        return answer.text if answer.ok else None

    def default_branch(self) -> str:
        """The branch that others start from: the origin's, or main, master, or the one at HEAD."""
        origin = ask_git(self.folder, "symbolic-ref", "--quiet", "refs/remotes/origin/HEAD")
        if origin.ok:
            return origin.text.removeprefix("refs/remotes/origin/")
        head = self.head_branch()
        if self.top is None and head is not None:
            return head
        for branch in ("main", "master"):
            if self._exists(f"refs/heads/{branch}"):
                return branch
        return head or "main"

    def branches_with(self, commit: str, branches: Sequence[str]) -> list[str]:
        """Those of the branches whose tip, here or at the origin, contains the commit."""
        return [branch for branch in branches if self._contains(branch, commit)]

    def _contains(self, branch: str, commit: str) -> bool:
        refs = (f"refs/heads/{branch}", f"refs/remotes/origin/{branch}")
        question = ("merge-base", "--is-ancestor", commit)
        return any(ask_git(self.folder, *question, ref).ok for ref in refs)

    def _exists(self, ref: str) -> bool:
        return ask_git(self.folder, "show-ref", "--verify", "--quiet", ref).ok

    def first_commit(self) -> str | None:
        """The root of HEAD's first-parent line: what identifies the repository.

        First parents only, so that merging an unrelated history later changes nothing. In a
        shallow clone it is the oldest commit that is there. None if there is no commit yet.
        """
        question = ("--first-parent", "--max-parents=0", "HEAD", "--")
        answer = ask_git(self.folder, "rev-list", *question)
        return answer.text.splitlines()[-1] if answer.ok else None

    def subject(self, commit: str) -> str:
        """The first line of the commit's message, on one line and without control characters."""
        form = ("-1", "--encoding=UTF-8", "--format=%s", commit, "--")
        return _printable(need_git(self.folder, "log", *form).text)

    def is_dirty(self) -> bool:
        """Whether the work tree has anything that is not committed, new files included."""
        if self.top is None:
            return False
        question = ("--porcelain", "--ignore-submodules=dirty")
        return bool(need_git(self.top, "status", *question).output.strip())

    def file_at(self, commit: str, path: str) -> bytes | None:
        """The content of a regular file at a commit; None if there is none of that name."""
        question = ("ls-tree", "--full-tree", "-z", commit, "--", path)
        answer = ask_git(self.folder, "--literal-pathspecs", *question)
        entry = re.fullmatch(rb"(\d+) blob ([0-9a-f]+)\t([^\0]*)\0", answer.output)
        if not answer.ok or entry is None or entry[1].decode() not in REGULAR_FILES:
            return None
        return need_git(self.folder, "cat-file", "blob", entry[2].decode()).output

    def adopt(self, commit: str, quarantine: Path) -> None:
        """Take in a commit that is being pushed, with all that it needs, before any ref has it.

        While a push waits for its pre-receive hook, git keeps what came with it in a folder of its
        own and throws that away if the push is refused. What is being tested must not vanish.
        """
        borrowed = '"' + str(quarantine).replace("\\", "\\\\").replace('"', '\\"') + '"'
        where = {"GIT_DIR": str(self.git_dir), "GIT_COMMON_DIR": str(self.git_dir)}
        environment = clean_environment(**where, GIT_ALTERNATE_OBJECT_DIRECTORIES=borrowed)
        pack = self.git_dir / "objects" / "pack"
        pack.mkdir(exist_ok=True)
        form = ("--revs", "--non-empty", "--quiet", "--delta-base-offset", str(pack / "pack"))
        here = need_git(self.git_dir, "for-each-ref", "--format=^%(objectname)").text
        given = f"{commit}\n{here}\n".encode()
        need_git(self.git_dir, "pack-objects", *form, environment=environment, given=given)

    def hooks_folder(self) -> tuple[Path, bool]:
        """Where git looks for hooks, and whether that is this repository's own choice."""
        # Our own calls switch hooks off, so the last value is ours.
        question = ("--show-scope", "--type=path", "--get-all", "core.hooksPath")
        *told, _ = ask_git(self.folder, "config", *question).text.splitlines()
        if not told:
            return self.git_dir / "hooks", True
        scope, _, path = told[-1].partition("\t")
        return self.folder / path, scope in ("local", "worktree")

    def keep_only(self, name: str, commits: Iterable[str], *, others_too: bool = False) -> None:
        """Hold these commits, as far as they are here, by refs of ours; let go of others.

        No force-push and no gc loses them. To let go can wait until the next command: a git that is
        at work, or was killed, may have locked the refs.
        """
        prefix = f"refs/easeci/{name}/"
        listed = need_git(self.folder, "for-each-ref", "--format=%(objectname)", prefix).text
        held, wanted = set(listed.split()), set(commits)
        new = [commit for commit in self._commits(sorted(wanted - held)) if commit is not None]
        if new:
            given = "".join(f"update {prefix}{commit} {commit}\n" for commit in new)
            need_git(self.folder, "update-ref", "--stdin", given=given.encode())
        if held - wanted and not others_too:
            given = "".join(f"delete {prefix}{commit}\n" for commit in sorted(held - wanted))
            ask_git(self.folder, "update-ref", "--stdin", given=given.encode())


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)
