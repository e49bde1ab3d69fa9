"""What was looked at is recorded, and what cannot be shown is refused first."""

from __future__ import annotations

from easeci.service.looks import record_look
from easeci.views.commit import commit_curves, commit_view
from easeci.views.history import build_log, owner_rows
from easeci.views.status import status
from tests.projects import opened
from tests.repositories import Workplace


def test_views_record_nothing_and_a_look_is_one_event(place: Workplace) -> None:
    project = opened(place)
    head = project.head
    commit_view(project, 2, owner=True)
    commit_curves(project, 2)
    owner_rows(project.state)
    build_log(project, 2)
    assert status(project, owner=True).owner is not None
    assert opened(place).head == head
    record_look(project, "status")
    assert opened(place).head.number == head.number + 1
    assert opened(place).state.looks[-1][1] == "status"


def test_what_cannot_be_shown_is_refused_before_a_look_is_recorded(place: Workplace) -> None:
    before = opened(place).head
    assert place.easeci("log", "--owner", "--build", "99").returncode == 2
    assert place.easeci("log", "--owner", "--build", "baseline").returncode == 2
    missing = str(place.folder / "missing" / "report.html")
    assert place.easeci("report", "--owner", "-o", missing).returncode == 2
    assert opened(place).head == before
    place.easeci("log", "--owner", "--build", "2", code=0)
    assert opened(place).state.looks[-1][1] == "build"
