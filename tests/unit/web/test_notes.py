"""Notes: what became of a form, for the page that follows."""

from __future__ import annotations

from easeci.web.flash import MOST_KEPT, Note, Notes


def test_a_note_is_for_one_session_one_page_and_once() -> None:
    notes = Notes()
    notes.leave("a", "/testsets", Note("first"))
    notes.leave("a", "/testsets", Note("second"))
    assert notes.take("b", "/testsets") == []
    assert notes.take("a", "/") == []
    assert notes.take("a", "/testsets") == [Note("first"), Note("second")]
    assert notes.take("a", "/testsets") == []


def test_notes_that_nobody_comes_for_are_forgotten() -> None:
    notes = Notes()
    for number in range(MOST_KEPT + 1):
        notes.leave(str(number), "/", Note("done"))
    assert notes.take("0", "/") == []
    assert notes.take("1", "/") == [Note("done")]
