"""The application: one table of all routes, with the roles that may use them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from easeci.service.access.tokens import Role
from easeci.web import explorer, labelling, overview, sign_in, testsets
from easeci.web.guards import Guard, Headers, page_for_http_error, route_endpoint
from easeci.web.request import SMALL, Endpoint
from easeci.web.site import Site

LITTLE = 4 * 1024
MOST_UPLOADED = 2 << 30
EVERYONE: frozenset[Role] = frozenset()
ANYBODY_SIGNED_IN = frozenset(Role)
OWNER = frozenset({Role.OWNER})
READERS = frozenset({Role.OWNER, Role.DEVELOPER})
LABELLERS = frozenset({Role.OWNER, Role.LABELLER})
TESTSET = "/testsets/{number:number}"


@dataclass(frozen=True)
class RouteSpec:
    """A route: the roles that may use it, the largest body, and the function that answers.

    With ``files``, the form may contain files. With ``document``, a script of our pages asks, and
    every answer is JSON, errors included.
    """

    method: str
    path: str
    roles: frozenset[Role]
    endpoint: Endpoint
    most_bytes: int = SMALL
    files: bool = False
    document: bool = False


ROUTES = (
    RouteSpec("GET", "/sign-in", EVERYONE, sign_in.show),
    RouteSpec("POST", "/sign-in", EVERYONE, sign_in.sign_in, most_bytes=LITTLE),
    RouteSpec("GET", "/enter/{code}", EVERYONE, sign_in.enter),
    RouteSpec("POST", "/sign-out", ANYBODY_SIGNED_IN, sign_in.sign_out),
    RouteSpec("GET", "/", ANYBODY_SIGNED_IN, overview.overview),
    RouteSpec("GET", "/commits/{number:number}", READERS, overview.commit),
    RouteSpec("GET", "/commits/{number:number}/log", OWNER, overview.build_log),
    RouteSpec("GET", "/label", LABELLERS, labelling.show),
    RouteSpec("POST", "/label/take", LABELLERS, labelling.take, document=True),
    RouteSpec("POST", "/label/answer", LABELLERS, labelling.answer, document=True),
    RouteSpec("POST", "/label/undo", LABELLERS, labelling.undo, document=True),
    RouteSpec("POST", "/label/leave", LABELLERS, labelling.leave, document=True),
    RouteSpec("GET", "/label/files/{ticket}", LABELLERS, labelling.file),
    RouteSpec("GET", "/testsets", OWNER, testsets.show),
    RouteSpec("POST", "/testsets", OWNER, testsets.add, MOST_UPLOADED, files=True),
    RouteSpec("POST", f"{TESTSET}/labels", OWNER, testsets.labels, MOST_UPLOADED, files=True),
    RouteSpec("POST", f"{TESTSET}/retire", OWNER, testsets.retire),
    RouteSpec("POST", f"{TESTSET}/release", OWNER, testsets.release),
    RouteSpec("GET", f"{TESTSET}/released", OWNER, testsets.released),
    RouteSpec("GET", "/plan", OWNER, explorer.explore_plan),
)


class NumberConvertor(Convertor[int]):
    """A number in a path, no longer than our numbers get."""

    regex = "[0-9]{1,9}"

    def convert(self, value: str) -> int:
        """Text of a path to a number."""
        return int(value)

    def to_string(self, value: int) -> str:
        """A number to text of a path."""
        return str(value)


register_url_convertor("number", NumberConvertor())


def make_app(site: Site) -> ASGIApp:
    """The site as an ASGI application."""

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        site.start()
        try:
            yield
        finally:
            site.close()

    routes = [
        Route(
            route.path,
            route_endpoint(
                site,
                Guard(route.roles, route.most_bytes, route.files, route.document),
                route.endpoint,
            ),
            methods=[route.method],
        )
        for route in ROUTES
    ]
    static = Mount("/static", StaticFiles(packages=[("easeci.web", "static")]), name="static")
    errors = {404: page_for_http_error(site), 405: page_for_http_error(site)}
    app = Starlette(routes=[*routes, static], exception_handlers=errors, lifespan=life)
    # Outermost, so that every response has them.
    return Headers(app, hosts=site.hosts, secure=site.secure)
