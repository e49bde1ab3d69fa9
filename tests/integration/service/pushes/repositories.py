"""Git, and our hook in a repository."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from easeci.build.repository import Repository
from easeci.service.pushes.hooks import install

ID = "a" * 40


def git(folder: Path, *arguments: str) -> str:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder.parent),
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout + done.stderr


def installed(folder: Path, command: str = "/bin/echo") -> Path:
    return install(Repository.find(folder), [command], ["--store", "/a b"]).path
