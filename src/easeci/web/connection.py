"""A connection with a deadline for each request to arrive.

The server has a limited number of connections. A client that sends half a request and then nothing,
or one byte now and then, would hold one of them forever. So the head of a request must arrive in
time. The body must only make progress: a large upload over a slow line takes as long as it takes.
What a proxy does better, such as limits for slow readers, is left to a proxy.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 20.0
"""For the head of a request, from the start of the connection or the end of the last response."""
BODY_SECONDS = 20.0
LEAST_BYTES = 10_000
"""So much of a body must arrive within these seconds, again and again until it is complete."""


class Connection(H11Protocol):
    """Closed without a response if a request does not arrive in time.

    Browsers also open connections that they never use, so this is not an error.
    """

    _timer: asyncio.TimerHandle | None = None
    _awaited: type[h11.IDLE | h11.SEND_BODY] | None = None
    _received = 0
    _was_paused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._watch()

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
            self._awaited = awaited
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
            self._start_timer()
        else:
            self.transport.close()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
