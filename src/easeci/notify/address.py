"""Mail addresses: which ones are accepted, and how they are sent."""

from __future__ import annotations

import re

from easeci.errors import UsageError

_MOST_LOCAL, _MOST_DOMAIN = 64, 253  # bytes; RFC 5321, 4.5.3.1
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\x80-\U0010ffff-]+"
_LOCAL = re.compile(rf"{_ATOM}(\.{_ATOM})*")
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*")


def parse_address(text: str) -> str:
    """The address with its domain in ASCII; a UsageError if mail can't go there.

    Quoted local parts, comments and names beside the address are refused: nobody needs them, and
    each could put something else into a header. A local part beyond ASCII stays unchanged; only the
    server can say whether it accepts one (SMTPUTF8).
    """
    local, at, domain = text.rpartition("@")
    ascii_domain = _ascii_domain(domain)
    if (
        not at
        or not _LOCAL.fullmatch(local)
        or not local.isprintable()
        or len(local.encode("utf-8", "replace")) > _MOST_LOCAL
        or ascii_domain is None
    ):
        shown = "".join(c if c.isprintable() else "?" for c in text[:100])
        raise UsageError(
            f"no mail can be sent to or from '{shown}'",
            hint="Write a plain address such as owner@example.org.",
        )
    return f"{local}@{ascii_domain}"


def _ascii_domain(domain: str) -> str | None:
    try:
        encoded = domain.encode("idna").decode("ascii")
    except UnicodeError:
        return None
    fits = len(encoded) <= _MOST_DOMAIN and _DOMAIN.fullmatch(encoded)
    return encoded if fits else None
