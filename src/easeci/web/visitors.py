"""Who is signed in, and how people sign in: with a token, or once by the server's own link."""

from __future__ import annotations

import secrets
import threading
from contextlib import suppress

from easeci.errors import InfrastructureError, UsageError
from easeci.service.access.tokens import (
    Visitor,
    note_refusal,
    sign_in,
    sign_in_here,
    sign_out,
    tokens,
    visitor_of,
)
from easeci.service.project import Project
from easeci.web.addresses import client_address, counted_as
from easeci.web.throttle import Throttle


class Visitors:
    """The visitors of a site.

    All of this reads and writes sessions only, so it never waits for a page that reads the project.
    ``login`` is the name of the account that runs the server.
    """

    def __init__(self, project: Project, login: str) -> None:
        self._project, self._login = project, login
        self._code: str | None = None
        self._code_lock = threading.Lock()
        self._throttle = Throttle()

    def find(self, session: str | None) -> Visitor | None:
        """The visitor who has this session."""
        return None if not session else visitor_of(self._project, session)

    def sign_in(self, token: str, host: str) -> str | None:
        """A session for a token; None if there is no such token. ``host`` is the client's."""
        return sign_in(self._project, token, client_address(host))

    def refused(self, host: str) -> int:
        """Count a wrong token; returns how many seconds its address has to wait.

        Only the first one of an address in a minute is noted, so that guessing writes little. If
        the store can't be written, it is counted all the same: the visitor must not notice.
        """
        wrong = self._throttle.failed(counted_as(host))
        if wrong.is_first:
            with suppress(InfrastructureError):
                note_refusal(self._project, client_address(host))
        return wrong.wait

    def sign_out(self, visitor: Visitor, host: str) -> None:
        """End a visitor's session."""
        sign_out(self._project, visitor, client_address(host))

    def new_code(self) -> str:
        """A code that signs in the owner once, for the person who started the server."""
        self._code = secrets.token_urlsafe(24)
        return self._code

    def enter(self, code: str, host: str) -> str | None:
        """A session for the code, which is worth nothing afterwards."""
        with self._code_lock:
            known = self._code
            if known is None or not secrets.compare_digest(known.encode(), code.encode()):
                return None
            self._code = None
        return sign_in_here(self._project, self._login, client_address(host))

    def require_tokens(self, host: str) -> None:
        """Refuse to be reached from other machines before anybody has a token."""
        if not tokens(self._project):
            raise UsageError(
                f"to be reached from other machines ({host}) the server needs tokens, and there "
                "are none",
                hint="Make one for each person: `easeci token add --role owner`, "
                "`--role labeller`, `--role developer`.",
            )
