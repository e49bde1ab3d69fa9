"""Why a message was not sent, and whether to try again."""

from __future__ import annotations

from easeci.errors import InfrastructureError


class NotSent(InfrastructureError):  # noqa: N818 - callers expect it: it is a result
    """A message was not sent, as far as is known.

    ``permanent``: the server would refuse the same message again, until a person changes something.
    ``certain``: False if the connection broke after the message was complete and before the answer.
    Then it may have arrived. It is tried again even so, because a message that arrives twice with
    one Message-ID does less harm than one that never arrives.
    """

    def __init__(self, reason: str, *, permanent: bool = False, certain: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.permanent = permanent
        self.certain = certain
