"""The checks between a request and its endpoint.

Every response gets headers: a browser may load only our own files, store nothing, and show nothing
in a frame. A request must use one of our host names, its visitor must have a role that may use the
route, a form must come from our own pages, and its body must not be too large. Errors end here as
plain messages: never with a traceback or the text of a foreign error.
"""

from __future__ import annotations

import sys
from asyncio import CancelledError
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from python_multipart.multipart import parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from easeci.errors import EaseciError, InfrastructureError, unexpected
from easeci.service.access.tokens import Role, Visitor
from easeci.web.origin import is_own_request
from easeci.web.request import Endpoint, RequestContext, refusal_status, see_other
from easeci.web.site import Site

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With no-referrer, browsers would send `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}


class Headers:
    """Adds the headers to every response, and refuses requests for other host names.

    With ``secure``, browsers use https, whatever the last part of the way here is.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str], *, secure: bool = False) -> None:
        self.app, self.hosts, self.secure = app, hosts, secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, as ASGI wants it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        scope["scheme"] = "https" if self.secure else "http"
        name = host_of(Request(scope).headers.get("host", ""))
        if self.hosts and name not in self.hosts:
            # Another name that leads here may belong to an attacker (DNS rebinding).
            refusal = PlainTextResponse("This server has another name.\n", status_code=421)
            await refusal(scope, receive, send_with_headers)
            return
        await self.app(scope, receive, send_with_headers)


def host_of(netloc: str) -> str:
    """The name in a Host header or an origin, without its port."""
    try:
        return (urlsplit(f"//{netloc}").hostname or "").lower()
    except ValueError:
        return ""


@dataclass(frozen=True)
class Guard:
    """What a route requires: see :class:`easeci.web.app.RouteSpec`."""

    roles: frozenset[Role]
    most_bytes: int
    files: bool
    document: bool


class _TooLargeError(Exception):
    pass


class _UnreadableError(Exception):
    pass


def cookie_name(request: Request) -> str:
    """The session cookie's name, with the port: all servers of a host share their cookies."""
    return f"easeci-{request.url.port or 0}"


def route_endpoint(
    site: Site, guard: Guard, endpoint: Endpoint
) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint behind its guard, as Starlette calls it."""

    async def answer(request: Request) -> Response:
        visitor: Visitor | None = None
        try:
            session = request.cookies.get(cookie_name(request))
            visitor = await run_in_threadpool(site.visitors.find, session)
            refusal = _refusal(site, guard, request, visitor)
            if refusal is not None:
                return refusal
            form = await _form(request, guard)
            try:
                return await run_in_threadpool(
                    endpoint, RequestContext(site, request, visitor, form)
                )
            finally:
                await form.close()  # this deletes its files
        except _TooLargeError:
            return _error(RequestContext(site, request, visitor), guard, 413, *_too_large(guard))
        except ClientDisconnect:
            return Response(status_code=400)  # the client has gone, and does not read this
        except _UnreadableError:
            return _error(RequestContext(site, request, visitor), guard, 415, *UNREADABLE)
        except HTTPException as error:
            return _error(
                RequestContext(site, request, visitor), guard, error.status_code, *UNREADABLE
            )
        except EaseciError as error:
            return _known(RequestContext(site, request, visitor), guard, error)
        except (CancelledError, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - panics of polars are not Exceptions
            print(f"error: {unexpected(error)}", file=sys.stderr, flush=True)
            return _error(RequestContext(site, request, visitor), guard, 500, *BROKEN)

    return answer


FOREIGN = (
    "this request does not come from a page of this server",
    "Open the page again and send it once more. A proxy must pass on Origin and Sec-Fetch-Site.",
)
UNREADABLE = ("the server cannot read this as a form", "Open the page again and send it once more.")
BROKEN = ("something went wrong on the server", "The server's log says what it was.")


def _refusal(
    site: Site, guard: Guard, request: Request, visitor: Visitor | None
) -> Response | None:
    """The answer to a request that is not allowed; None if it is."""
    context = RequestContext(site, request, visitor)
    if request.method == "POST" and not _is_own(site, request):
        return _error(context, guard, 403, *FOREIGN)
    if not guard.roles:
        return None
    if visitor is None:
        if request.method == "GET" and not guard.document:
            asked_for = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            return see_other(f"/sign-in?next={quote(asked_for)}")
        return _error(context, guard, 401, "you are not signed in", "Sign in again, and repeat it.")
    if visitor.role not in guard.roles:
        return _error(context, guard, 403, f"this page is not for a {visitor.role}'s token", None)
    return None


def _is_own(site: Site, request: Request) -> bool:
    return is_own_request(
        request.headers,
        url=site.url,
        encrypted=site.secure,
        has_session=cookie_name(request) in request.cookies,
    )


async def _form(request: Request, guard: Guard) -> FormData:
    """The form of a request, read as it arrives; files go to the disk, not to memory."""
    if request.method != "POST":
        return FormData()
    _require_readable(request.headers.get("content-type", ""), guard)
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > guard.most_bytes:
        raise _TooLargeError
    taken, receive = 0, request.receive

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > guard.most_bytes:
            raise _TooLargeError
        return message

    return await Request(request.scope, bounded).form(max_files=3, max_fields=40)


def _require_readable(content_type: str, guard: Guard) -> None:
    """Refuse what is not a form in UTF-8, or has files where the route has none.

    If the sender could choose the encoding, decoding a few bytes could take minutes.
    """
    kind, parameters = parse_options_header(content_type)
    allowed = {b"application/x-www-form-urlencoded", b""}
    if guard.files:
        allowed.add(b"multipart/form-data")
    charset = parameters.get(b"charset", b"utf-8").lower()
    if kind not in allowed or charset not in (b"utf-8", b"utf8"):
        raise _UnreadableError


def _too_large(guard: Guard) -> tuple[str, str]:
    return (
        f"that is more than {_size(guard.most_bytes)} at once",
        "Larger files are given on the server: `easeci testset add`, `easeci labels import`.",
    )


def _size(count: int) -> str:
    return f"{count >> 30} GiB" if count >= 1 << 30 else f"{count >> 10} KiB"


def _known(context: RequestContext, guard: Guard, error: EaseciError) -> Response:
    """The answer to one of our own errors. Only the owner reads what is wrong with the server."""
    if isinstance(error, InfrastructureError):
        print(f"error: {error.message}", file=sys.stderr, flush=True)
        if not context.owner:
            return _error(context, guard, 500, *BROKEN)
        return _error(context, guard, 500, error.message, error.hint)
    return _error(context, guard, refusal_status(error), error.message, error.hint)


def _error(
    context: RequestContext, guard: Guard, status: int, message: str, hint: str | None
) -> Response:
    if guard.document:
        return JSONResponse({"error": message, "hint": hint}, status_code=status)
    return context.page("error.html", status=status, message=message, hint=hint)


def page_for_http_error(
    site: Site,
) -> Callable[[Request, Exception], Awaitable[Response]]:
    """The page for a missing route, the same for everybody."""

    async def show(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        context = RequestContext(site, request, None)
        return context.page(
            "error.html",
            status=status,
            title="Not here",
            message="there is no such page",
            hint=None,
        )

    return show
