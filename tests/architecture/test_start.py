"""What a start may cost: planning loads no tables, and nothing of scipy but special functions."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("polars", "scipy.stats", "scipy.optimize", "scipy.linalg")
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
    done = subprocess.run(
        [sys.executable, "-c", program, *HEAVY, "numpy", "lark", "ruamel"], check=False
    )
    assert done.returncode == 0
