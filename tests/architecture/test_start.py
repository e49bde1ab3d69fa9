"""What a start may cost: planning loads no tables, and nothing of scipy but special functions.

Commands that plan nothing load no scipy at all.
"""

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


def test_what_does_not_plan_starts_without_scipy() -> None:
    """Signals, views and labels: commands that are given often, and whose hooks people wait for."""
    program = (
        "import sys, easeci.cli.main\n"
        "import easeci.service.labelling.files, easeci.service.commits.submit, easeci.views.status\n"
        "sys.exit('scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == 0


def test_the_package_itself_starts_light() -> None:
    program = "import sys, easeci; sys.exit(any(m in sys.modules for m in sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", program, *HEAVY, "numpy", "lark", "ruamel"], check=False
    )
    assert done.returncode == 0
