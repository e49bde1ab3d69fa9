"""Waiting in tests: for something to happen, never for time to pass."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 120.0
"""After so many seconds a test gives up. A busy machine needs a part of it, a broken test all."""


def wait_until(happened: Callable[[], bool]) -> None:
    """Look again and again; fail if it has not happened in the end."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, f"it did not happen within {PATIENCE:.0f} s"
        time.sleep(0.01)
