"""Git hooks that start a test: on a commit in a working repository, on a push to a bare one.

A hook is a few lines of sh that call the command that installed it. A hook that was there before
is kept as ``<name>.before-easeci`` and runs first; uninstalling puts it back.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from easeci.build.branches import REFS, branch_name, is_matched
from easeci.build.repository import Repository
from easeci.build.sharing import Sharing, find_sharing
from easeci.errors import UsageError
from easeci.files import explained, replace_file
from easeci.service.commits.submit import spending_branches
from easeci.service.project import Project
from easeci.service.pushes.dropbox import DropBox
from easeci.service.pushes.permissions import close_to_others

MARK = "# Written by `easeci hook install`; `easeci hook uninstall` removes it."
KEPT = ".before-easeci"
COMMIT, PUSH, GATE = "post-commit", "post-receive", "pre-receive"
HOOKS = (COMMIT, PUSH, GATE)
NEVER_TESTED = ("refs/tags/", "refs/notes/", "refs/remotes/")

SCRIPT = """\
#!/bin/sh
{mark}
{read}before="$(dirname "$0")/{name}{kept}"
if [ -x "$before" ]; then {feed}"$before" "$@" || exit; fi
if ! [ -x {program} ]; then
  echo "easeci: this account cannot run "{program}": nothing was tested" >&2
  exit {blocked}
fi
{feed}{command}{ending}
"""


@dataclass(frozen=True)
class Installed:
    """What was installed: which hook, where, what it runs first, and who else may push."""

    name: str
    path: Path
    before: Path | None
    sharing: Sharing
    dropbox: Path | None


@dataclass(frozen=True)
class Push:
    """A branch, or a ref such as a pull request's, that a push moves to another commit."""

    branch: str
    commit: str


def install(
    repository: Repository, command: Sequence[str], options: Sequence[str], *, gate: bool = False
) -> Installed:
    """Install the hook that fits the repository; installing it again changes nothing."""
    name = (GATE if gate else PUSH) if repository.top is None else COMMIT
    if gate and name is COMMIT:
        raise UsageError(
            "a gate works only in a bare repository: here the commit exists before the hook runs",
            hint="Install it in the repository that developers push to.",
        )
    sharing = find_sharing(repository.git_dir) if name is not COMMIT else Sharing.NOBODY
    if gate and sharing is not Sharing.NOBODY:
        raise UsageError(
            "a gate needs every push to use the owner's account, but others may write here",
            hint="Let developers push over ssh as the owner's account (with git-shell), or install "
            "the hook without --gate.",
        )
    folder = _folder(repository)
    dropbox = None
    with explained("the hook cannot be installed"):
        if sharing is not Sharing.NOBODY:
            close_to_others(repository.git_dir)
            dropbox = DropBox.of(repository.git_dir)
            dropbox.prepare(sharing)
        folder.mkdir(parents=True, exist_ok=True)
        for other in HOOKS:
            if other != name:
                _remove(folder / other)
        _write(folder / name, _script(name, command, options))
    before = folder / (name + KEPT)
    kept = before if before.exists() else None
    return Installed(name, folder / name, kept, sharing, dropbox.folder if dropbox else None)


def uninstall(repository: Repository) -> list[Path]:
    """Remove our hooks, and put those back that were there before."""
    folder = _folder(repository)
    with explained("the hook cannot be removed"):
        return [folder / name for name in HOOKS if _remove(folder / name)]


def _folder(repository: Repository) -> Path:
    folder, own = repository.hooks_folder()
    if not own:
        raise UsageError(
            f"git is set to use one folder of hooks for all repositories: {folder}",
            hint="Give this repository its own: git config core.hooksPath "
            + shlex.quote(str(repository.git_dir / "hooks")),
        )
    return folder


def _script(name: str, command: Sequence[str], options: Sequence[str]) -> str:
    pushed = name is not COMMIT
    return SCRIPT.format(
        mark=MARK,
        name=name,
        kept=KEPT,
        read="lines=$(cat)\n" if pushed else "",  # both hooks are told the same
        feed="printf '%s\\n' \"$lines\" | " if pushed else "",
        program=shlex.quote(command[0]),
        blocked=1 if name is GATE else 0,
        command=shlex.join([*command, "hook", "run", name, *options]),
        ending="" if name is GATE else " || :",  # only a gate has a say
    )


def _write(path: Path, script: str) -> None:
    before = path.with_name(path.name + KEPT)
    if (path.exists() or path.is_symlink()) and not _is_ours(path):
        if before.exists():
            raise UsageError(
                f"{path} is another hook, and {before.name} exists already",
                hint="Remove one of the two, or merge them into one, and install again.",
            )
        path.rename(before)
    replace_file(path, script.encode(), 0o755)


def _remove(path: Path) -> bool:
    if not _is_ours(path):
        return False
    path.unlink()
    before = path.with_name(path.name + KEPT)
    if before.exists() or before.is_symlink():
        before.rename(path)
    return True


def _is_ours(path: Path) -> bool:
    return path.is_file() and MARK.encode() in path.read_bytes()[:1000]


def pushes(lines: Iterable[str]) -> list[Push]:
    """The branches that a push moves, from what git tells its hooks, without deletions and tags.

    Refs such as ``refs/pull/7/head`` are among them: the script says which of them count. Only the
    tip of each branch is tested, however many commits come with it.
    """
    found = []
    for line in lines:
        # Strip only the end of the line: a branch name may contain odd spaces, and must not be
        # confused with the name without them.
        _, _, rest = line.rstrip("\n").partition(" ")
        new, _, ref = rest.partition(" ")
        if ref and not ref.startswith(NEVER_TESTED) and new.strip("0"):
            found.append(Push(branch_name(ref), new))
    return found


def may_spend(project: Project, branch: str) -> bool:
    """Whether commits of a branch are tested.

    While there is no testset that could tell, every branch is, and no other ref.
    """
    testset = project.state.latest_testset
    if testset is None:
        return not branch.startswith(REFS)
    branches = project.repository.branches()
    return is_matched(branch, spending_branches(branches, testset.script))
