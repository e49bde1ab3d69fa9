"""Run the real git in a clean environment; its errors become ours."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from easeci.errors import InfrastructureError, UsageError

QUIET = (
    # No program that a repository's settings name may run: hooks, monitors, signature checks.
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.sshCommand=false"),
    *("-c", "log.showSignature=false"),
    *("-c", "gc.auto=0"),
    "--no-pager",
)
NOT_A_REPOSITORY = "not a git repository"
NO_WORK_TREE = "must be run in a work tree"
QUESTION_SECONDS = 600.0
"""How long a question to a repository may take."""
WORK_SECONDS = 3600.0
"""How long it may take to fetch a commit or to write its files."""
LONGEST_COMPLAINT = 200
LIMITED = ("/bin/sh", "-c", 'ulimit -f "$0" 2>/dev/null; exec "$@"')
"""Starts a program whose files can grow to so many blocks. A lower limit that holds stays."""
BLOCK_BYTES = 512
"""The unit of that limit."""


@dataclass(frozen=True)
class GitAnswer:
    """What git said: its exit code and both of its outputs."""

    code: int
    output: bytes
    complaint: str

    @property
    def ok(self) -> bool:
        """Whether git succeeded."""
        return self.code == 0

    @property
    def was_killed(self) -> bool:
        """Whether git was ended from outside: it took too long, or memory ran out."""
        return self.code == -signal.SIGKILL

    @property
    def text(self) -> str:
        """What git printed, as text without blank space around it."""
        return self.output.decode("utf-8", "replace").strip()


def clean_environment(**more: str) -> dict[str, str]:
    """The environment without ``GIT_*``: a hook that calls us must not redirect us.

    Replacement objects are off, because they would let a commit mean another tree than its id says.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    fixed = {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "LC_ALL": "C",
    }
    return {**kept, **fixed, **more}


