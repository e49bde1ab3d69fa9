"""A git repository; every question about it is answered by git itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from easeci.build.branches import Branches, head_branch
from easeci.build.git import (
    NO_WORK_TREE,
    NOT_A_REPOSITORY,
    ask_git,
    need_git,
    shown,
)
from easeci.build.objects import NEVER_IN_NAMES, CommitFacts, printable, read_objects
from easeci.errors import BuildError, EaseciError, UsageError


class DamagedCommitError(BuildError):
    """A commit whose objects are not what their names say. It is not tested, and not recorded."""

    def __init__(self, commit: str, refused: str | None = None) -> None:
        more = ", or lacks some of them" if refused is None else f" ({refused})"
        super().__init__(
            f"the repository holds forged or damaged objects of commit {commit[:10]}{more}",
            hint="Nothing was tested, and no step was spent. `git fsck --full` names them. When "
            "they are put back from a sound clone, the owner can run the commit.",
        )


@dataclass(frozen=True)
class Repository:
    """Where a repository lies: its common git folder, and its work tree unless it is bare."""

    git_dir: Path
    top: Path | None
    quarantine: Path | None = None
    """Where git keeps what is being pushed until the pre-receive hook has let it in."""

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

    def receiving(self, quarantine: str | None) -> Repository:
        """This repository together with what is being pushed to it, if anything is."""
        return self if quarantine is None else replace(self, quarantine=Path(quarantine).absolute())

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
        with read_objects(self.folder, borrowed=self.quarantine) as objects:
            found = objects.facts(revision, path)
        if found is not None:
            return found
        raise self._unknown(revision)

    def _unknown(self, revision: str) -> EaseciError:
        # git tells the kind of an object without hashing it, but a commit only if it is sound.
        kind = "" if NEVER_IN_NAMES.search(revision) else self._kind(revision)
        if kind == "commit":
            return DamagedCommitError(printable(revision))
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

    def _kind(self, revision: str) -> str:
        question = ("cat-file", "-t", "--end-of-options", revision)
        return ask_git(self.folder, *question).text

    def has(self, commit: str) -> bool:
        """Whether the commit is in the repository."""
        with read_objects(self.folder, borrowed=self.quarantine) as objects:
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

    def origin_folder(self) -> Path | None:
        """The git folder of the repository that this is a clone of, if it is on this machine."""
        from urllib.parse import unquote, urlparse  # not above: most commands ask for no origin

        url = ask_git(self.folder, "config", "--get", "remote.origin.url").text
        path = unquote(urlparse(url).path) if url.startswith("file://") else url
        if not path or "://" in path:
            return None
        folder = self.folder / path
        return next((place for place in (folder, folder / ".git") if _is_git_folder(place)), None)

    def hooks_folder(self) -> tuple[Path, bool]:
        """Where git looks for hooks, and whether that is this repository's own choice."""
        # Our own calls switch hooks off, so the last value is ours.
        question = ("--show-scope", "--type=path", "--get-all", "core.hooksPath")
        *told, _ = ask_git(self.folder, "config", *question).text.splitlines()
        if not told:
            return self.git_dir / "hooks", True
        scope, _, path = told[-1].partition("\t")
        return self.folder / path, scope in ("local", "worktree")


def _is_git_folder(folder: Path) -> bool:
    try:
        return (folder / "HEAD").is_file() and (folder / "objects").is_dir()
    except OSError:  # this account cannot get to it
        return False
