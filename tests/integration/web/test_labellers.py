"""The desk of a server: opened when somebody comes, closed when everybody has gone."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from easeci.errors import UsageError
from easeci.service.labelling.session import LabelSession, Question
from easeci.service.project import open_project
from easeci.vault.journal import HELD, Journal
from easeci.web import labellers as module
from easeci.web.background import BackgroundThread
from easeci.web.labellers import Labellers
from easeci.web.site import ServedProject
from tests.repositories import write_examples
from tests.sites import serving_here, visitor, waiting_project


def test_who_comes_while_it_is_closed_waits_or_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is never said that somebody else is labelling: that was the server itself."""
    place = ServedProject(waiting_project(tmp_path).repository)
    labellers = Labellers(place, BackgroundThread(place))
    with labellers.labelling_session() as desk:
        held = desk.take("seat", "ada", 1)
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.1)
    background = place.open()
    with place.open().exclusive():  # such as a build
        closing = threading.Thread(target=lambda: labellers._close(background))
        closing.start()
        while labellers._session is not None:
            pass
        with pytest.raises(UsageError, match="is being recorded"), labellers.labelling_session():
            pass
        monkeypatch.setattr(module, "PATIENCE_SECONDS", 60.0)
    with labellers.labelling_session() as desk:
        assert desk.take("seat", "ada", 1) == held, "who held what is remembered"
    closing.join()
    labellers._close(background)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1, "b": ["x", null]}', '{"a": [3]}'])
def test_what_was_held_is_not_believed_blindly(tmp_path: Path, content: str) -> None:
    (tmp_path / HELD).write_text(content)
    journal = Journal(tmp_path)
    held = journal.held()
    journal.close()
    assert held in ({}, {"b": []}, {"a": [3]})


def test_a_desk_is_closed_only_when_nobody_is_at_it(tmp_path: Path) -> None:
    place = ServedProject(waiting_project(tmp_path).repository)
    labellers = Labellers(place, BackgroundThread(place))
    project = open_project(place.folder)
    with labellers.labelling_session() as desk:
        labellers._close(project)
        assert desk.take("seat", "ada", 1)
    labellers._rest(project)
    assert labellers._session is desk, "somebody was there a moment ago"
    labellers._close(project)
    assert labellers._session is None


def test_the_journal_is_left_soon_after_the_last_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody at a terminal can go on; as long as a page shows something, it is the page's."""
    place = ServedProject(waiting_project(tmp_path).repository)
    labellers = Labellers(place, BackgroundThread(place))
    project = open_project(place.folder)
    with labellers.labelling_session() as desk:
        assert desk.take("seat", "ada", 1)
    monkeypatch.setattr(module, "LEFT_SECONDS", 0.0)
    labellers._rest(project)
    assert labellers._session is desk
    labellers.leave("seat", 1)
    labellers._rest(project)
    assert labellers._session is None
    labellers.leave("seat", 2)
    assert labellers._session is None, "a page's last word opens nothing"


def test_the_overview_does_not_fail_because_the_next_testset_is_labelled_elsewhere(
    tmp_path: Path,
) -> None:
    workplace = waiting_project(tmp_path)
    place = ServedProject(workplace.repository)
    labellers = Labellers(place, BackgroundThread(place))
    with labellers.labelling_session():
        assert labellers.wanted()
    workplace.easeci("testset", "retire", code=0)
    write_examples(workplace.examples, size=200, start=9000)
    workplace.add_testset("--allow-smaller", labelled=False)
    project = open_project(place.folder)
    journal = Journal(project.sealed(project.state.testsets[2]).labels_folder)
    assert labellers.wanted() is None
    journal.close()
    labellers._close(project)


def test_the_order_in_which_a_tab_spoke_is_what_counts(tmp_path: Path) -> None:
    """By the requests of the page itself: another connection may be faster."""
    place = waiting_project(tmp_path)
    with serving_here(place.repository) as here:
        ada = visitor(here, place.repository, "labeller", "ada")
        bob = visitor(here, place.repository, "labeller", "bob")
        (shown, *_) = ada.label("take", "adasseat", turn="3")["questions"]
        ada.label("leave", "adasseat", turn="2")  # of the page before a reload
        assert shown not in bob.label("take", "bobsseat", turn="1")["questions"]
        ada.label("leave", "adasseat", turn="9")
        late = ada.label("answer", "adasseat", turn="8", ticket=shown["ticket"], state="skipped")
        assert (late["given"], late["questions"]) == ("stored", [])
        late = ada.label("undo", "adasseat", turn="10", undone=shown["ticket"])
        assert (late["undone"], late["questions"][0]) == (True, shown)


def test_a_tab_that_is_closed_while_examples_are_taken_for_it_keeps_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tab's last word is heard after the server has begun to take examples for it."""
    place = waiting_project(tmp_path)
    take = LabelSession.take
    with serving_here(place.repository) as here:
        ada = visitor(here, place.repository, "labeller", "ada")
        bob = visitor(here, place.repository, "labeller", "bob")
        (first, *_) = bob.label("take", "bobsseat", turn="1")["questions"]
        bob.label("leave", "bobsseat", turn="2")

        def closed_meanwhile(
            self: LabelSession, seat: str, by: str, count: int, *, unsettled: bool = False
        ) -> list[Question]:
            if by == "ada":
                here.site.labellers.leave(seat, 4)
            return take(self, seat, by, count, unsettled=unsettled)

        monkeypatch.setattr(LabelSession, "take", closed_meanwhile)
        assert ada.label("take", "adasseat", turn="3")["questions"] == []
        assert bob.label("take", "bobsseat", turn="3")["questions"][0] == first
