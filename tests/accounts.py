"""Two real accounts on this machine: the owner of a testset, and a developer who pushes.

Programs run with the user ids of nobody else. Python itself may lie where only root can get to;
each program sees it in a mount namespace of its own, at its usual place.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.commands import COMMAND
from tests.waiting import PATIENCE

GROUP = 64_100
ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Account:
    """A user id with a home, in one group with the other."""

    uid: int
    home: Path

    def start(self, *command: str, folder: Path, **environment: str) -> subprocess.Popen[str]:
        """Start a command as this account."""
        user = f"setpriv --reuid {self.uid} --regid {GROUP} --clear-groups"
        script = f'{_opened(self.home)}exec {user} "$@"'
        return subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-ec", script, "sh", *command],
            cwd=folder,
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(self.home),
                "EASECI_SMTP_URL": f"mbox://{self.home}/letters",
                "LANG": "C.UTF-8",
                "GIT_AUTHOR_NAME": "A",
                "GIT_AUTHOR_EMAIL": "a@example.org",
                "GIT_COMMITTER_NAME": "A",
                "GIT_COMMITTER_EMAIL": "a@example.org",
            }
            | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *command: str, folder: Path, code: int = 0, **environment: str) -> str:
        """Run a command as this account, and return what it printed."""
        process = self.start(*command, folder=folder, **environment)
        said, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == code, said
        return said

    def easeci(self, *arguments: str, folder: Path) -> str:
        """Run easeci as this account."""
        return self.run(COMMAND, *arguments, folder=folder)

    def git(self, *arguments: str, folder: Path, wait: float = 100.0) -> str:
        """Run git as this account; a push waits so long for its signal."""
        return self.run("git", *arguments, folder=folder, EASECI_WAIT=str(wait))


def bound_by_modes(*command: str) -> list[str]:
    """The command for a process that the modes of files hold back, even if root starts it.

    It stays the same user, so it reads Python and this project wherever they lie.
    """
    if os.geteuid() != 0:
        return [*command]
    rights = "-dac_override,-dac_read_search"
    return ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}", *command]


@contextmanager
def two_accounts() -> Iterator[tuple[Path, Account, Account]]:
    """A folder that everybody may pass, an owner and a developer; their homes are private."""
    with tempfile.TemporaryDirectory(prefix="easeci-accounts-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        accounts = []
        for uid, who in ((64_101, "owner"), (64_102, "developer")):
            home = folder / who
            home.mkdir(mode=0o700)
            (home / ".gitconfig").write_text("[safe]\n\tdirectory = *\n")
            for path in (home, home / ".gitconfig"):
                os.chown(path, uid, GROUP)
            accounts.append(Account(uid, home))
        yield folder, accounts[0], accounts[1]


def _opened(home: Path) -> str:
    """Commands that show Python and this project to every user, if they are not for all to see."""
    needed = {Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve(), ROOT.resolve()}
    script, held = "", home.parent
    for closed in sorted({c for path in needed if (c := _closed(path)) is not None}):
        script += f"mount --bind {_quoted(closed)} {_quoted(held / 'owner')}\n"
        script += f"mount -t tmpfs -o mode=755 tmpfs {_quoted(closed)}\n"
        for path in sorted(p for p in needed if p.is_relative_to(closed)):
            source = held / "owner" / path.relative_to(closed)
            script += f"mkdir -p {_quoted(path)}; mount --bind {_quoted(source)} {_quoted(path)}\n"
        script += f"umount {_quoted(held / 'owner')}\n"
    return script


def _closed(path: Path) -> Path | None:
    """The topmost folder on the way that not everybody may pass."""
    for step in (*reversed(path.parents), path):
        if not step.stat().st_mode & 0o001:
            return step
    return None


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
