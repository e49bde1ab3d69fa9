"""Seats: who holds which positions of a testset, each position one seat at most.

A seat is heard of with every call. After a while of silence it lapses, and what it held is free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field


@dataclass
class _Seat:
    heard: float
    held: list[int] = field(default_factory=list)
    last: int | None = None


class Leases:
    """The seats of a desk. ``clock`` counts seconds, and ``lease`` of them are kept in silence."""

    def __init__(self, clock: Callable[[], float], lease: float) -> None:
        self._clock, self._lease = clock, lease
        self._seats: dict[str, _Seat] = {}
        self._holders: dict[int, str] = {}

    def heard(self, name: str) -> None:
        """A seat is there: one that is new, or has lapsed, holds nothing."""
        self.let_lapse()
        self._seats.setdefault(name, _Seat(0.0)).heard = self._clock()

    @property
    def held(self) -> dict[str, list[int]]:
        """Who holds what."""
        return {name: list(seat.held) for name, seat in self._seats.items() if seat.held}

    def restore(self, held: dict[str, list[int]]) -> None:
        """Seats that were there before; each has its whole lease to be heard of again."""
        for name, positions in held.items():
            self.heard(name)
            for position in reversed(positions):  # each becomes the first
                self.give(name, position)

    def fill(self, name: str, wanted: Iterable[int], count: int) -> list[int]:
        """What a seat holds, cut down or filled up to ``count`` with what nobody else holds."""
        seat = self._seats[name]
        for position in seat.held[count:]:
            self._free(position)
        if len(seat.held) < count:
            for position in wanted:
                if position not in self._holders:
                    seat.held.append(position)
                    self._holders[position] = name
                    if len(seat.held) >= count:
                        break
        return list(seat.held)

    def give(self, name: str, position: int) -> None:
        """A position becomes the first one of a seat."""
        self._free(position)
        self._seats[name].held.insert(0, position)
        self._holders[position] = name

    def done(self, name: str, position: int) -> None:
        """A seat has answered a position, whoever holds it now."""
        holder = self._holders.get(position)
        if holder is not None:
            self._free(position)
            self._seats[holder].last = position
        self._seats[name].last = position

    def holds(self, name: str, position: int) -> bool:
        return self._holders.get(position) == name

    def shown(self, name: str) -> set[int]:
        """What a seat holds, and what it held last."""
        self.let_lapse()
        seat = self._seats.get(name)
        if seat is None:
            return set()
        return set(seat.held) | ({seat.last} if seat.last is not None else set())

    def keep_only(self, is_kept: Callable[[int], bool], name: str | None = None) -> None:
        """Take away what is no longer to be answered, from one seat or from all."""
        for position, holder in list(self._holders.items()):
            if name in (None, holder) and not is_kept(position):
                self._free(position)

    def leave(self, name: str) -> None:
        """A seat is given up."""
        seat = self._seats.pop(name, None)
        for position in seat.held if seat is not None else ():
            del self._holders[position]

    def clear(self) -> None:
        """Nobody holds anything any more."""
        self.keep_only(lambda _: False)
        for seat in self._seats.values():
            seat.last = None

    def _free(self, position: int) -> None:
        holder = self._holders.pop(position, None)
        if holder is not None:
            self._seats[holder].held.remove(position)

    def let_lapse(self) -> None:
        """Give up the seats of those who were silent for too long."""
        now = self._clock()
        for name in [n for n, seat in self._seats.items() if now - seat.heard > self._lease]:
            self.leave(name)
