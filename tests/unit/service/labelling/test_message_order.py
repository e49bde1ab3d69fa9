"""What a tab says counts in the order in which it says it."""

from __future__ import annotations

from easeci.service.labelling.message_order import MOST_REMEMBERED, MessageOrder


def test_a_page_that_came_after_keeps_the_seat() -> None:
    turns = MessageOrder()
    assert turns.speaks("a", 1)
    assert turns.speaks("a", 3), "the page after a reload"
    assert not turns.leaves("a", 2), "the page before it, heard late"
    assert turns.speaks("a", 4)
    assert turns.leaves("a", 5)


def test_what_was_asked_before_leaving_takes_no_seat() -> None:
    turns = MessageOrder()
    assert turns.leaves("a", 2)
    assert not turns.speaks("a", 1)
    assert turns.speaks("a", 3)
    assert turns.speaks("b", 1), "every tab counts for itself"


def test_only_so_many_are_remembered() -> None:
    turns = MessageOrder()
    turns.leaves("a", 2)
    for number in range(MOST_REMEMBERED):
        turns.speaks(f"other {number}", 1)
    assert turns.speaks("a", 1)
