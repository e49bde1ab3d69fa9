"""What goes on by itself: queues and ticks."""

from __future__ import annotations

import pytest

from easeci.ledger.signals import Signal
from easeci.service import project
from easeci.service.commits import advance as progress
from easeci.service.labelling.files import import_labels
from tests.projects import add, opened, run_on
from tests.repositories import Workplace


@pytest.fixture
def place(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """A repository with a first model, and a file that letters go to."""
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{place.folder / 'letters'}")
    return place


def test_a_newer_commit_takes_the_place_of_one_that_waits_for_its_turn(place: Workplace) -> None:
    """Unspent; the one that is being tested stays."""
    add(place, labelled=False)
    run_on(place)
    tested = place.commit_cut(0.52)
    assert run_on(place).row.signal is Signal.PENDING
    second = place.commit_cut(0.55)
    assert run_on(place).row.signal is Signal.PENDING
    third = place.commit_cut(0.51)
    assert run_on(place).row.signal is Signal.PENDING
    assert run_on(place, second).row.signal is Signal.SUPERSEDED
    import_labels(opened(place), place.labels)
    assert run_on(place, tested).row.signal is Signal.PASS
    assert run_on(place, third).row.step == 2
    assert opened(place).state.testsets[1].steps_used == 2


def test_under_none_nothing_is_superseded(place: Workplace) -> None:
    """The number of steps would tell whether anything waits."""
    add(place, labelled=False, adaptivity="none -> third@example.org")
    run_on(place)
    for cut in (0.52, 0.55, 0.51):
        place.commit_cut(cut)
        assert run_on(place).row.signal is Signal.ACCEPTED
    import_labels(opened(place), place.labels)
    assert opened(place).state.testsets[1].steps_used == 3


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = "2026-11-16T00:00:00Z"
        for module in (project, progress):
            monkeypatch.setattr(module, "utc_now", lambda: self.now)


def test_signals_come_on_their_tick(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    add(place, disclose="24h")
    run_on(place)
    clock.now = "2026-11-16T05:00:00Z"
    better = place.commit_cut(0.52)
    assert run_on(place).row.signal is Signal.PENDING
    place.commit_cut(0.75)
    assert run_on(place).row.signal is Signal.PENDING
    assert opened(place).state.testsets[1].steps_used == 1
    clock.now = "2026-11-16T23:59:59Z"
    assert run_on(place, better).row.signal is Signal.PENDING
    clock.now = "2026-11-17T00:00:00Z"
    assert run_on(place, better).row.signal is Signal.PASS
    assert run_on(place).row.signal is Signal.PENDING  # charged and decided now, shown a day later
    clock.now = "2026-11-18T00:00:00Z"
    assert run_on(place).row.signal is Signal.FAIL
