"""The overview: alarms lead to the page that helps."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from easeci.views.alarms import Alarm, AlarmKind
from easeci.web.app import ROUTES
from easeci.web.overview import HELPFUL_PAGES, _notices


def site_with(problem: str | None) -> Any:
    """A site whose background thread has this problem."""
    return SimpleNamespace(background=SimpleNamespace(problem=problem))


def test_every_helpful_page_exists() -> None:
    pages = {route.path for route in ROUTES if route.method == "GET"}
    assert {path for path, _ in HELPFUL_PAGES.values()} <= pages


def test_each_alarm_is_a_notice_and_so_is_a_problem_of_the_server() -> None:
    found = (
        Alarm(AlarmKind.NEW_TESTSET, "A new testset is needed", "Add one."),
        Alarm(AlarmKind.LETTERS, "A letter could not be sent", "See the outbox."),
    )
    first, second, last = _notices(site_with("the disk is full"), found)
    assert (first.message, first.link) == ("A new testset is needed", "/testsets")
    assert (second.hint, second.link) == ("See the outbox.", "")
    assert last.message == "The server could not record: the disk is full."
    assert _notices(site_with(None), ()) == []
