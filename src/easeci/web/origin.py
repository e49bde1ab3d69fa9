"""Where a request comes from, by the headers that browsers add and pages cannot change.

A page of another site can make a browser send us a form, together with our cookie. So a request
that changes something must come from our own origin: scheme, host and port. The rules, in order:

1. ``Sec-Fetch-Site`` decides if it is there. The browser compares origins itself, so a proxy with
   another host name does not matter. ``same-origin`` is a page of ours, and ``none`` the user, who
   for example reloads a page. ``same-site`` is refused: another port or subdomain is not ours.
2. Otherwise ``Origin`` decides. Browsers leave out the first header where the connection is plain
   http to another machine, and old ones do not know it. The origin must be the one that ``--url``
   names, or have the request's own ``Host``. If the server is encrypted, it must be https. ``null``
   is refused: it hides another origin.
3. Without both headers a request is accepted only if it brings no session. Other programs sign in
   like that. Browsers send ``Origin`` with every form since 2020.

The cookie is also ``SameSite=Lax``, so most browsers do not even send it with a foreign form.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def is_own_request(
    headers: Mapping[str, str], *, url: str | None, encrypted: bool, has_session: bool
) -> bool:
    """Whether a request that changes something comes from our own pages, or from no browser."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    if origin is None:
        return not has_session
    return _is_own(origin.lower(), headers.get("host", "").lower(), url, encrypted=encrypted)


def _is_own(origin: str, host: str, url: str | None, *, encrypted: bool) -> bool:
    scheme, _, _ = origin.partition("://")
    if scheme not in DEFAULT_PORTS or (encrypted and scheme != "https"):
        return False
    own = {f"{scheme}://{host}"} if host else set()
    if url is not None:
        named = urlsplit(url.lower())
        own.add(f"{named.scheme}://{named.netloc}")
    return _without_default_port(origin) in {_without_default_port(name) for name in own}


def _without_default_port(origin: str) -> str:
    return origin.removesuffix(DEFAULT_PORTS[origin.partition("://")[0]])
