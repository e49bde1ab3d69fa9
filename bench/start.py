"""Commands must feel instant: their cold starts against importing the libraries that they need.

What is measured is the processor time of the command and its children, which a busy machine changes
less than the time on the clock.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.predictions import written_directly
from tests.repositories import Workplace

from bench.page import Section
from bench.ratio import Ratio, ratio, ratio_section

OPENING = "## Cold starts\n\nProcessor time of a command and its children, from a cold start."
ROUNDS = 15


@dataclass(frozen=True)
class ColdStart:
    """A command of easeci, what it is measured against, and the promise."""

    arguments: tuple[str, ...]
    libraries: str
    at_most: float

    @property
    def name(self) -> str:
        """The command in short."""
        return f"`easeci {self.arguments[0]}`"


STARTS = (
    ColdStart(("--help",), "typer, rich.console", 1.5),
    ColdStart(("status",), "typer, rich.table, sqlalchemy", 1.5),
    ColdStart(("plan", "-c", r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01"), "scipy.stats", 0.8),
)


def section() -> Section:
    """Measure every start."""
    return ratio_section(OPENING, measure())


def measure() -> list[Ratio]:
    """Each command in turn with its libraries, in a project with one commit."""
    with tempfile.TemporaryDirectory() as name:
        place = Workplace.make(Path(name))
        place.commit_cut(0.7)
        with written_directly():
            place.add_testset()
            place.easeci("baseline", "set", "HEAD", code=0)
            place.commit_cut(0.5)
            place.easeci("run", code=0)
        return [_measure(start, place.repository) for start in STARTS]


def _measure(start: ColdStart, folder: Path) -> Ratio:
    command = [str(Path(sys.executable).with_name("easeci")), *start.arguments]
    libraries = [sys.executable, "-c", f"import {start.libraries}"]

    def run(arguments: list[str]) -> None:
        subprocess.run(arguments, cwd=folder, check=True, stdout=subprocess.DEVNULL)

    return ratio(
        start.name,
        lambda: run(command),
        f'`python -c "import {start.libraries}"`',
        lambda: run(libraries),
        promised=start.at_most,
        rounds=ROUNDS,
        clock=_children_seconds,
    )


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
