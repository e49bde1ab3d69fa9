"""Leases: which labeller's tab or terminal holds which positions of a testset.

A holder is a browser tab or a terminal. A position has at most one holder. Every call of a holder
renews its lease. A holder that is silent for too long loses what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field


@dataclass
class _Lease:
    """What one holder holds, when it was heard of last, and what it answered last."""

    renewed: float
    held: list[int] = field(default_factory=list)
    last: int | None = None


class Leases:
    """All leases of a session. A lease lasts ``seconds``, as ``clock`` counts them."""

    def __init__(self, clock: Callable[[], float], seconds: float) -> None:
        self._clock, self._seconds = clock, seconds
        self._leases: dict[str, _Lease] = {}
        self._holders: dict[int, str] = {}

    def renew(self, holder: str) -> None:
        """Renew the lease of a holder, or give it one that is still empty."""
        self.let_lapse()
        self._leases.setdefault(holder, _Lease(0.0)).renewed = self._clock()

    @property
    def held(self) -> dict[str, list[int]]:
        """The positions of every holder that holds any."""
        return {name: list(lease.held) for name, lease in self._leases.items() if lease.held}

    def restore(self, held: dict[str, list[int]]) -> None:
        """Take over leases of an earlier session; each begins anew."""
        for holder, positions in held.items():
            self.renew(holder)
            for position in reversed(positions):  # each becomes the first
                self.give(holder, position)

    def fill(self, holder: str, wanted: Iterable[int], count: int) -> list[int]:
        """Cut or fill up what a holder holds to ``count``, with positions that nobody holds."""
        lease = self._leases[holder]
        for position in lease.held[count:]:
            self._free(position)
        if len(lease.held) < count:
            for position in wanted:
                if position not in self._holders:
                    lease.held.append(position)
                    self._holders[position] = holder
                    if len(lease.held) >= count:
                        break
        return list(lease.held)

    def give(self, holder: str, position: int) -> None:
        """Make a position the first one of a holder, even if another one holds it."""
        self._free(position)
        self._leases[holder].held.insert(0, position)
        self._holders[position] = holder

    def end(self, holder: str, position: int) -> None:
        """Free a position that ``holder`` has answered, even if another one holds it now."""
        other = self._holders.get(position)
        if other is not None:
            self._free(position)
            self._leases[other].last = position
        self._leases[holder].last = position

    def holds(self, holder: str, position: int) -> bool:
        """Whether this holder holds the position."""
        return self._holders.get(position) == holder

    def shown(self, holder: str) -> set[int]:
        """What a holder holds, and what it held last."""
        self.let_lapse()
        lease = self._leases.get(holder)
        if lease is None:
            return set()
        return set(lease.held) | ({lease.last} if lease.last is not None else set())

    def keep_only(self, is_kept: Callable[[int], bool], holder: str | None = None) -> None:
        """Free the positions that are not kept, of one holder or of all."""
        for position, name in list(self._holders.items()):
            if holder in (None, name) and not is_kept(position):
                self._free(position)

    def leave(self, holder: str) -> None:
        """End the lease of a holder."""
        lease = self._leases.pop(holder, None)
        for position in lease.held if lease is not None else ():
            del self._holders[position]

    def _free(self, position: int) -> None:
        holder = self._holders.pop(position, None)
        if holder is not None:
            self._leases[holder].held.remove(position)

    def let_lapse(self) -> None:
        """End the leases of holders that were silent for too long."""
        now = self._clock()
        lapsed = [n for n, lease in self._leases.items() if now - lease.renewed > self._seconds]
        for holder in lapsed:
            self.leave(holder)
