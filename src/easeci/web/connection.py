"""A connection with a deadline for each request to arrive, and a fair share of all connections.

The server has a limited number of connections. A client that sends half a request and then nothing,
or one byte now and then, would hold one of them forever. So the head of a request must arrive in
time. The body must only make progress: a large upload over a slow line takes as long as it takes.

A client that opens many such connections at once would still hold them all for a while. So one
address may have a part of them only. If it opens one more, or if all connections of the server are
taken, then the one that has waited longest for its client is closed, and the new one is served:
other people at that address get in too. The next request takes milliseconds from a client that
means it. A declared proxy carries many clients, so only the limit of the server holds for it.
What a proxy does better, such as limits for slow readers, is left to a proxy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import cache

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from easeci.web.addresses import Network, counted_as, is_proxy, parse_proxies

HEAD_SECONDS = 20.0
"""For the head of a request, from the start of the connection or the end of the last response."""
BODY_SECONDS = 20.0
LEAST_BYTES = 10_000
"""So much of a body must arrive within these seconds, again and again until it is complete."""
MOST_OF_ONE_ADDRESS = 100
"""A browser opens six; an office behind one address has some room."""


class Connection(H11Protocol):
    """Closed without a response if a request does not arrive in time, or others need its place.

    Browsers also open connections that they never use, so this is not an error.
    """

    _timer: asyncio.TimerHandle | None = None
    _awaited: type[h11.IDLE | h11.SEND_BODY] | None = None
    _awaited_since = 0.0
    _received = 0
    _has_progressed = False
    _was_paused = False
    _counted_as = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._counted_as = counted_as(self.client[0]) if self.client else ""
        self._watch()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        """Count what arrives."""
        self._received += len(data)
        super().data_received(data)
        self._was_paused |= self.flow.read_paused
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        super().connection_lost(exc)
        self._stop_timer()

    def _watch(self) -> None:
        """Start the time anew whenever another part of a request is awaited."""
        state = self.conn.their_state
        awaited = state if state in (h11.IDLE, h11.SEND_BODY) else None
        if awaited is not self._awaited:
            self._stop_timer()
            self._awaited, self._awaited_since = awaited, self.loop.time()
            self._has_progressed = False
            self._start_timer()

    def _start_timer(self) -> None:
        self._received, self._was_paused = 0, self.flow.read_paused
        if self._awaited is h11.IDLE:
            self._timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)
        elif self._awaited is h11.SEND_BODY:
            self._timer = self.loop.call_later(BODY_SECONDS, self._check_progress)

    def _check_progress(self) -> None:
        # The client cannot send on while the server does not read, or has not yet asked for it.
        held_up = self._was_paused or self.conn.they_are_waiting_for_100_continue
        if self._received >= LEAST_BYTES or held_up:
            self._has_progressed |= self._received >= LEAST_BYTES
            self._start_timer()
        else:
            self.transport.close()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # -- places for others

    def _make_room(self) -> None:
        """If there is one connection too many now, close one that waits for its client."""
        others = [other for other in self.connections if isinstance(other, Connection)]
        others = [c for c in others if c is not self and not c.transport.is_closing()]
        neighbours = [c for c in others if c._counted_as == self._counted_as]
        most = self.config.limit_concurrency
        if len(neighbours) >= MOST_OF_ONE_ADDRESS and not self._is_of_a_proxy:
            (_longest_waiting(neighbours) or self).transport.abort()
        elif most is not None and len(others) + 1 >= most:
            surplus = _longest_waiting(others)
            if surplus is not None:  # otherwise uvicorn tells the new client to come later
                surplus.transport.abort()

    @property
    def _is_of_a_proxy(self) -> bool:
        declared = tuple(self.config.forwarded_allow_ips or ())
        return self.client is not None and is_proxy(self.client[0], _proxies(declared))

    @property
    def _waits_for_its_client(self) -> bool:
        """Whether a request is incomplete, or was answered before it was.

        Not an upload that makes progress. Without signing in nobody gets that far, because the
        server answers larger requests of strangers before their body has arrived.
        """
        answered = self.cycle is not None and self.cycle.response_complete
        started = self._has_progressed or self._received >= LEAST_BYTES
        in_body = self._awaited is h11.SEND_BODY and (answered or not started)
        return self._awaited is h11.IDLE or in_body


def _longest_waiting(connections: Iterable[Connection]) -> Connection | None:
    waiting = (connection for connection in connections if connection._waits_for_its_client)
    return min(waiting, key=lambda connection: connection._awaited_since, default=None)


def descriptors(connections: Iterable[object]) -> set[int]:
    """The descriptors of these connections."""
    known = (c.transport.get_extra_info("socket") for c in connections if isinstance(c, Connection))
    return {socket.fileno() for socket in known if socket is not None}


@cache
def _proxies(declared: tuple[str, ...]) -> tuple[Network, ...]:
    return parse_proxies(declared)
