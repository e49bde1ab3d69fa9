"""How a sequential test ends. Apart from the tests themselves, so that records are read quickly."""

from __future__ import annotations

from enum import Enum


class Ending(Enum):
    """How the walk of one clause along the testset ended."""

    PROVEN = "proven"
    FUTILE = "futile"
    EXHAUSTED = "exhausted"
    OPEN = "open"
