"""What two packages must agree on that may not import each other."""

from __future__ import annotations

from easeci.build.workspace import NORMAL_TIME
from easeci.vault.sealing import NO_TIME


def test_files_for_programs_have_the_time_that_builds_want() -> None:
    """Otherwise every build would copy all examples instead of linking them."""
    assert NO_TIME == NORMAL_TIME
