"""Questions: who is asked what, and which answers are taken and taken back."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from easeci.errors import UsageError
from easeci.evidence.cells import LabelState
from easeci.service.commits.submit import run
from easeci.service.labelling.questions import Given
from easeci.service.labelling.session import LEASE_SECONDS, LabelSession
from easeci.service.project import open_project
from easeci.service.testsets.add import Offer, add_testset
from tests.integration.service.labelling.labellers import (
    LABEL,
    SKIPPED,
    Clock,
    at,
    entries,
    recorded,
    tickets,
    truth,
)
from tests.projects import opened
from tests.repositories import Workplace


def test_a_column_that_is_kept_on_purpose_is_shown(tmp_path: Path) -> None:
    """It is called label, and is what is to be labelled: of a shop, say. Ids are nobody's."""
    place = Workplace.make(tmp_path)
    header, *rows = place.examples.read_text().splitlines()
    lines = [f"{header},label", *(f"{row},organic" for row in rows), ""]
    place.examples.write_text("\n".join(lines))
    place.commit_cut(0.7)
    project = open_project(place.repository, create=True)
    script = place.repository / ".easeci.yml"
    add_testset(project, Offer(place.examples, script=script, keep_label_column=True))
    run(opened(place))
    place.commit_cut(0.4)
    run(opened(place))
    (question,) = at(LabelSession(opened(place))).take("tab", "ann", 1)
    assert set(question.row) == {"x", "label"}


def test_a_silent_holder_loses_its_questions_and_its_late_answer_counts_once(
    place: Workplace,
) -> None:
    clock = Clock()
    session = LabelSession(opened(place), clock=clock)
    (first, second) = at(session).take("a", "ann", 2)
    clock.now += LEASE_SECONDS
    assert tickets(at(session).take("a", "ann", 2)) == [first.ticket, second.ticket]
    clock.now += LEASE_SECONDS + 1
    others = at(session).take("b", "bob", 2)
    assert tickets(others) == [first.ticket, second.ticket]
    # The late answer is the first one: it is kept, and the other labeller's is not needed.
    assert at(session).answer("a", "ann", first.ticket, LABEL, truth(first)) is Given.STORED
    assert at(session).answer("b", "bob", first.ticket, LABEL, "other") is Given.ALREADY_ANSWERED
    assert at(session).answer("b", "bob", second.ticket, LABEL, truth(second)) is Given.STORED
    assert [e["by"] for e in entries(place).values()] == ["ann", "bob"]
    held = at(session).take("b", "bob", 1)
    session.leave("b", 1)
    assert tickets(at(session).take("c", "cid", 1)) == tickets(held)
    session.close(opened(place))
    assert tickets(at(session).take("c", "cid", 1)) == tickets(held), "it opens again"
    session.close(opened(place))


def test_only_own_answers_are_taken_back_and_asked_again_first(place: Workplace) -> None:
    session = LabelSession(opened(place))
    (one,), (other,) = at(session).take("a", "ann", 1), at(session).take("b", "bob", 1)
    at(session).answer("a", "ann", one.ticket, LABEL, "low")
    at(session).answer("b", "bob", other.ticket, LABEL, "low")
    assert at(session).undoable("ann") == one.ticket
    assert at(session).undoable("eve") is None
    assert at(session).undo("e", "eve") is None
    following = at(session).take("a", "ann", 2)
    back = at(session).undo("a", "ann")
    assert back == one
    assert tickets(at(session).take("a", "ann", 2)) == [one.ticket, following[0].ticket]
    assert at(session).undo("a", "ann") is None
    assert [e["by"] for e in entries(place).values()] == ["bob"]
    assert one.ticket not in tickets(at(session).take("b", "bob", 5))
    session.close(opened(place))
    assert session.has_work is False
    assert len(recorded(place)) == 1


def test_what_a_verdict_is_known_with_is_not_taken_back(place: Workplace) -> None:
    """Also while it waits to be recorded: nobody may change the answers that decided it."""
    session, recorder = LabelSession(opened(place)), opened(place)
    while not at(session).awaiting_flush:
        for question in at(session).take("b", "bob", 1):
            at(session).answer("b", "bob", question.ticket, LABEL, truth(question))
    assert at(session).undo("b", "bob") is None
    assert at(session).undoable("bob") is None
    assert at(session).awaiting_flush
    assert session.flush(recorder).answered
    assert at(session).undo("b", "bob") is None
    session.close(opened(place))


def test_an_undo_that_is_sent_twice_takes_back_one_answer(place: Workplace) -> None:
    session = LabelSession(opened(place))
    first, second = at(session).take("b", "bob", 2)
    for question in (first, second):
        at(session).answer("b", "bob", question.ticket, LABEL, truth(question))
    back = at(session).undo("b", "bob", second.ticket)
    assert back is not None
    assert back.ticket == second.ticket
    assert at(session).undo("b", "bob", second.ticket) == back, "its response was lost"
    assert len(entries(place)) == 1
    session.close(opened(place))


def test_each_tab_takes_back_its_own(place: Workplace) -> None:
    """With two tabs, undo means the answer that was given in the same tab."""
    session = LabelSession(opened(place))
    (one,), (other,) = at(session).take("1", "bob", 1), at(session).take("2", "bob", 1)
    at(session).answer("1", "bob", one.ticket, LABEL, truth(one))
    at(session).answer("2", "bob", other.ticket, LABEL, truth(other))
    assert at(session).undo("1", "bob", one.ticket) == one
    assert at(session).undo("2", "bob", one.ticket) is None, "that is at the other tab"
    assert tickets(at(session).take("1", "bob", 1)) == [one.ticket]
    assert len(entries(place)) == 1
    session.close(opened(place))


