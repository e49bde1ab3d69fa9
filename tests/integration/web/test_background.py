"""The background thread: no page waits for it, and it loses nothing while the server lives."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from polars.exceptions import PanicException

from easeci.errors import InfrastructureError
from easeci.service.access.tokens import Role, Visitor
from easeci.service.commits.advance import catch_up
from easeci.service.labelling.session import Flushed, LabelSession
from easeci.service.project import Project, open_project
from easeci.web import background as module
from easeci.web.background import BackgroundThread
from easeci.web.served_project import ServedProject
from tests.repositories import Workplace
from tests.sites import Here, held, serving_here, visitor, waiting_project
from tests.waiting import PATIENCE, wait_until

ANN, BEN = Visitor("ann", Role.OWNER, "session a"), Visitor("ben", Role.OWNER, "session b")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    place = Workplace.make(tmp_path_factory.mktemp("background"))
    place.commit_cut(0.6)
    open_project(place.repository, create=True)
    return place


class Tended(LabelSession):
    """A session that does what a test says whenever it is tended."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.todo: list[Callable[[], None]] = []
        self.closed = 0

    def tend(self, project: Project) -> None:  # noqa: ARG002 - the real one needs it
        while self.todo:
            self.todo[0]()
            del self.todo[0]

    def close(self, project: Project, waiting: Callable[[], None] | None = None) -> Flushed:
        self.closed += 1
        return super().close(project, waiting)


@pytest.fixture
def session(place: Workplace) -> Tended:
    return Tended(open_project(place.repository))


@pytest.fixture
def background(place: Workplace, session: Tended) -> Iterator[BackgroundThread]:
    background = BackgroundThread(ServedProject(place.repository), session)
    background.start()
    yield background
    background.close()


def looks(place: Workplace) -> list[str]:
    """Of what was looked at, in the order in which it is recorded."""
    return [view for view, _ in named_looks(place)]


def named_looks(place: Workplace) -> list[tuple[str, str]]:
    """The same with the names of those who looked."""
    project = open_project(place.repository)
    records = project.store.records(project.name)
    events = [json.loads(record.text) for record in records if record.kind == "Looked"]
    return [(event["view"], event["by"]) for event in events]


def test_a_look_is_recorded_once_a_session_view_and_testset(
    background: BackgroundThread, place: Workplace
) -> None:
    before = len(looks(place))
    for _ in range(3):
        for look in (
            (ANN, "overview", 1),
            (ANN, "commit", 1),
            (ANN, "commit", 2),
            (BEN, "commit", 2),
        ):
            background.look(*look)
    wait_until(lambda: len(looks(place)) >= before + 4)
    background.close()
    assert looks(place)[before:] == ["overview", "commit", "commit", "commit"]
    assert [by for _, by in named_looks(place)[before:]] == ["ann", "ann", "ann", "ben"]


def test_while_somebody_else_acts_looks_wait_and_pages_do_not(tmp_path: Path) -> None:
    """Every page of the owner's, and labelling, is answered while a command holds the project; what
    was looked at meanwhile is recorded afterwards."""
    place = waiting_project(tmp_path, classes="[low, high]")
    with serving_here(place.repository) as here:
        owner = visitor(here, place.repository, "owner")
        owner.get("/")
        wait_until(lambda: len(looks(place)) == 1)
        with held(place):
            owner.client.timeout = PATIENCE / 2
            for path in ("/", "/commits/2", "/testsets", "/plan", "/label"):
                assert owner.get(path).status_code == 200
            tab = "0123456789abcdef"
            question = owner.label("take", tab)["questions"][0]
            given = owner.label(
                "answer", tab, ticket=question["ticket"], state="label", label="low"
            )
            assert given["given"] == "stored"
            assert len(looks(place)) == 1
        wait_until(lambda: len(looks(place)) == 4)
    assert sorted(looks(place)) == ["commit", "labelling", "overview", "testsets"]
    testset = open_project(place.repository).state.latest_testset
    assert testset is not None
    assert testset.labels == 1


