"""A command that is killed at any point is resumed by the next one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_killed_at_every_boundary_of_events(tmp_path: Path) -> None:
    """The same signals, no step lost or charged twice, and a chain that verifies."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.durability.life", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    whole = found["whole"]
    last = whole["logs"]["8"]
    assert [row[1] for row in last] == ["baseline", "fail", "build error", "pass", "fail"]
    assert [row[3] for row in last] == [None, 1, None, 2, 1]
    assert whole["calls"] >= 15
    assert len(found["lives"]) > whole["calls"]  # after each, and before where files came first
    assert found["killed"] == -signal.SIGKILL
    for life in found["lives"]:
        assert life["ended"] == 0, done.stderr
        assert life["logs"], life
        assert life["logs"].items() <= whole["logs"].items(), life
        assert life["damage"] == [], life
    assert sum("8" in life["logs"] for life in found["lives"]) >= len(found["lives"]) / 8
