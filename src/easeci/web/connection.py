"""A connection to a browser that has to get on with its request.

Whoever sends half a request and then nothing, or a byte now and then, would hold one of the
connections that there are for ever. So the head of a request has to be there within a while, and a
body has to come at some pace: large uploads by a slow line take as long as they take.

Whoever never reads an answer would hold one as well, and whoever asks on and on without waiting for
answers would fill the memory: what is asked meanwhile is kept until its turn comes.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 20.0
"""For the head of a request, from when the connection or the answer before it was there."""
BODY_SECONDS = 20.0
LEAST_BYTES = 10_000
"""What has to come of a body within those seconds, and again within the next."""
ANSWER_SECONDS = 120.0
"""Within these at least something of an answer has to be taken. The system's own buffer may be
megabytes, and shows that it empties only now and then."""
MOST_AHEAD = 64 * 1024
"""How much may be there of requests whose turn has not come, in bytes. Browsers send none."""


class Connection(H11Protocol):
    """Closed, without a word, when it does not bring what is due: browsers also open connections
    that they never use."""

    _due: asyncio.TimerHandle | None = None
    _expected: type[h11.IDLE | h11.SEND_BODY] | None = None
    _came = 0
    _held_up = False
    _untaken: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # so that we hear of whatever is not taken
        self._watch()

    def data_received(self, data: bytes) -> None:
        self._came += len(data)
        super().data_received(data)
        self._held_up |= self.flow.read_paused
        self._watch()
        if self._expected is None and len(self.conn.trailing_data[0]) > MOST_AHEAD:
            self.transport.abort()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop()
        self._taken()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._look_at_answer(None)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._taken()

    def _look_at_answer(self, before: int | None) -> None:
        """Nothing is added while something is left, so that it can only become less."""
        left = self.transport.get_write_buffer_size()
        if left == before:
            self.transport.abort()  # to close it would wait for what is left
        else:
            self._untaken = self.loop.call_later(ANSWER_SECONDS, self._look_at_answer, left)

    def _taken(self) -> None:
        if self._untaken is not None:
            self._untaken.cancel()
            self._untaken = None

    def _watch(self) -> None:
        """Whenever something else is expected of the other side, its time begins."""
        state = self.conn.their_state
        expected = state if state in (h11.IDLE, h11.SEND_BODY) else None
        if expected is not self._expected:
            self._stop()
            self._expected = expected
            self._begin()

    def _begin(self) -> None:
        self._came, self._held_up = 0, self.flow.read_paused
        if self._expected is h11.IDLE:
            self._due = self.loop.call_later(HEAD_SECONDS, self.transport.close)
        elif self._expected is h11.SEND_BODY:
            self._due = self.loop.call_later(BODY_SECONDS, self._look_at_pace)

    def _look_at_pace(self) -> None:
        """Nobody is blamed for what we did not read, or have not asked for yet."""
        held_up = self._held_up or self.conn.they_are_waiting_for_100_continue
        if self._came >= LEAST_BYTES or held_up:
            self._begin()
        else:
            self.transport.close()

    def _stop(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
