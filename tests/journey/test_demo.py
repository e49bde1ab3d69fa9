"""The demo: a real repository, real models, a real sandbox, the real command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_the_demo_goes_as_told() -> None:
    """It checks every exit code itself; here it is looked at."""
    done = subprocess.run(
        [sys.executable, "-m", "examples.digits"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for part in (
        "Recommended: sequential",
        "BASELINE  commit",
        "As recorded at step 1",
        "BUILD ERROR  commit",
        "PASS  commit",
        "a new testset is needed",
        "was evaluated on it",
        "PENDING  commit",
        "20 labels added",
        "Every event, label, example and order is as it was recorded.",
    ):
        assert part in done.stdout + done.stderr, part


def test_the_demo_of_pushes_goes_as_told() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.pushes"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for part in (
        "remote: PENDING",
        "answers were typed",
        "PASS",
        "Subject: [digits] A new testset is needed",
        "labels are in ../released",
        "Testset 2 is sealed",
    ):
        assert part in done.stdout + done.stderr, part
