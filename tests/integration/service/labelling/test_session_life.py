"""The life of a label session: opened when somebody labels, closed when everybody has left."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from easeci.errors import BusyError
from easeci.evidence.cells import LabelState
from easeci.service.labelling.questions import Question
from easeci.service.labelling.session import LEFT_SECONDS, REST_SECONDS, LabelSession
from easeci.service.project import Project, open_project
from easeci.vault.journal import Journal
from tests.repositories import Workplace, write_examples
from tests.sites import waiting_project
from tests.waiting import PATIENCE


@dataclass
class Life:
    """A session, a clock that the test moves, and the copy of the project that records."""

    place: Workplace
    now: float = 0.0
    session: LabelSession = field(init=False)
    project: Project = field(init=False)

    def __post_init__(self) -> None:
        self.project = open_project(self.place.repository)
        own = open_project(self.place.repository)
        self.session = LabelSession(own, shared=True, clock=lambda: self.now, lease=1e9)

    def take(self, holder: str = "tab") -> list[Question]:
        with self.session.open() as questions:
            return questions.take(holder, "ada", 1)

    def skip(self, question: Question) -> None:
        with self.session.open() as questions:
            questions.answer("tab", "ada", question.ticket, LabelState.SKIPPED)

    @property
    def labels(self) -> int:
        testset = open_project(self.place.repository).state.latest_testset
        assert testset is not None
        return len(testset.label_files)

    @property
    def is_open(self) -> bool:
        """Whether no other session could open the questions."""
        project = open_project(self.place.repository)
        testset = project.state.latest_testset
        assert testset is not None
        try:
            Journal(project.sealed(testset).labels_folder).close()
        except BusyError:
            return True
        return False


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    life = Life(waiting_project(tmp_path))
    yield life
    life.session.close(life.project)


def test_it_opens_on_demand_and_opens_again(life: Life) -> None:
    assert not life.is_open
    held = life.take()
    assert life.is_open
    life.session.close(life.project)
    assert not life.is_open
    assert life.take() == held, "the lease is remembered"
    assert life.is_open


def test_what_only_asks_opens_nothing(life: Life) -> None:
    assert (life.session.wanted, life.session.unrecorded) == (None, 0)
    life.session.leave("tab", 1)
    life.session.record(life.project)
    life.session.tend(life.project)
    assert not life.session.has_work
    assert not life.is_open


def test_it_closes_soon_after_the_last_tab_left(life: Life) -> None:
    """Then a terminal can go on. While a tab shows something, the questions stay its own."""
    life.take()
    life.now += LEFT_SECONDS + 1
    life.session.tend(life.project)
    assert life.is_open
    life.session.leave("tab", 1)
    life.session.tend(life.project)
    assert not life.is_open


def test_it_closes_when_nobody_has_labelled_for_long_and_records_the_answers(life: Life) -> None:
    (question,) = life.take()
    life.skip(question)
    life.take()
    life.now += REST_SECONDS
    life.session.tend(life.project)
    assert (life.is_open, life.labels, life.session.unrecorded) == (True, 0, 1)
    life.now += 1
    life.session.tend(life.project)
    assert (life.is_open, life.labels) == (False, 1)


def test_labellers_go_on_while_closing_waits_for_a_build(life: Life) -> None:
    """A labeller who comes back while the session waits for the project keeps it open."""
    (question,) = life.take()
    life.session.leave("tab", 1)
    life.session.tend(life.project)  # it records the look, and would not have to wait for that
    life.now += LEFT_SECONDS + 1
    waits = threading.Event()
    exclusive = life.project.exclusive

    def told(_: object = None) -> object:
        return exclusive(waits.set)

    life.project.exclusive = told  # type: ignore[method-assign, assignment]
    with open_project(life.place.repository).exclusive():  # such as a build
        tending = threading.Thread(target=life.session.tend, args=(life.project,))
        tending.start()
        assert waits.wait(PATIENCE)
        assert life.take("other tab") == [question], "nobody waits for the build"
    tending.join(PATIENCE)
    life.project.exclusive = exclusive  # type: ignore[method-assign]
    assert life.is_open


def test_a_session_that_could_not_record_stays_open(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next call of tend tries again: no answer has to wait for the next labeller."""
    (question,) = life.take()
    life.skip(question)
    life.now += REST_SECONDS + 1
    with monkeypatch.context() as patch, pytest.raises(OSError, match="full"):
        patch.setattr(Project, "append", full_disk)
        life.session.tend(life.project)
    assert (life.is_open, life.labels) == (True, 0)
    life.session.tend(life.project)
    assert (life.is_open, life.labels) == (False, 1)


def full_disk(*_: object) -> None:
    raise OSError("the disk is full")


def test_the_count_of_wanted_labels_is_unknown_if_the_next_testset_is_open_elsewhere(
    life: Life,
) -> None:
    """The owner's overview asks for it, and must not fail."""
    life.take()
    assert life.session.wanted
    life.place.easeci("testset", "retire", code=0)
    write_examples(life.place.examples, size=200, start=9000)
    life.place.add_testset("--allow-smaller", labelled=False)
    project = open_project(life.place.repository)
    journal = Journal(project.sealed(project.state.testsets[2]).labels_folder)
    assert life.session.wanted is None
    journal.close()
    assert life.session.wanted == 0
