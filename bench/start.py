"""A plan must feel instant: its cold start against importing scipy.stats."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.page import Section
from bench.ratio import Ratio, ratio, ratio_section

OPENING = "## A plan from a cold start"


def section() -> Section:
    return ratio_section(OPENING, measure())


def measure() -> list[Ratio]:
    command = Path(sys.executable).with_name("easeci")
    plan = [str(command), "plan", "-c", r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01"]
    scipy = [sys.executable, "-c", "import scipy.stats"]

    def run(arguments: list[str]) -> None:
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)

    return [
        ratio(
            "`easeci plan` from a cold start",
            lambda: run(plan),
            '`python -c "import scipy.stats"`',
            lambda: run(scipy),
            promised=1.0,
        )
    ]
