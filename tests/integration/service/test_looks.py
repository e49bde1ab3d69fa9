"""A look at more than the signals is recorded before anything is shown."""

from __future__ import annotations

import threading

from easeci.ledger.events import Looked
from easeci.service.looks import record_look
from tests.projects import opened
from tests.repositories import Workplace
from tests.waiting import PATIENCE


def test_looks_are_recorded_in_their_order(place: Workplace) -> None:
    project = opened(place)
    record_look(project, "status")
    with project.exclusive():
        project.append(Looked("log"), Looked("report"))
    assert [view for _, view in opened(place).state.looks] == ["status", "log", "report"]


def test_a_look_waits_for_another_command_and_says_so_once(place: Workplace) -> None:
    project, other, said = opened(place), opened(place), threading.Semaphore(0)
    with other.exclusive():
        thread = threading.Thread(target=record_look, args=(project, "log", said.release))
        thread.start()
        assert said.acquire(timeout=PATIENCE)
        assert opened(place).state.looks == []
    thread.join(PATIENCE)
    assert len(opened(place).state.looks) == 1
    assert not said.acquire(blocking=False)