@dataclass(frozen=True)
class GitUser:
    """As whom git runs in a repository, and with which environment. None is the invoking user."""

    uid: int | None
    gid: int | None
    environment: Mapping[str, str]

    @staticmethod
    def of(folder: Path, borrowed: Path | None = None) -> GitUser:
        """For a folder of a repository: its owner, if we are root and the folder is not root's.

        ``borrowed`` is another folder of objects that git is to find, too.
        """
        more = pinned(folder)
        if borrowed is not None:
            quoted = str(borrowed).replace("\\", "\\\\").replace('"', '\\"')
            more["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = f'"{quoted}"'
        settings = clean_environment(**more)
        # As root we don't trust what another user's repository tells git to do, nor does git.
        other = _other_owner(folder)
        if other is None:
            return GitUser(None, None, settings)
        kept = {name: settings[name] for name in settings if name.startswith(("GIT_", "LC_"))}
        path = os.environ.get("PATH", os.defpath)
        settings = {**kept, "GIT_CONFIG_GLOBAL": "/dev/null", "PATH": path}
        return GitUser(other.st_uid, other.st_gid, settings)


def start_git(
    folder: Path,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    borrowed: Path | None = None,
    file_bytes: int | None = None,
    stdin: int = subprocess.DEVNULL,
    stderr: int = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Start git in a folder, as its :class:`GitUser` unless an environment is given.

    No file that it writes grows beyond ``file_bytes``.
    """
    user = GitUser(None, None, environment) if environment else GitUser.of(folder, borrowed)
    limit = () if file_bytes is None else (*LIMITED, str(file_bytes // BLOCK_BYTES))
    try:
        return subprocess.Popen(  # noqa: S603 - no text of others is read by a shell
            [*limit, "git", *QUIET, *arguments],  # the one on the PATH
            cwd=folder,
            env=user.environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            user=user.uid,
            group=user.gid,
            extra_groups=None if user.uid is None else [],
            process_group=0,  # so that it can be ended together with what it has started
        )
    except FileNotFoundError:
        if not folder.is_dir():
            raise UsageError(f"there is no folder {folder}") from None
        raise InfrastructureError("git is not installed", hint="Install git.") from None
    except OSError as error:
        raise InfrastructureError(f"git could not be run: {error.strerror}") from None


@contextmanager
def ending(
    process: subprocess.Popen[bytes], seconds: float | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """End the process and close its pipes, whatever happens meanwhile, and after some time anyway.

    Accounts that may push can put a pipe in place of an object: git waits for its writer for ever.
    """
    limit = threading.Timer(seconds or QUESTION_SECONDS, _kill, (process,))
    limit.daemon = True
    limit.start()
    with process:  # closes the pipes and waits
        try:
            yield process
        finally:
            limit.cancel()
            _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def ask_git(
    folder: Path,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    seconds: float | None = None,
    file_bytes: int | None = None,
) -> GitAnswer:
    """Run git to its end and return what it said, whether or not it succeeded."""
    started = start_git(
        folder,
        *arguments,
        environment=environment,
        file_bytes=file_bytes,
        stderr=subprocess.PIPE,
    )
    with ending(started, seconds) as process:
        output, complaint = process.communicate()
    answer = GitAnswer(process.returncode, output, complaint.decode("utf-8", "replace").strip())
    _refuse_dubious(folder, answer)
    return answer


def need_git(folder: Path, *arguments: str) -> GitAnswer:
    """Run git where a failure can only mean that something around us is broken."""
    answer = ask_git(folder, *arguments)
    if not answer.ok:
        raise InfrastructureError(f"git {arguments[0]} failed: {shown(answer.complaint)}")
    return answer


@contextmanager
def git_entries(
    folder: Path, *arguments: str, environment: Mapping[str, str]
) -> Iterator[Iterator[bytes]]:
    """What git prints, piece by piece between NULs; for answers that may have no end."""
    started = start_git(folder, *arguments, environment=environment)
    with ending(started, WORK_SECONDS) as process:
        assert process.stdout is not None
        yield _pieces(process.stdout)


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while block := stream.read(1 << 16):
        *pieces, rest = (rest + block).split(b"\0")
        yield from pieces


def shown(complaint: str) -> str:
    """The first line of what git complained about, fit for a message."""
    first = complaint.splitlines()[0] if complaint else "it gave no reason"
    first = first.removeprefix("fatal: ").removeprefix("error: ")
    plain = "".join(letter if letter.isprintable() else " " for letter in first)
    return plain if len(plain) <= LONGEST_COMPLAINT else f"{plain[:LONGEST_COMPLAINT]}…"


def _refuse_dubious(folder: Path, answer: GitAnswer) -> None:
    if "dubious ownership" in answer.complaint:
        raise UsageError(
            f"{folder} belongs to another user, and git does not trust it",
            hint=f"If you do: git config --global --add safe.directory {folder}",
        )


def pinned(folder: Path) -> dict[str, str]:
    """Variables that keep git in a bare repository of ours, whatever others put into its folder.

    Accounts that may push can make files there. A ``.git`` or a ``commondir`` would lead git to a
    repository of theirs, and to the programs that its settings name.
    """
    if not hasattr(os, "geteuid"):  # Windows
        return {}
    parts = (folder / "HEAD", folder / "objects", folder / "refs")
    try:
        ours = folder.stat().st_uid == os.geteuid()
        if folder.name == ".git" or not ours or not all(part.exists() for part in parts):
            return {}
    except OSError:
        return {}
    where = str(folder.absolute())
    return {"GIT_DIR": where, "GIT_COMMON_DIR": where, "GIT_IMPLICIT_WORK_TREE": "0"}


def _other_owner(folder: Path) -> os.stat_result | None:
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    about = _repository_stat(folder)
    return about if about.st_uid != 0 else None


def _repository_stat(folder: Path) -> os.stat_result:
    """Of the nearest ``.git``, or of the folder itself (a bare repository)."""
    try:
        for parent in (folder, *folder.parents):
            if (parent / ".git").exists():
                return (parent / ".git").stat()
        return folder.stat()
    except OSError as error:
        raise UsageError(f"{folder} cannot be used: {error.strerror}") from None
