"""A command that is killed at any point is resumed by the next one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent


def lives(folder: Path, *commands: str) -> dict[str, Any]:
    """One life that nobody disturbs, and one for every boundary at which a life was killed: each
    has the same signals, loses no step, charges none twice, and has a chain that verifies."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.durability.life", str(folder), *commands],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    whole = found["whole"]
    assert len(found["lives"]) > whole["calls"]  # after each, and before where files came first
    assert found["killed"] == -signal.SIGKILL
    for life in found["lives"]:
        assert life["ended"] == 0, done.stderr
        assert life["logs"], life
        assert life["logs"].items() <= whole["logs"].items(), life
        assert life["damage"] == [], life
    return found


def test_killed_at_every_boundary_of_a_short_life(tmp_path: Path) -> None:
    """A testset is added, a baseline adopted, and a commit fails."""
    found = lives(tmp_path, "3")
    last = found["whole"]["logs"]["3"]
    assert [(row[1], row[3]) for row in last] == [("baseline", None), ("fail", 1)]
    assert found["whole"]["calls"] >= 6


@pytest.mark.long
def test_killed_at_every_boundary_of_a_whole_life(tmp_path: Path) -> None:
    """Two testsets, labels that come later, a pass, two fails and a broken build."""
    found = lives(tmp_path)
    whole = found["whole"]
    last = whole["logs"]["8"]
    assert [row[1] for row in last] == ["baseline", "fail", "build error", "pass", "fail"]
    assert [row[3] for row in last] == [None, 1, None, 2, 1]
    assert whole["calls"] >= 15
    assert sum("8" in life["logs"] for life in found["lives"]) >= len(found["lives"]) / 8
