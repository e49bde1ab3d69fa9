"""Builds by the account that runs the tests, and by an ordinary one where that is root."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

import easeci
from easeci.build.sandbox import Limits
from tests.sandbox.building import SYSTEM_PYTHON, commit_files, git

USER = 65_100 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
"""One for each process of the tests: the kernel counts the processes of a user together."""
ACCOUNTS = ("root", "ordinary") if os.geteuid() == 0 else ("ordinary",)
DRIVER = """
import json, sys, time
from pathlib import Path
from easeci.build.bubblewrap import Bubblewrap
from easeci.build.landlock import Landlock, Unsandboxed
from easeci.build.fetch import FetchedCommits
from easeci.build.program import Program, make_predictions
from easeci.build.repository import Repository
from easeci.build.sandbox import Limits
from easeci.errors import BuildError
root, kind, limits = Path(sys.argv[1]), sys.argv[2], Limits(**json.loads(sys.argv[3]))
repository = Repository.find(root / "repository")
sandbox = {"bubblewrap": Bubblewrap(), "landlock": Landlock(), "none": Unsandboxed()}[kind]
start = time.monotonic()
said = ""
try:
    make_predictions(
        FetchedCommits(root / "vault" / "commits").fetch(repository, repository.resolve("HEAD")),
        Program(sys.executable + " program.py", limits, (str(root / "mounted"),)),
        root / "vault" / "examples", root / "into", (sandbox,),
        repository=repository, hidden=(root / "vault",),
    )
except BuildError as error:
    said = error.message
print(json.dumps({"said": said, "seconds": time.monotonic() - start}))
"""


@dataclass(frozen=True)
class Tried:
    """What a build said (nothing if it went well), how long it took, and what was printed."""

    said: str
    seconds: float
    log: str


@dataclass(frozen=True)
class AccountSite:
    """A repository, a vault and a copy of the library, all of which one account owns."""

    root: Path
    user: int | None

    def commit(self, program: str) -> None:
        """Make this the program of the repository's last commit."""
        self._give_to(None if self.user is None else os.geteuid())  # git asks whose it is
        commit_files(self.root / "repository", program__py=program)
        self._give_to(self.user)

    def _give_to(self, user: int | None) -> None:
        if user is not None:
            for path in (self.root, *self.root.rglob("*")):
                os.lchown(path, user, user)

    def drive(self, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a Python script as the account, with the copy of the library; it must end well."""
        done = subprocess.run(
            [SYSTEM_PYTHON, "-c", script, str(self.root), *arguments],
            env={
                "PATH": "/usr/bin:/bin",
                "PYTHONPATH": str(self.root / "library"),
                "TMPDIR": str(self.root / "tmp"),
            },
            user=self.user,
            group=self.user,
            extra_groups=None if self.user is None else [],
            cwd="/",
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done

    def build(self, kind: str, program: str, limits: Limits) -> Tried:
        """Commit a program and build it in a sandbox of this kind; nothing is left on disk."""
        self.commit(program)
        done = self.drive(DRIVER, kind, json.dumps(asdict(limits)))
        assert list((self.root / "tmp").iterdir()) == []
        log = (self.root / "into" / "build.log").read_text("utf-8", "replace")
        return Tried(**json.loads(done.stdout), log=log)


@contextmanager
def account_site(account: str) -> Iterator[AccountSite]:
    """A site of ``root`` or of an ``ordinary`` account."""
    if os.geteuid() == 0 and sys.executable == SYSTEM_PYTHON:
        pytest.fail("no Python here that other users may run: install one, such as python3")
    with tempfile.TemporaryDirectory(prefix="easeci-site-") as name:
        root = Path(name)
        root.chmod(0o755)
        for part in ("repository", "vault/examples", "into", "tmp", "mounted", "library/easeci"):
            (root / part).mkdir(parents=True)
        (root / "vault" / "examples" / "examples.csv").write_text("id\n1\n")
        (root / "vault" / "labels.csv").write_text("SECRET")
        (root / "vault").chmod(0o700)
        (root / "private").write_text("secret")
        (root / "mounted" / "weights").write_text("weights")
        git(root / "repository", "init", "--quiet")
        source = Path(easeci.__file__).parent
        shutil.copytree(source / "build", root / "library" / "easeci" / "build")
        for file in ("__init__.py", "errors.py", "files.py"):
            shutil.copy(source / file, root / "library" / "easeci")
        changes = os.geteuid() == 0 and account == "ordinary"
        yield AccountSite(root, USER if changes else None)
