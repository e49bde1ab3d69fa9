"""Fetch a commit into a git folder of our own, so that every object has the name of its content.

Accounts that may push to a repository can write files into its store of objects. git does not hash
a blob again when it reads one, so a file under another object's name would be tested as that
object. A fetch sends content without names: the receiving git hashes all of it, checks it as
``git fsck`` does, and refuses the commit if any object that it needs is missing then. Only the
commit and its tree are fetched, without history, so the cost depends on the commit alone.

Everything that a decision rests on (the commit's script, its message, its files) is read from what
was fetched; the repository itself is only asked which commits its names stand for.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from easeci.build.git import (
    BLOCK_BYTES,
    QUIET,
    WORK_SECONDS,
    GitUser,
    ask_git,
    clean_environment,
    shown,
)
from easeci.build.objects import CommitFacts, read_objects
from easeci.build.repository import DamagedCommitError, Repository
from easeci.build.room import free_room, no_room, require_room, require_writable
from easeci.build.sandbox import size_text
from easeci.errors import BuildError, InfrastructureError
from easeci.files import create_folder, explained, make_folder, remove_folder, write_synced

MOST_FILES = 500_000
MOST_BYTES = 32 * 2**30
"""The largest tree that is tested: its files, links and folders, and its bytes."""
MOST_PACK_BYTES = MOST_BYTES + 2**30
"""What such a tree takes at most when it is fetched: names and sums are added to it."""
SHA256_DIGITS = 64
"""The length of an id in a repository with SHA-256; otherwise it is 40, of SHA-1."""
CONFIG = """\
[core]
	repositoryFormatVersion = 1
	bare = true
	fsync = all
[extensions]
	objectFormat = {object_format}
"""
RECEIVING = (
    *("-c", "protocol.version=2"),  # any commit may be asked for by its id
    *("-c", "protocol.file.allow=always"),
    *("-c", "fetch.fsckObjects=true"),
    # Trees of old tools have such modes, and they mean the same.
    *("-c", "fetch.fsck.zeroPaddedFilemode=ignore"),
    *("-c", "fetch.unpackLimit=1"),  # one pack instead of many files
    *("-c", "transfer.unpackLimit=1"),
)
SENDING = (
    # The pack is read once and removed soon: spend little time on making it small. But a few
    # megabytes of objects must not become gigabytes on the way.
    *("-c", "pack.window=0"),
    *("-c", "pack.compression=1"),
)
DAMAGED = (
    # Said by the receiving git: content that does not hash to its name.
    *("did not receive expected object", "did not send all necessary objects"),
    # Said by the sending git.
    *("hash mismatch", "is corrupt", "is empty", "inflate: ", "not our ref", "unable to read"),
    *("bad tree object", "bad object", "missing blob", "Could not read", "unable to parse"),
    *("packed object", "packfile", "pack has bad object", "possible repository corruption"),
    "died of signal",  # such as for folders that are too deep for it
)
PARTIAL = ("promisor remote", "lazy fetching disabled")


@dataclass(frozen=True)
class FetchedCommit:
    """A commit with its tree, in a git folder that no other account can write to."""

    id: str
    git_dir: Path

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment in which git reads this folder, without any user's settings."""
        return clean_environment(
            GIT_DIR=str(self.git_dir),
            GIT_CONFIG_GLOBAL="/dev/null",
            GIT_CONFIG_NOSYSTEM="1",
            GIT_ATTR_NOSYSTEM="1",
        )

    def read(self, path: str | None = None) -> CommitFacts:
        """The commit's subject, and one of its files if ``path`` is given."""
        with read_objects(self.git_dir, environment=self.environment) as objects:
            found = objects.facts(self.id, path)
        if found is None:
            raise InfrastructureError(
                f"the fetched commit {self.id[:10]} is damaged",
                hint=f"Remove {self.git_dir}; it is fetched again.",
            )
        return found


@dataclass(frozen=True)
class FetchedCommits:
    """Fetched commits, each in a git folder of its own: ``<folder>/<commit>.git``.

    A folder is there once the commit is whole. So there is nothing to repair after a killed
    command, and to let go of a commit is to remove a folder.
    """

    folder: Path

    def get(self, commit: str) -> FetchedCommit | None:
        """A commit that was fetched before; None if it is not held."""
        git_dir = self.folder / f"{commit}.git"
        return FetchedCommit(commit, git_dir) if git_dir.is_dir() else None

    def fetch(self, source: Repository | str, commit: str) -> FetchedCommit:
        """The commit, given by its full id: as it is held, or fetched from the source.

        The source is a repository on this machine, or the URL of another.
        """
        held = self.get(commit)
        if held is not None:
            return held
        git_dir = self.folder / f"{commit}.git"
        with explained(_not_fetched(commit)):
            make_folder(self.folder)
            create_folder(git_dir, lambda folder: _fetch(source, commit, folder))
        return FetchedCommit(commit, git_dir)

    def keep_only(self, commits: Collection[str]) -> None:
        """Let go of all others, and of what killed fetches left. The caller acts alone here."""
        kept = {f"{commit}.git" for commit in commits}
        with explained(f"{self.folder} cannot be swept"):
            for path in self.folder.iterdir() if self.folder.is_dir() else ():
                if path.name not in kept:
                    remove_folder(path)


