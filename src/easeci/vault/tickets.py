"""Tickets: names for examples that do not tell their position in the secret order.

Positions would show a labeller how many examples lie between two questions, and so on what share
of the examples the models differ. A ticket is the number of the testset and the position, together
64 bits, encrypted with the owner's key. No table of tickets is stored, so a ticket still works
after a restart. An invented ticket is one of 2^64, and almost never valid.

The permutation is a Feistel network of four rounds (Luby and Rackoff 1988), each with HMAC-SHA256.
"""

from __future__ import annotations

import hmac
import re

from easeci.errors import UsageError
from easeci.vault.key import Key

ROUNDS = 4
HALF_BITS = 32
POSITION_BITS = 40
TESTSET_BITS = 24
_HALF = (1 << HALF_BITS) - 1


class Tickets:
    """Tickets for the testsets of one vault."""

    def __init__(self, key: Key) -> None:
        self._key = key.derived("tickets")

    def ticket(self, testset: int, position: int) -> str:
        """The ticket of the example at a position in the secret order."""
        if not (0 <= testset < 1 << TESTSET_BITS and 0 <= position < 1 << POSITION_BITS):
            raise ValueError("a testset's number or a position is out of range")
        return f"{self._forth(testset << POSITION_BITS | position):016x}"

    def read(self, ticket: str) -> tuple[int, int]:
        """The testset and the position of a ticket. They may not exist."""
        if not re.fullmatch(r"[0-9a-f]{16}", ticket):
            raise invalid_ticket()
        number = self._back(int(ticket, 16))
        return number >> POSITION_BITS, number & ((1 << POSITION_BITS) - 1)

    def _forth(self, number: int) -> int:
        left, right = number >> HALF_BITS, number & _HALF
        for turn in range(ROUNDS):
            left, right = right, left ^ self._mixed(turn, right)
        return left << HALF_BITS | right

    def _back(self, number: int) -> int:
        left, right = number >> HALF_BITS, number & _HALF
        for turn in reversed(range(ROUNDS)):
            left, right = right ^ self._mixed(turn, left), left
        return left << HALF_BITS | right

    def _mixed(self, turn: int, half: int) -> int:
        message = bytes([turn]) + half.to_bytes(4, "big")
        return int.from_bytes(hmac.digest(self._key, message, "sha256")[:4], "big")


def invalid_ticket() -> UsageError:
    """The error for a ticket that is not valid."""
    return UsageError(
        "invalid or expired question",
        hint="Load the page again, and answer the question that it shows then.",
    )
