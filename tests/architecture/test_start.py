"""What a start may cost: planning loads neither numpy nor polars."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("numpy", "polars", "scipy")
PROGRAM = """
import sys
from easeci.cli.main import run
code = run(["plan", "-c", "n - o > 0.02 +/- 0.01"])
loaded = sorted(set(sys.argv[1:]) & set(sys.modules))
sys.exit(f"loaded: {loaded}" if loaded or code else 0)
"""


def test_a_plan_starts_light() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *HEAVY], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_package_itself_starts_light() -> None:
    program = "import sys, easeci; sys.exit(any(m in sys.modules for m in sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", program, *HEAVY, "lark", "ruamel"], check=False)
    assert done.returncode == 0