def test_nothing_is_lost_by_an_orderly_end(place: Workplace, session: Tended) -> None:
    """Looks that came while the project was held, and the session's answers, are recorded."""
    background = BackgroundThread(ServedProject(place.repository), session)
    before = len(looks(place))
    background.start()
    with held(place):
        background.look(ANN, "overview", None)
        wait_until(lambda: not background._is_woken)  # it works on that, and waits for the project
        background.look(BEN, "overview", None)
        closing = threading.Thread(target=background.close)
        closing.start()
    closing.join()
    assert len(looks(place)) == before + 2
    assert session.closed == 1
    assert not background._thread.is_alive()


def test_it_goes_on_after_an_error_and_repeats_what_failed(
    background: BackgroundThread, place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looks that the store refused are recorded in their order as soon as it takes them."""
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.05)
    before = len(looks(place))

    def refuse(project: Project, *events: object, also: object = None) -> None:
        raise InfrastructureError("the disk is full\nand more")

    with monkeypatch.context() as patch:
        patch.setattr(Project, "append", refuse)
        background.look(ANN, "overview", None)
        wait_until(lambda: background.problem is not None)
        background.look(ANN, "commit", None)
        assert background.problem == "the disk is full"
    wait_until(lambda: len(looks(place)) == before + 2 and background.problem is None)
    assert looks(place)[before:] == ["overview", "commit"]


def test_a_look_is_not_recorded_twice_if_something_after_it_fails(
    background: BackgroundThread, place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.05)
    failures, before = [ValueError()], len(looks(place))

    def failing_once(project: Project) -> tuple[int, ...]:
        if failures:
            raise failures.pop()
        return catch_up(project)

    monkeypatch.setattr(module, "catch_up", failing_once)
    background.look(ANN, "overview", None)
    wait_until(lambda: not failures and len(looks(place)) > before and background.problem is None)
    assert looks(place)[before:] == ["overview"]


def test_tending_that_fails_is_tried_again(
    background: BackgroundThread, session: Tended, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without waiting for somebody to wake the thread."""
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.05)
    tried: list[str] = []

    def stubborn() -> None:
        tried.append("stubborn")
        if len(tried) < 3:
            raise ValueError

    session.todo = [stubborn, lambda: tried.append("the next")]
    background.wake()
    wait_until(lambda: "the next" in tried)
    assert tried == ["stubborn"] * 3 + ["the next"]


def test_a_panic_of_polars_does_not_end_it(
    background: BackgroundThread,
    session: Tended,
    place: Workplace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Such a panic is not an Exception. Its message can quote a cell, so nobody is shown it."""
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.05)
    panics, before = [PanicException("row 7: secret")], len(looks(place))
    assert not isinstance(panics[0], Exception)
    told: list[str | None] = []

    def panicking() -> None:
        if panics:
            raise panics.pop()
        told.append(background.problem)

    session.todo = [panicking]
    background.look(ANN, "overview", None)
    wait_until(lambda: bool(told) and background.problem is None)
    assert told[0] is not None
    assert "PanicException" in told[0]
    assert "secret" not in told[0]
    wait_until(lambda: looks(place)[before:] == ["overview"])


def test_the_owner_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the first page, whether there is a testset or not, and in words; nobody else is."""
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.05)
    empty = Workplace.make(tmp_path / "empty")
    empty.commit_cut(0.6)
    for place in (empty, waiting_project(tmp_path / "waiting")):
        with serving_here(place.repository) as here:
            developer = visitor(here, place.repository, "developer")
            with monkeypatch.context() as patch:
                patch.setattr(BackgroundThread, "_record_looks", broken)
                owner = visitor(here, place.repository, "owner")
                owner.get("/")
                wait_until(partial(has_problem, here))
                words = "The server could not record: the store &lt;b&gt; may not be written."
                assert words in owner.get("/").text
                assert "could not record" not in developer.get("/").text
            wait_until(partial(has_none, here))
            assert "could not record" not in owner.get("/").text


def has_problem(here: Here) -> bool:
    return here.site.background.problem is not None


def has_none(here: Here) -> bool:
    return here.site.background.problem is None


def broken(self: BackgroundThread, project: Project) -> None:
    raise InfrastructureError("the store <b> may not be written")
