"""Settings for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Tests run side by side already: more threads of each would only keep the others waiting. It must
# be said before numpy and polars are loaded; commands that tests start inherit it.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
os.environ |= ONE_THREAD

# The same examples in every run, so that a failure can be repeated. No deadlines: how long a step
# takes says more about the machine than about the code.
settings.register_profile("easeci", derandomize=True, deadline=None)
settings.load_profile("easeci")

HERE = Path(__file__).parent
NEEDS_ROOT = "needs root"
LONGEST = (
    "journey/test_demo.py",
    "durability/test_crashes.py",
    "journey",
    "durability",
    "guarantee",
    "sandbox",
    "paper",
)
"""Files and folders with long tests, the longest first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with long tests, so that no worker waits for one at the end; mark what needs root."""
    items.sort(key=_turn)
    if os.geteuid() != 0:
        for item in items:
            if item.get_closest_marker("root") is not None:
                item.add_marker(pytest.mark.skip(reason=NEEDS_ROOT))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly what was not run, and why: without root, or on a kernel without Landlock."""
    skipped: list[pytest.TestReport] = terminalreporter.stats.get("skipped", [])
    if not skipped:
        return
    terminalreporter.section("NOT ALL TESTS WERE RUN", "!", red=True, bold=True)
    root = sum(NEEDS_ROOT in str(report.longrepr) for report in skipped)
    others = len(skipped) - root
    if root:
        tests = "1 test" if root == 1 else f"{root} tests"
        terminalreporter.line(f"NOT RUN because they need root: {tests} (CI runs them)", red=True)
    if others:
        tests = "1 test" if others == 1 else f"{others} tests"
        terminalreporter.line(f"NOT RUN for the reasons given below: {tests}", red=True)


def _turn(item: pytest.Item) -> int:
    place = item.path.relative_to(HERE)
    for turn, name in enumerate(LONGEST):
        if place.is_relative_to(name):
            return turn
    return len(LONGEST)