def test_what_was_taken_back_is_asked_again_wanted_or_not(place: Workplace) -> None:
    """Such as what had been skipped, and the page is back at what is wanted."""
    session = LabelSession(opened(place))
    (question,) = at(session).take("a", "ann", 1)
    at(session).answer("a", "ann", question.ticket, LabelState.SKIPPED)
    session.record(opened(place))
    (again,) = at(session).take("a", "ann", 1, unsettled=True)
    at(session).answer("a", "ann", again.ticket, LabelState.CANNOT_TELL)
    assert at(session).undo("a", "ann", again.ticket) == again
    assert tickets(at(session).take("a", "ann", 2))[0] == again.ticket
    at(session).answer("a", "ann", again.ticket, LABEL, truth(again))
    assert again.ticket not in tickets(at(session).take("a", "ann", 2))
    session.close(opened(place))


def test_unsettled_examples_are_asked_again_but_not_twice_of_one(place: Workplace) -> None:
    session, recorder = LabelSession(opened(place)), opened(place)
    for question in at(session).take("a", "ann", 3):
        at(session).answer("a", "ann", question.ticket, SKIPPED)
    session.close(recorder)
    session = LabelSession(opened(place))
    assert at(session).more_unsettled("ann") == 3
    first, second, _ = at(session).take("a", "ann", 5, unsettled=True)
    assert tickets(at(session).take("b", "bob", 5, unsettled=True)) == []
    assert at(session).answer("a", "ann", first.ticket, SKIPPED) is Given.STORED
    assert at(session).answer("a", "ann", second.ticket, LABEL, truth(second)) is Given.STORED
    assert at(session).more_unsettled("ann") == at(session).more_unsettled("bob") == 1
    session.close(recorder)
    session = LabelSession(opened(place))
    assert at(session).more_unsettled("bob") == 2
    assert sorted(recorded(place).values()) == sorted([truth(second), "skipped", "skipped"])
    # What somebody skips once more stays as it is, and is not put before them for ever.
    for question in at(session).take("a", "ann", 5, unsettled=True):
        assert at(session).answer("a", "ann", question.ticket, SKIPPED) is Given.STORED
        assert at(session).answer("a", "ann", question.ticket, SKIPPED) is Given.REPEATED
    assert at(session).take("a", "ann", 5, unsettled=True) == []
    assert session.close(recorder).problems == ()
    assert sorted(recorded(place).values()) == sorted([truth(second), "skipped", "skipped"])


def test_a_session_asks_again_what_was_skipped_in_the_same_one(place: Workplace) -> None:
    session, recorder = LabelSession(opened(place)), opened(place)
    (skipped,) = at(session).take("a", "ann", 1)
    at(session).answer("a", "ann", skipped.ticket, SKIPPED)
    while not at(session).awaiting_flush:
        for question in at(session).take("a", "ann", 1):
            at(session).answer("a", "ann", question.ticket, LABEL, truth(question))
    session.flush(recorder)
    assert tickets(at(session).take("b", "ann", 5, unsettled=True)) == [skipped.ticket]
    assert at(session).answer("b", "ann", skipped.ticket, SKIPPED) is Given.REPEATED
    assert at(session).take("b", "ann", 5, unsettled=True) == []
    assert tickets(at(session).take("c", "bob", 5, unsettled=True)) == [skipped.ticket]
    assert at(session).answer("c", "bob", skipped.ticket, LABEL, truth(skipped)) is Given.STORED
    session.close(recorder)
    assert "skipped" not in recorded(place).values()


def test_files_of_held_questions_only(tmp_path: Path) -> None:
    place = Workplace.make(tmp_path, classes="[low, high]")
    rows = list(csv.reader(place.examples.read_text().splitlines()))[1:]
    (place.folder / "pictures").mkdir()
    for name, x in rows:
        (place.folder / "pictures" / f"{name}.txt").write_text(x)
    lines = ["id,x,picture", *(f"{name},{x},{name}.txt" for name, x in rows)]
    place.examples.write_text("\n".join([*lines, ""]))
    place.commit_cut(0.7)
    project = open_project(place.repository, create=True)
    script = place.repository / ".easeci.yml"
    add_testset(project, Offer(place.examples, script=script, files=place.folder / "pictures"))
    run(opened(place))
    place.commit_cut(0.52)
    run(opened(place))
    session = LabelSession(opened(place))
    (one,), (other,) = at(session).take("a", "ann", 1), at(session).take("b", "bob", 1)
    assert one.files == ("picture",)
    path = session.file("a", one.ticket, "picture")
    assert path is not None
    assert path.read_text() == one.row["x"]
    assert session.file("a", other.ticket, "picture") is None
    assert session.file("nobody", one.ticket, "picture") is None
    assert session.file("a", one.ticket, "x") is None
    assert at(session).declared
    with pytest.raises(UsageError, match="no such class"):
        at(session).answer("a", "ann", one.ticket, LABEL, "medium")
    at(session).answer("a", "ann", one.ticket, LABEL, "low")
    assert session.file("a", one.ticket, "picture") == path, "the page still shows it"
    session.close(opened(place))
