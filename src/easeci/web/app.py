"""The application: every route in one table, with who may ask for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from easeci.service.tokens import Role
from easeci.web import explorer, labelling, overview, sign_in, testsets
from easeci.web.guards import Guard, Headers, page_for_http_error, route_endpoint
from easeci.web.request import SMALL, Endpoint
from easeci.web.site import Site

GIBIBYTE = 1 << 30
MOST_UPLOADED = 2 * GIBIBYTE
EVERYONE: frozenset[Role] = frozenset()
ANYBODY_SIGNED_IN = frozenset(Role)
OWNER = frozenset({Role.OWNER})
READERS = frozenset({Role.OWNER, Role.DEVELOPER})
LABELLERS = frozenset({Role.OWNER, Role.LABELLER})


@dataclass(frozen=True)
class Door:
    """A route: who may ask, how much they may send, and who answers.

    ``document`` says that it answers scripts of our pages, in JSON, errors included.
    """

    method: str
    path: str
    roles: frozenset[Role]
    endpoint: Endpoint
    most_bytes: int = SMALL
    document: bool = False


DOORS = (
    Door("GET", "/sign-in", EVERYONE, sign_in.show),
    Door("POST", "/sign-in", EVERYONE, sign_in.sign_in),
    Door("GET", "/enter/{code}", EVERYONE, sign_in.enter),
    Door("POST", "/sign-out", ANYBODY_SIGNED_IN, sign_in.sign_out),
    Door("GET", "/", ANYBODY_SIGNED_IN, overview.overview),
    Door("GET", "/commits/{number:int}", READERS, overview.commit),
    Door("GET", "/commits/{number:int}/log", OWNER, overview.build_log),
    Door("GET", "/label", LABELLERS, labelling.show),
    Door("POST", "/label/take", LABELLERS, labelling.take, document=True),
    Door("POST", "/label/answer", LABELLERS, labelling.answer, document=True),
    Door("POST", "/label/undo", LABELLERS, labelling.undo, document=True),
    Door("POST", "/label/leave", LABELLERS, labelling.leave, document=True),
    Door("GET", "/label/files/{ticket}", LABELLERS, labelling.file),
    Door("GET", "/testsets", OWNER, testsets.show),
    Door("POST", "/testsets", OWNER, testsets.add, most_bytes=MOST_UPLOADED),
    Door("POST", "/testsets/labels", OWNER, testsets.labels, most_bytes=MOST_UPLOADED),
    Door("POST", "/testsets/retire", OWNER, testsets.retire),
    Door("POST", "/testsets/{number:int}/release", OWNER, testsets.release),
    Door("GET", "/plan", OWNER, explorer.explore_plan),
)


def make_app(site: Site) -> Starlette:
    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        site.start()
        try:
            yield
        finally:
            site.close()

    routes = [
        Route(
            door.path,
            route_endpoint(site, Guard(door.roles, door.most_bytes, door.document), door.endpoint),
            methods=[door.method],
        )
        for door in DOORS
    ]
    static = Mount("/static", StaticFiles(packages=[("easeci.web", "static")]), name="static")
    errors = {404: page_for_http_error(site), 405: page_for_http_error(site)}
    return Starlette(
        routes=[*routes, static],
        middleware=[Middleware(Headers, hosts=site.hosts)],
        exception_handlers=errors,
        lifespan=life,
    )
