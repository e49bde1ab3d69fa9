"""Signing in and out."""

from __future__ import annotations

from starlette.responses import Response

from easeci.service.access.tokens import SESSION_HOURS, Role
from easeci.web.guards import cookie_name
from easeci.web.request import RequestContext, see_other

HOME = {Role.OWNER: "/", Role.DEVELOPER: "/", Role.LABELLER: "/label"}
LONGEST_TOKEN = 200


def show(context: RequestContext) -> Response:
    """The page to sign in; a visitor who is signed in is redirected."""
    wanted = context.request.query_params.get("next", "")
    if context.visitor is not None:
        return see_other(_local(wanted) or HOME[context.visitor.role])
    return context.page("sign-in.html", wanted=wanted, problem=None)


def sign_in(context: RequestContext) -> Response:
    """Sign in with a token. The right one always works; only wrong ones are limited."""
    token = context.text("token")
    session = None
    if len(token) <= LONGEST_TOKEN:
        session = context.site.visitors.sign_in(token, _host(context))
    if session is not None:
        return _let_in(context, session, _local(context.text("next")))
    seconds = context.site.visitors.refused(_host(context))
    if seconds:
        return _wait(context, seconds)
    return _again(context, 401, "there is no such token, or it was removed")


def enter(context: RequestContext) -> Response:
    """Sign in by the link that the server printed when it started; it works once.

    Its code is too long to be guessed, so there is no limit on wrong ones.
    """
    if context.request.method != "GET":
        return Response(status_code=405)  # a program that checks links must not use it up
    code = context.request.path_params["code"]
    session = context.site.visitors.enter(code, _host(context))
    if session is None:
        return _again(context, 401, "this link was used already: it works once")
    return _let_in(context, session, "/")


def sign_out(context: RequestContext) -> Response:
    """End the session, and go to the page to sign in."""
    context.site.visitors.sign_out(context.who, _host(context))
    answer = see_other("/sign-in")
    answer.delete_cookie(cookie_name(context.request))
    return answer


def _let_in(context: RequestContext, session: str, wanted: str | None) -> Response:
    visitor = context.site.visitors.find(session)
    assert visitor is not None
    answer = see_other(wanted or HOME[visitor.role])
    answer.set_cookie(
        cookie_name(context.request),
        session,
        max_age=SESSION_HOURS * 3600,
        httponly=True,
        samesite="lax",
        secure=context.site.secure,
    )
    return answer


def _again(context: RequestContext, status: int, problem: str) -> Response:
    return context.page("sign-in.html", status=status, wanted=context.text("next"), problem=problem)


def _wait(context: RequestContext, seconds: int) -> Response:
    page = _again(context, 429, f"too many wrong tokens: wait {seconds} seconds")
    page.headers["Retry-After"] = str(seconds)
    return page


def _host(context: RequestContext) -> str:
    client = context.request.client
    return "" if client is None else client.host


def _local(path: str) -> str | None:
    """The path, if it is on this site; a link may have been written by anybody."""
    plain = path.startswith("/") and not path.startswith("//") and "\\" not in path
    return path if plain and path.isprintable() else None
