"""Real repositories, real programs and real sandboxes to try builds with."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from easeci.build.bubblewrap import Bubblewrap
from easeci.build.detection import why_not
from easeci.build.fetch import FetchedCommit, FetchedCommits
from easeci.build.landlock import Landlock, Unsandboxed
from easeci.build.program import (
    ArchiveSource,
    BuiltPredictions,
    Program,
    make_predictions,
)
from easeci.build.repository import Repository
from easeci.build.sandbox import Limits, Sandbox

SYSTEM_PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
"""One that every user of the machine can reach."""
QUICK = Limits(seconds=100, memory_bytes=2**30, processes=64, output_bytes=2**24, log_bytes=10_000)
IDENTITY = {
    "GIT_AUTHOR_NAME": "A. Developer",
    "GIT_AUTHOR_EMAIL": "developer@example.org",
    "GIT_COMMITTER_NAME": "A. Developer",
    "GIT_COMMITTER_EMAIL": "developer@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}
GOOD = """
import os
with open(os.environ["EASECI_PREDICTIONS"], "w") as file:
    file.write("id,prediction\\n1,cat\\n")
"""


def git(folder: Path, *arguments: str, **environment: str) -> str:
    """Run git as a developer would."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**os.environ, **IDENTITY, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def new_repository(folder: Path) -> Path:
    """An empty repository."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return folder


def commit_files(folder: Path, message: str = "A model", **files: str | bytes) -> str:
    """Commit files; in a name, two underscores stand for a dot."""
    for name, content in files.items():
        path = folder / name.replace("__", ".")
        data = textwrap.dedent(content).lstrip().encode() if isinstance(content, str) else content
        path.write_bytes(data)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def fetched(repository: Repository, commit: str) -> FetchedCommit:
    """The commit as builds see it: fetched, into a folder beside the repository."""
    return FetchedCommits(repository.folder.parent / "fetched").fetch(repository, commit)


def usable(sandbox: Sandbox) -> Sandbox:
    """The sandbox; a test that needs it fails if it could be installed, and says how."""
    problem = None if isinstance(sandbox, Unsandboxed) else why_not(sandbox)
    if problem is None:
        return sandbox
    if isinstance(sandbox, Landlock):
        pytest.skip(f"this kernel cannot do it: {problem}")
    pytest.fail(f"bubblewrap does not work here ({problem}): run `make setup`, or install it")


@dataclass(frozen=True)
class Site:
    """A repository, a vault beside it, and a place for what a build gives."""

    root: Path

    @property
    def repository(self) -> Path:
        """The repository that is built."""
        return self.root / "repository"

    @property
    def vault(self) -> Path:
        """A folder with examples and labels, closed to programs."""
        return self.root / "vault"

    @property
    def into(self) -> Path:
        """Where predictions and the log go."""
        return self.root / "into"

    @property
    def log(self) -> str:
        """What the program printed."""
        return (self.into / "build.log").read_text("utf-8", "replace")

    @staticmethod
    def make(root: Path) -> Site:
        """All folders, and an empty repository."""
        site = Site(root)
        new_repository(site.repository)
        (site.vault / "examples").mkdir(parents=True)
        (site.vault / "examples" / "examples.csv").write_text("id,text\n1,meow\n")
        (site.vault / "labels.csv").write_text("id,label\n1,SECRET\n")
        site.vault.chmod(0o700)
        return site

    def build(
        self,
        *sandboxes: Sandbox,
        command: str = f"{SYSTEM_PYTHON} program.py",
        limits: Limits = QUICK,
        mounts: tuple[str, ...] = (),
        archive: Path | None = None,
        hidden: tuple[Path, ...] = (),
        **files: str | bytes,
    ) -> BuiltPredictions:
        """Commit the files, then build that commit."""
        commit = commit_files(self.repository, "A model", **files)
        repository = Repository.find(self.repository)
        return make_predictions(
            fetched(repository, commit) if archive is None else ArchiveSource(archive),
            Program(command, limits, mounts),
            self.vault / "examples",
            self.into,
            sandboxes,
            repository=repository,
            hidden=(self.vault, *hidden),
        )


KINDS = (Bubblewrap(), Landlock())
MOSTLY_THE_BEST = (KINDS[0], pytest.param(KINDS[1], marks=pytest.mark.long))
"""For large numbers of attacks: those on the weaker kind are tried in ``make test-long``."""
