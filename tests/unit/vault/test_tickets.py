"""Tickets: one for each example, back again, and nothing to be seen in them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeci.errors import UsageError
from easeci.vault.key import Key
from easeci.vault.tickets import POSITION_BITS, TESTSET_BITS, Tickets

TICKETS = Tickets(Key(bytes(range(32))))
testsets = st.integers(0, 2**TESTSET_BITS - 1)
positions = st.integers(0, 2**POSITION_BITS - 1)


@given(testsets, positions)
def test_a_ticket_leads_back_to_its_example(testset: int, position: int) -> None:
    assert TICKETS.read(TICKETS.ticket(testset, position)) == (testset, position)


@given(st.integers(0, 2**64 - 1))
def test_every_ticket_is_the_ticket_of_what_it_leads_to(number: int) -> None:
    """With the test above: a permutation of all 64 bits."""
    ticket = f"{number:016x}"
    assert TICKETS.ticket(*TICKETS.read(ticket)) == ticket


def test_tickets_show_no_order_and_differ_by_testset_and_key() -> None:
    tickets = [TICKETS.ticket(1, position) for position in range(2000)]
    assert len(set(tickets)) == 2000
    # Of neighbours, the later one is the larger in half of the cases: 4σ.
    rising = sum(one < other for one, other in itertools.pairwise(tickets))
    assert abs(rising - 1000) < 4 * (2000 / 12) ** 0.5 + 1
    flipped = [bin(int(a, 16) ^ int(b, 16)).count("1") for a, b in itertools.pairwise(tickets)]
    assert 30 < sum(flipped) / len(flipped) < 34
    assert TICKETS.ticket(2, 0) != tickets[0]
    assert Tickets(Key(bytes(32))).ticket(1, 0) != tickets[0]


@pytest.mark.parametrize(
    "text",
    ["", "0", "0" * 15, "0" * 17, "G" * 16, "A" * 16, "0x" + "0" * 14, "٣" * 16, "0" * 15 + "\n"],
)
def test_anything_malformed_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="invalid or expired question"):
        TICKETS.read(text)


@pytest.mark.parametrize(("testset", "position"), [(-1, 0), (0, -1), (2**24, 0), (0, 2**40)])
def test_what_does_not_fit_has_no_ticket(testset: int, position: int) -> None:
    with pytest.raises(ValueError, match="out of range"):
        TICKETS.ticket(testset, position)
