"""The demo: real models, real files, the real command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).parent.parent.parent / "examples" / "digits.py"


def test_the_demo_shows_a_plan_and_all_three_outcomes() -> None:
    done = subprocess.run([sys.executable, str(DEMO)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for part in (
        "Recommended: sequential",
        "is Unknown",
        "is False",
        "PASS: the condition is True (by exact",
        "by sequential",
    ):
        assert part in done.stdout
