"""A git repository; every question about it is answered by git itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from easeci.build.branches import Branches, head_branch
from easeci.build.git import (
    NO_WORK_TREE,
    NOT_A_REPOSITORY,
    ask_git,
    clean_environment,
    need_git,
    shown,
)
from easeci.build.objects import printable, read_objects
from easeci.errors import UsageError


@dataclass(frozen=True)
class CommitFacts:
    """What a command needs to know of a commit: its full id, its subject, and one of its files."""

    id: str
    subject: str
    file: bytes | None
    """The content of the file that was asked for; None if the commit has no such regular file."""


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
        """Every folder that holds a part of it. The program of a build may see none of them."""
        return (*self.trees, self.git_dir)

    @property
    def trees(self) -> tuple[Path, ...]:
        """Its work trees: this one, and the main one if this one is linked to it."""
        main = self.git_dir.parent if self.git_dir.name == ".git" else None
        return tuple(dict.fromkeys(tree for tree in (self.top, main) if tree is not None))

    def resolve(self, revision: str) -> str:
        """The full id of the commit that a revision names."""
        return self.read_commit(revision).id

    def read_commit(self, revision: str, path: str | None = None) -> CommitFacts:
        """Read the commit that a revision names, and one of its files if ``path`` is given.

        An annotated tag names its commit.
        """
        with read_objects(self.folder) as objects:
            found = objects.commit(revision)
            if found is not None:
                file = None if path is None else objects.file(found.id, path)
                return CommitFacts(found.id, found.subject, file)
        raise self._unknown(revision)

    def _unknown(self, revision: str) -> UsageError:
        if not ask_git(self.folder, "rev-parse", "--verify", "--quiet", "HEAD").ok and not (
            ask_git(self.folder, "for-each-ref", "--count=1").text
        ):
            return UsageError(
                "the repository has no commits yet", hint="Commit your model's program first."
            )
        return UsageError(
            f"there is no commit {printable(revision)!r}",
            hint="Name a commit, a branch or a tag; a commit from elsewhere must be fetched first.",
        )

    def has(self, commit: str) -> bool:
        """Whether the commit is in the repository."""
        with read_objects(self.folder) as objects:
            return objects.commit(commit) is not None

    def branches(self) -> Branches:
        """The branches, as they are now."""
        return Branches.read(self.folder, is_bare=self.top is None)

    def head_branch(self) -> str | None:
        """The branch that is checked out; None if HEAD is detached."""
        return head_branch(self.folder)

    def first_commit(self) -> str | None:
        """The root of HEAD's first-parent line: what identifies the repository.

        First parents only, so that merging an unrelated history later changes nothing. In a
        shallow clone it is the oldest commit that is there. None if there is no commit yet.
        """
        question = ("--first-parent", "--max-parents=0", "HEAD", "--")
        answer = ask_git(self.folder, "rev-list", *question)
        return answer.text.splitlines()[-1] if answer.ok else None

    def is_dirty(self) -> bool:
        """Whether the work tree has anything that is not committed, new files included."""
        if self.top is None:
            return False
        question = ("--porcelain", "--ignore-submodules=dirty")
        return bool(need_git(self.top, "status", *question).output.strip())

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

    def keep(self, name: str, commits: Iterable[str]) -> None:
        """Keep commits of the repository by refs of ours: no force-push and no gc loses them."""
        given = "".join(f"update {_ref(name, commit)} {commit}\n" for commit in commits)
        need_git(self.folder, "update-ref", "--stdin", given=given.encode())

    def keep_only(self, name: str, commits: Iterable[str], *, others_too: bool = False) -> None:
        """Keep these commits, as far as they are here, and let go of others unless told not to.

        To let go can wait until the next command: a git that is at work, or was killed, may have
        locked the refs.
        """
        listed = need_git(self.folder, "for-each-ref", "--format=%(objectname)", _ref(name)).text
        held, wanted = set(listed.split()), set(commits)
        if missing := sorted(wanted - held):
            with read_objects(self.folder) as objects:
                here = [commit for commit in missing if objects.commit(commit) is not None]
            if here:
                self.keep(name, here)
        if held - wanted and not others_too:
            given = "".join(f"delete {_ref(name, commit)}\n" for commit in sorted(held - wanted))
            ask_git(self.folder, "update-ref", "--stdin", given=given.encode())


def _ref(name: str, commit: str = "") -> str:
    return f"refs/easeci/{name}/{commit}"