def _fetch(source: Repository | str, commit: str, git_dir: Path) -> None:
    """Fill a new git folder with a commit and its tree."""
    write_git_folder(git_dir, "sha256" if len(commit) == SHA256_DIGITS else "sha1")
    options = ["--quiet", "--depth=1", "--no-tags", "--no-auto-gc", "--no-write-fetch-head"]
    if isinstance(source, Repository):
        options.append(f"--upload-pack={_upload_pack(source)}")
        url = source.git_dir.as_uri()
    else:
        url = source
    # The settings of this account hold here: which repositories of others it trusts is one.
    environment = clean_environment(GIT_DIR=str(git_dir))
    command = (*RECEIVING, "fetch", *options, "--end-of-options", url, commit)
    # Half of the room: the index of a pack of very small objects is as large as the pack.
    most = min(MOST_PACK_BYTES, free_room(git_dir) // 2) // BLOCK_BYTES * BLOCK_BYTES
    if not most:
        raise no_room(_not_fetched(commit))
    answer = ask_git(
        git_dir, *command, environment=environment, seconds=WORK_SECONDS, file_bytes=most
    )
    if answer.was_killed:
        raise DamagedCommitError(commit, "git took too long")
    if not answer.ok:
        _refuse_size(git_dir, commit, most)
        _refuse_failure(source, answer.complaint, commit, git_dir)


def too_large() -> BuildError:
    """The error that tells of a commit larger than any that is tested."""
    return BuildError(
        f"the commit has more than {MOST_FILES:,} files and folders, or more than "
        f"{size_text(MOST_BYTES)}",
        hint="Put large data into a folder and name it with mounts: in the script.",
    )


def _not_fetched(commit: str) -> str:
    return f"commit {commit[:10]} cannot be fetched"


def _refuse_size(git_dir: Path, commit: str, most: int) -> None:
    """Refuse a commit of which a file has grown as far as it may: that ended the fetch."""
    if all(path.lstat().st_size < most for path in git_dir.rglob("*")):
        return
    raise too_large() if most == MOST_PACK_BYTES else no_room(_not_fetched(commit))


def write_git_folder(folder: Path, object_format: str) -> None:
    """What ``git init`` would make, without starting it: enough for git to hold objects."""
    for name in ("refs", "objects"):
        (folder / name).mkdir()
    write_synced(folder / "HEAD", b"ref: refs/heads/none\n", 0o600)
    config = CONFIG.format(object_format=object_format).encode()
    write_synced(folder / "config", config, 0o600)


def _upload_pack(source: Repository) -> str:
    """The command line of the git that sends: in the source, as all our git commands run there.

    The fetching git clears variables such as GIT_DIR for it, so they are set again. What other
    accounts have put into the folder of a bare repository must not lead it elsewhere.
    """
    user = GitUser.of(source.git_dir, source.quarantine)
    settings = {"GIT_NO_LAZY_FETCH": "1", "GIT_PROTOCOL": "version=2", **user.environment}
    if user.uid is None:  # the rest is inherited: command lines are there for all to read
        ours = {name: text for name, text in settings.items() if name.startswith("GIT_")}
        words = ["env", *(f"{name}={text}" for name, text in ours.items())]
    else:
        words = ["setpriv", "--reuid", str(user.uid), "--regid", str(user.gid), "--clear-groups"]
        words += ["env", "-i", *(f"{name}={text}" for name, text in settings.items())]
    # Whether git trusts the repository was seen when it was found.
    words += ["git", *QUIET, *SENDING, "-c", f"safe.directory={source.git_dir}"]
    # Strict: a folder .git inside the repository is not taken for the repository.
    return shlex.join([*words, "upload-pack", "--strict"])


def _refuse_failure(source: Repository | str, said: str, commit: str, git_dir: Path) -> NoReturn:
    """Raise the error that a failed fetch stands for.

    Accounts that may push can choose some of what both gits say, such as the names of packs. They
    can make it look like damage, which refuses their own commit, but not like a broken machine.
    """
    refused = re.search(r"^error: object [0-9a-f]+: (\w+: .*)", said, re.MULTILINE)
    if refused is not None and "fsck error" in said:
        raise DamagedCommitError(commit, shown(refused[1]))
    if any(sign in said for sign in PARTIAL) and _is_partial(source):
        raise InfrastructureError(
            "the repository does not hold all files of the commit",
            hint="It is a partial clone: fetch everything with git fetch --refetch --no-filter",
        )
    require_room(git_dir, 0, 1, _not_fetched(commit))
    require_writable(git_dir, 0, _not_fetched(commit))
    if any(sign in said for sign in DAMAGED):
        raise DamagedCommitError(commit)
    raise InfrastructureError(f"{_not_fetched(commit)}: {shown(said)}")


def _is_partial(source: Repository | str) -> bool:
    """Whether the settings of the source, which its owner alone can write, say so."""
    if isinstance(source, str):
        return True
    names = r"^(extensions\.partialclone|remote\..*\.promisor)$"
    return ask_git(source.git_dir, "config", "--get-regexp", names).ok
