"""The open step: which labels it wants, and which answers it takes."""

from __future__ import annotations

import pytest

from easeci.errors import UsageError
from easeci.evidence.cells import LabelState
from easeci.service.labelling.files import import_labels
from easeci.service.labelling.questions import Given
from easeci.service.labelling.session import LabelSession
from tests.integration.service.labelling.labellers import (
    LABEL,
    SKIPPED,
    at,
    entries,
    recorded,
    tickets,
)
from tests.projects import opened
from tests.repositories import EXAMPLES, Workplace


def test_nobody_gets_far_ahead_of_somebody_slow(place: Workplace) -> None:
    session = LabelSession(opened(place))
    at(session).take("slow", "ann", 1)
    together = at(session)._step.wanted
    given = 0
    while questions := at(session).take("fast", "bob", 3):
        at(session).answer("fast", "bob", questions[0].ticket, SKIPPED)
        given += 1
    assert given == len(together) - 1
    at(session).take("slow", "ann", 1)
    assert at(session).take("fast", "bob", 1) == []
    assert not at(session).awaiting_flush


def test_what_is_no_answer_is_refused(place: Workplace) -> None:
    session = LabelSession(opened(place))
    (question,) = at(session).take("a", "ann", 1)
    assert set(question.row) == {"x"}
    wrong: list[tuple[LabelState, str | None]] = [
        (LABEL, None), (LABEL, ""), (LABEL, " "), (LABEL, " x"), (SKIPPED, "low"),
        (LabelState.DISPUTED, None), (LABEL, "x" * 20_000),
    ]  # fmt: skip
    for state, label in wrong:
        with pytest.raises(UsageError):
            at(session).answer("a", "ann", question.ticket, state, label)
    for ticket in (
        "",
        "zz",
        "0" * 16,
        at(session)._tickets.ticket(1, EXAMPLES),
        at(session)._tickets.ticket(2, 0),
    ):
        with pytest.raises(UsageError, match="invalid or expired question"):
            at(session).answer("a", "ann", ticket, LABEL, "low")
    assert entries(place) == {}
    assert not at(session).declared
    at(session).answer("a", "ann", question.ticket, LABEL, "3")
    assert at(session).classes == ["3"]
    (question,) = at(session).take("a", "ann", 1)
    with pytest.raises(UsageError, match=r"3 and 3\.0"):
        at(session).answer("a", "ann", question.ticket, LABEL, "3.0")
    session.close(opened(place))


def test_labels_from_elsewhere_are_noticed(place: Workplace) -> None:
    session, recorder = LabelSession(opened(place)), opened(place)
    mine, theirs = at(session).take("a", "ann", 2)
    at(session).answer("a", "ann", mine.ticket, LABEL, "low")
    ids = [
        str(at(session)._step.sealed.examples.ids_at([at(session)._tickets.read(q.ticket)[1]])[0])
        for q in (mine, theirs)
    ]
    path = place.folder / "some.csv"
    path.write_text(f"id,label,state\n{ids[0]},,cannot tell\n{ids[1]},high,\n")
    import_labels(opened(place), path)
    assert at(session).answer("a", "ann", theirs.ticket, LABEL, "low") is Given.ALREADY_ANSWERED
    assert theirs.ticket not in tickets(at(session).take("a", "ann", 2))
    assert at(session).answer("a", "ann", mine.ticket, LABEL, "low") is Given.REPEATED
    assert "high" in at(session).classes
    # All that was answered here is known from elsewhere meanwhile: that stands.
    done = session.close(recorder)
    assert len(done.problems) == 1
    assert recorded(place) == {ids[0]: "cannot tell", ids[1]: "high"}


def test_what_is_wanted_is_as_others_left_it(place: Workplace) -> None:
    """The owner reads it before any labeller comes again."""
    session = LabelSession(opened(place))
    assert session.wanted is None, "nobody labels"
    assert at(session).wanted > 0
    assert session.wanted == at(session).wanted
    import_labels(opened(place), place.labels)
    assert session.wanted == 0
    session.close(opened(place))
