"""The listening socket: connections count from the moment that they are accepted.

With TLS, a connection reaches :class:`easeci.web.connection.Connection` only after its handshake. A
client that never begins one would hold a descriptor for a minute, and a process often has only a
thousand of them. So the limits of connections hold here too: if an address has too many that are
not served yet, or if all addresses together have, then the oldest of them is ended.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from easeci.web.addresses import Network, counted_as, is_proxy


@dataclass(frozen=True)
class _Accepted:
    socket: socket.socket
    counted_as: str

    def end(self) -> None:
        """Let the event loop find the connection closed; it then frees the descriptor."""
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)


class Listener(socket.socket):
    """Ends the oldest connection that is not served yet if there are too many of them.

    ``served`` gives the descriptors of the connections that are served. For ``proxies`` only
    ``most`` holds: the limit for all addresses together.
    """

    def __init__(
        self, family: int, *, most: int, most_of_one: int, proxies: tuple[Network, ...] = ()
    ) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self._most, self._most_of_one, self._proxies = most, most_of_one, proxies
        self._accepted: list[_Accepted] = []
        self.served: Callable[[], Collection[int]] = frozenset

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection, as the event loop asks for it."""
        connection, address = super().accept()
        new = _Accepted(connection, counted_as(str(address[0])))
        waiting = self._waiting()
        neighbours = [known for known in waiting if known.counted_as == new.counted_as]
        surplus: _Accepted | None = None
        if len(neighbours) >= self._most_of_one and not is_proxy(str(address[0]), self._proxies):
            surplus = neighbours[0]
        elif len(waiting) >= self._most:
            surplus = waiting[0]
        if surplus is not None:
            surplus.end()
            waiting.remove(surplus)
        self._accepted = [*waiting, new]
        return connection, address

    def _waiting(self) -> list[_Accepted]:
        """What was accepted and is neither served nor closed, the oldest first."""
        gone = {-1, *self.served()}
        return [known for known in self._accepted if known.socket.fileno() not in gone]
