"""The installed command, run for real."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from easeci.cli.main import run
from tests.waiting import PATIENCE

COMMAND = str(Path(sys.executable).with_name("easeci"))
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS")


def easeci(
    *arguments: str, folder: Path | None = None, columns: int = 80, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``easeci`` as a user would; output is text without colours, 80 columns wide."""
    return subprocess.run(
        [COMMAND, *arguments],
        cwd=folder,
        env=plain_environment(columns) | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def easeci_here(
    *arguments: str, folder: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """The same in this process, which has everything loaded: for tests that give many commands."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, plain_environment() | environment, clear=True),
        redirect_stdout(out),
        redirect_stderr(err),
        chdir(folder or Path.cwd()),
    ):
        code = run(list(arguments))
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def start_easeci(*arguments: str, folder: Path) -> subprocess.Popen[str]:
    """Start ``easeci`` and go on."""
    return subprocess.Popen(
        [COMMAND, *arguments],
        cwd=folder,
        env=plain_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def plain_environment(columns: int = 80) -> dict[str, str]:
    """Nothing of the tests' own environment but where letters go and how many threads there are."""
    plain = {"PATH": "/usr/bin:/bin", "COLUMNS": str(columns), "LANG": "C.UTF-8"}
    kept = ("EASECI_SMTP_URL", *THREADS)
    return plain | {name: os.environ[name] for name in kept if name in os.environ}
