"""Why a message was not sent, and what may be done about it."""

from __future__ import annotations

from easeci.errors import InfrastructureError


class NotSent(InfrastructureError):  # noqa: N818 - it is what happened, and callers expect it
    """A message that was not taken over, as far as is known.

    ``permanent``: the same message would be refused again; only a person can change that.
    ``certain``: it was not taken over. If not, the connection broke after the message was complete
    and before the answer: it may have arrived. It is tried again all the same, since a message that
    comes twice under one Message-ID does less harm than one that never comes.
    """

    def __init__(self, reason: str, *, permanent: bool = False, certain: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.permanent = permanent
        self.certain = certain
