"""An ordinary account that builds: no file mode protects its vault from the programs that it runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import easeci
from tests.sandbox.building import SYSTEM_PYTHON, commit_files, git

USER = 64_998


def make_site(root: Path, **files: str) -> None:
    """A repository with one commit, a vault, a folder to mount, and the library that builds."""
    root.chmod(0o755)
    for part in ("repository", "vault/examples", "into", "tmp", "mounted", "library/easeci"):
        (root / part).mkdir(parents=True)
    (root / "vault" / "examples" / "examples.csv").write_text("id\n1\n")
    (root / "vault" / "labels.csv").write_text("SECRET")
    (root / "vault").chmod(0o700)
    (root / "private").write_text("secret")
    (root / "mounted" / "weights").write_text("weights")
    git(root / "repository", "init", "--quiet")
    commit_files(root / "repository", **files)
    source = Path(easeci.__file__).parent
    shutil.copytree(source / "build", root / "library" / "easeci" / "build")
    for file in ("__init__.py", "errors.py", "files.py"):
        shutil.copy(source / file, root / "library" / "easeci")


def run_driver(root: Path, driver: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python code that builds, as the ordinary account, which gets all files."""
    if os.geteuid() == 0 and sys.executable == SYSTEM_PYTHON:
        pytest.fail("no Python here that other users may run: install one, such as python3")
    user = None
    if os.geteuid() == 0:
        user = USER
        for path in (root, *root.rglob("*")):
            os.lchown(path, USER, USER)
    done = subprocess.run(
        [SYSTEM_PYTHON, "-c", driver, str(root), *arguments],
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(root / "library"),
            "TMPDIR": str(root / "tmp"),
        },
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        cwd="/",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done
