"""Flash messages: what became of a form, for the page that follows."""

from __future__ import annotations

from easeci.web.flash import MOST_KEPT, FlashMessage, FlashMessages


def test_a_message_is_for_one_session_one_page_and_once() -> None:
    messages = FlashMessages()
    messages.add("a", "/testsets", FlashMessage("first"))
    messages.add("a", "/testsets", FlashMessage("second"))
    assert messages.take("b", "/testsets") == []
    assert messages.take("a", "/") == []
    assert messages.take("a", "/testsets") == [FlashMessage("first"), FlashMessage("second")]
    assert messages.take("a", "/testsets") == []


def test_messages_that_nobody_comes_for_are_forgotten() -> None:
    messages = FlashMessages()
    for number in range(MOST_KEPT + 1):
        messages.add(str(number), "/", FlashMessage("done"))
    assert messages.take("0", "/") == []
    assert messages.take("1", "/") == [FlashMessage("done")]
