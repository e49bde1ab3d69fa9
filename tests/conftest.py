"""Settings for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run: a test that fails must fail for whoever looks into it. And no
# deadlines: how long a step takes says more about the machine than about the code.
settings.register_profile("easeci", derandomize=True, deadline=None)
settings.load_profile("easeci")

HERE = Path(__file__).parent
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
    """Long tests first: one that begins when the others are done keeps all workers but its own
    waiting. Nothing else about the order changes."""
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    place = item.path.relative_to(HERE)
    for turn, name in enumerate(LONGEST):
        if place.is_relative_to(name):
            return turn
    return len(LONGEST)
