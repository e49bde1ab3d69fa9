"""Notes: what became of a form, for the page that follows."""

from __future__ import annotations

from easeci.web.flash import MOST_KEPT, FlashMessage, FlashMessages


def test_a_note_is_for_one_session_one_page_and_once() -> None:
    notes = FlashMessages()
    notes.leave("a", "/testsets", FlashMessage("first"))
    notes.leave("a", "/testsets", FlashMessage("second"))
    assert notes.take("b", "/testsets") == []
    assert notes.take("a", "/") == []
    assert notes.take("a", "/testsets") == [FlashMessage("first"), FlashMessage("second")]
    assert notes.take("a", "/testsets") == []


def test_notes_that_nobody_comes_for_are_forgotten() -> None:
    notes = FlashMessages()
    for number in range(MOST_KEPT + 1):
        notes.leave(str(number), "/", FlashMessage("done"))
    assert notes.take("0", "/") == []
    assert notes.take("1", "/") == [FlashMessage("done")]
