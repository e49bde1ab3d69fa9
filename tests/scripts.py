"""Short ways to a script, for tests."""

from __future__ import annotations

from easeci.script import Script
from easeci.service.scripts import make_script


def script(condition: str, **keys: object) -> Script:
    """A script for one non-adaptive step unless told otherwise."""
    return make_script(condition, **{"steps": 1, "adaptivity": "none", **keys})
