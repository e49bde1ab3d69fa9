"""Wrong tokens are refused and counted, whatever the store can take."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.service.access.tokens import add_token
from easeci.service.project import open_project
from easeci.web.throttle import MOST_FAILURES
from tests.file_systems import UNWRITABLE, in_small_file_system
from tests.repositories import Workplace


@pytest.mark.parametrize("kind", UNWRITABLE)
def test_a_wrong_token_is_refused_where_nothing_can_be_written(tmp_path: Path, kind: str) -> None:
    """It can't be noted there, but it counts: after too many, its address has to wait."""
    project = open_project(Workplace.make(tmp_path).repository, create=True)
    add_token(project, "owner")
    program = f"""
from pathlib import Path
from easeci.service.project import open_project
from easeci.web.visitors import Visitors
store = Path("{tmp_path}/place") / "{project.store.folder.name}"
visitors = Visitors(open_project(Path("{project.repository.top}"), store=store), "ada")
for _ in range({MOST_FAILURES} + 1):
    print(visitors.sign_in("easeci_wrong", "192.0.2.7"), visitors.refused("192.0.2.7") > 0)
"""
    place = tmp_path / "place"
    said = in_small_file_system(project.store.folder, place, UNWRITABLE[kind], program)
    assert said.splitlines() == ["None False"] * MOST_FAILURES + ["None True"]
