"""Messages of a tab count in the order in which the tab sent them."""

from __future__ import annotations

from easeci.service.labelling.message_order import MOST_REMEMBERED, MessageOrder


def test_a_page_that_came_later_stays() -> None:
    order = MessageOrder()
    assert order.is_present("a", 1)
    assert order.is_present("a", 3), "the page after a reload"
    assert not order.leaves("a", 2), "the page before it, heard late"
    assert order.is_present("a", 4)
    assert order.leaves("a", 5)


def test_a_message_from_before_leaving_does_not_bring_the_tab_back() -> None:
    order = MessageOrder()
    assert order.leaves("a", 2)
    assert not order.is_present("a", 1)
    assert order.is_present("a", 3)
    assert order.is_present("b", 1), "every tab counts for itself"


def test_only_so_many_are_remembered() -> None:
    order = MessageOrder()
    order.leaves("a", 2)
    for number in range(MOST_REMEMBERED):
        order.is_present(f"other {number}", 1)
    assert order.is_present("a", 1)
