"""Signing in and out."""

from __future__ import annotations

from starlette.responses import Response

from easeci.service.access.tokens import SESSION_HOURS, Role
from easeci.web.guards import cookie_name
from easeci.web.request import Asked, see_other

HOME = {Role.OWNER: "/", Role.DEVELOPER: "/", Role.LABELLER: "/label"}
LONGEST_TOKEN = 200


def show(asked: Asked) -> Response:
    wanted = asked.request.query_params.get("next", "")
    if asked.visitor is not None:
        return see_other(_local(wanted) or HOME[asked.visitor.role])
    return asked.page("sign-in.html", wanted=wanted, problem=None)


def sign_in(asked: Asked) -> Response:
    """By a token. Whoever guesses has to wait."""
    wait = asked.site.throttle.wait(_address(asked))
    if wait:
        return _wait(asked, wait)
    token = asked.text("token")
    session = None
    if len(token) <= LONGEST_TOKEN:
        session = asked.site.sign_in(token)
    if session is None:
        asked.site.throttle.failed(_address(asked))
        return _again(asked, 401, "there is no such token, or it was taken back")
    return _let_in(asked, session, _local(asked.text("next")))


def enter(asked: Asked) -> Response:
    """By the code that the server printed when it was started; it works once.

    It is too long to be guessed, so that nobody has to wait because others try.
    """
    if asked.request.method != "GET":
        return Response(status_code=405)  # somebody checks links: that must not spend this one
    session = asked.site.enter(asked.request.path_params["code"])
    if session is None:
        return _again(asked, 401, "this link was used already: it works once")
    return _let_in(asked, session, "/")


def sign_out(asked: Asked) -> Response:
    asked.site.sign_out(asked.who)
    answer = see_other("/sign-in")
    answer.delete_cookie(cookie_name(asked.request))
    return answer


def _let_in(asked: Asked, session: str, wanted: str | None) -> Response:
    visitor = asked.site.visitor(session)
    assert visitor is not None
    answer = see_other(wanted or HOME[visitor.role])
    answer.set_cookie(
        cookie_name(asked.request),
        session,
        max_age=SESSION_HOURS * 3600,
        httponly=True,
        samesite="lax",
        secure=asked.site.secure,
    )
    return answer


def _again(asked: Asked, status: int, problem: str) -> Response:
    return asked.page("sign-in.html", status=status, wanted=asked.text("next"), problem=problem)


def _wait(asked: Asked, seconds: int) -> Response:
    page = _again(asked, 429, f"too many wrong tokens: wait {seconds} seconds")
    page.headers["Retry-After"] = str(seconds)
    return page


def _address(asked: Asked) -> str:
    client = asked.request.client
    return "" if client is None else client.host


def _local(path: str) -> str | None:
    """A path of ours, never another site that somebody wrote into a link."""
    plain = path.startswith("/") and not path.startswith("//") and "\\" not in path
    return path if plain and path.isprintable() else None
