"""Every route, asked for by nobody, with a wrong session, and by each role; and what guards it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from easeci.web.app import ROUTES
from easeci.web.guards import HEADERS
from tests.repositories import Workplace
from tests.sites import ROLES, Running, Visit, serving, token, visitor, waiting_project
from tests.waiting import PATIENCE

TAB = "0123456789abcdef"
VISITORS = ("nobody", "wrong", *ROLES)
SIGN_IN, DENIED, OPEN = "to sign-in", "denied", "open"
TABLE: dict[tuple[str, str], tuple[str, str, str, str, str]] = {
    # route: nobody, a wrong session, owner, labeller, developer
    ("GET", "/sign-in"): (OPEN, OPEN, OPEN, OPEN, OPEN),
    ("POST", "/sign-in"): (OPEN, OPEN, OPEN, OPEN, OPEN),
    ("GET", "/enter/{code}"): (OPEN, OPEN, OPEN, OPEN, OPEN),
    ("POST", "/sign-out"): (DENIED, DENIED, OPEN, OPEN, OPEN),
    ("GET", "/"): (SIGN_IN, SIGN_IN, OPEN, OPEN, OPEN),
    ("GET", "/commits/{number:number}"): (SIGN_IN, SIGN_IN, OPEN, DENIED, OPEN),
    ("GET", "/commits/{number:number}/log"): (SIGN_IN, SIGN_IN, OPEN, DENIED, DENIED),
    ("GET", "/label"): (SIGN_IN, SIGN_IN, OPEN, OPEN, DENIED),
    ("POST", "/label/take"): (DENIED, DENIED, OPEN, OPEN, DENIED),
    ("POST", "/label/answer"): (DENIED, DENIED, OPEN, OPEN, DENIED),
    ("POST", "/label/undo"): (DENIED, DENIED, OPEN, OPEN, DENIED),
    ("POST", "/label/leave"): (DENIED, DENIED, OPEN, OPEN, DENIED),
    ("GET", "/label/files/{ticket}"): (SIGN_IN, SIGN_IN, OPEN, OPEN, DENIED),
    ("GET", "/testsets"): (SIGN_IN, SIGN_IN, OPEN, DENIED, DENIED),
    ("POST", "/testsets"): (DENIED, DENIED, OPEN, DENIED, DENIED),
    ("POST", "/testsets/{number:number}/labels"): (DENIED, DENIED, OPEN, DENIED, DENIED),
    ("POST", "/testsets/{number:number}/retire"): (DENIED, DENIED, OPEN, DENIED, DENIED),
    ("POST", "/testsets/{number:number}/release"): (DENIED, DENIED, OPEN, DENIED, DENIED),
    ("GET", "/testsets/{number:number}/released"): (SIGN_IN, SIGN_IN, OPEN, DENIED, DENIED),
    ("GET", "/plan"): (SIGN_IN, SIGN_IN, OPEN, DENIED, DENIED),
}
STATUS = {
    # What the open ones answer, where it is not a page: the fields that are sent here ask for
    # nothing, and every visitor who may use the route is told so.
    ("POST", "/sign-in"): 401,
    ("GET", "/enter/{code}"): 401,
    ("POST", "/sign-out"): 303,
    ("POST", "/label/answer"): 400,
    ("GET", "/label/files/{ticket}"): 400,
    ("POST", "/testsets"): 400,
    ("POST", "/testsets/{number:number}/labels"): 400,
    ("POST", "/testsets/{number:number}/retire"): 400,
    ("POST", "/testsets/{number:number}/release"): 400,
    ("GET", "/testsets/{number:number}/released"): 404,
}


@dataclass
class Open:
    """A running server on a project that waits for labels, and somebody of each kind."""

    place: Workplace
    running: Running

    def visit(self, kind: str) -> Visit:
        if kind in ROLES:
            return visitor(self.running, self.place.repository, kind)
        visit = Visit(self.running.address)
        if kind == "wrong":
            port = httpx.URL(self.running.address).port
            visit.client.cookies.set(f"easeci-{port}", "x" * 43)
        return visit


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    place = waiting_project(tmp_path_factory.mktemp("routes"))
    with serving(place.repository) as running:
        yield Open(place, running)


@pytest.fixture(scope="module")
def visits(site: Open) -> dict[str, Visit]:
    return {kind: site.visit(kind) for kind in VISITORS}


def concrete(path: str) -> str:
    return (
        re.sub(r"\{number:number\}", "2", path).replace("{code}", "x").replace("{ticket}", "x" * 16)
    )


def ask(visit: Visit, method: str, path: str) -> httpx.Response:
    if method == "POST":
        return visit.post(concrete(path), by=visit.name, tab=TAB)
    return visit.get(concrete(path))


def access(answer: httpx.Response) -> str:
    if answer.status_code == 303 and answer.headers["location"].startswith("/sign-in?next="):
        return SIGN_IN
    refused = "not signed in" in answer.text or "token" in answer.text
    return DENIED if answer.status_code in (401, 403) and refused else OPEN


def test_the_table_has_every_route() -> None:
    assert set(TABLE) == {(route.method, route.path) for route in ROUTES}


@pytest.mark.parametrize("kind", VISITORS)
@pytest.mark.parametrize(("method", "path"), sorted(TABLE))
def test_exactly_the_allowed_are_let_in(
    site: Open, visits: dict[str, Visit], method: str, path: str, kind: str
) -> None:
    visit = site.visit(kind) if path == "/sign-out" else visits[kind]
    answer = ask(visit, method, path)
    expected = TABLE[method, path][VISITORS.index(kind)]
    if path in ("/sign-in", "/enter/{code}"):
        signed_in = kind in ROLES and method == "GET" and path == "/sign-in"
        assert answer.status_code == (303 if signed_in else STATUS.get((method, path), 200))
        return
    assert access(answer) == expected, (answer.status_code, answer.text[-500:])
    if expected == OPEN and (kind, path) == ("labeller", "/"):
        assert answer.headers["location"] == "/label"
    elif expected == OPEN:
        assert answer.status_code == STATUS.get((method, path), 200), answer.text[-500:]
    else:
        assert answer.status_code in (303, 401, 403)


POSTS = sorted(path for method, path in TABLE if method == "POST")
HOST = "127.0.0.1"
FORGED = {
    "a form of another site": {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    "another port or subdomain": {"Sec-Fetch-Site": "same-site", "Origin": f"http://{HOST}:1"},
    "a lie about the origin": {"Sec-Fetch-Site": "cross-site", "Origin": "{own}"},
    "an unknown relation": {"Sec-Fetch-Site": "related"},
    "an old browser, another site": {"Origin": "https://evil.example"},
    "an old browser, another port": {"Origin": f"http://{HOST}:1"},
    "an old browser, another subdomain": {"Origin": "http://other.localhost"},
    "an old browser, another scheme": {"Origin": "file://"},
    "an old browser, a sandboxed frame": {"Origin": "null"},
    "no header at all": {},
}
OWN = {
    "our page": {"Sec-Fetch-Site": "same-origin", "Origin": "{own}"},
    "our page behind a proxy": {"Sec-Fetch-Site": "same-origin", "Origin": "https://proxy.example"},
    "the user": {"Sec-Fetch-Site": "none"},
    "our page in an old browser": {"Origin": "{own}"},
}
REFUSED = "does not come from a page of this server"


def sent(
    site: Open, visit: Visit, path: str, headers: dict[str, str], text: str = "x"
) -> httpx.Response:
    """A form with the visitor's cookie and no other headers than these; ``text`` is a token."""
    own = {name: value.format(own=site.running.address) for name, value in headers.items()}
    fields = {"by": visit.name, "tab": TAB, "token": text}
    with httpx.Client(base_url=site.running.address, cookies=visit.client.cookies) as client:
        return client.post(concrete(path), data=fields, headers=own, timeout=PATIENCE)


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("path", POSTS)
def test_forged_requests_are_refused(
    site: Open, visits: dict[str, Visit], path: str, forged: str
) -> None:
    """No page of another origin can act with a visitor's cookie, on any route."""
    answer = sent(site, visits["owner"], path, FORGED[forged])
    assert answer.status_code == 403
    assert REFUSED in answer.text
    assert visits["owner"].get("/").status_code == 200, "still signed in"


@pytest.mark.parametrize("own", OWN)
@pytest.mark.parametrize("path", POSTS)
def test_our_own_forms_are_accepted(
    site: Open, visits: dict[str, Visit], path: str, own: str
) -> None:
    visit = site.visit("owner") if path == "/sign-out" else visits["owner"]
    answer = sent(site, visit, path, OWN[own], token(site.place.repository, "owner"))
    expected = 303 if path == "/sign-in" else STATUS.get(("POST", path), 200)
    assert answer.status_code == expected
    assert REFUSED not in answer.text


@pytest.mark.parametrize("path", POSTS)
def test_a_program_without_a_cookie_needs_no_headers(
    site: Open, visits: dict[str, Visit], path: str
) -> None:
    """It can sign in, and is refused everything else because it has not."""
    answer = sent(site, visits["nobody"], path, {})
    assert answer.status_code == 401
    assert REFUSED not in answer.text


@pytest.mark.parametrize("kind", VISITORS)
def test_every_answer_has_the_headers(visits: dict[str, Visit], kind: str) -> None:
    paths = [concrete(path) for method, path in TABLE if method == "GET"]
    for path in (*paths, "/static/style.css", "/static/label.js", "/nowhere", "/static/nowhere"):
        answer = visits[kind].get(path)
        for name, value in HEADERS.items():
            expected = value
            if path.startswith("/label/files") and answer.status_code == 200:
                continue
            assert answer.headers[name] == expected, (path, name)
        assert "server" not in answer.headers


def test_pages_hold_nothing_that_the_policy_forbids(visits: dict[str, Visit]) -> None:
    for path in ("/", "/testsets", "/plan", "/label", "/commits/2", "/sign-in"):
        page = visits["owner"].get(path).text
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", page), path
        assert not re.search(r"<script(?! src=\"/static/[a-z.]+\" defer></script>)", page), path
        assert not re.search(r"(?:src|href|action)=\"(?:[a-z]+:)?//", page), path


def test_static_files_are_ours_and_not_the_projects(site: Open) -> None:
    visit = site.visit("nobody")
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/static/"):
        assert visit.get(path).status_code == 404, path


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_not_answered(visits: dict[str, Visit], method: str) -> None:
    for path in ("/", "/testsets", "/label/take", "/sign-in"):
        assert visits["owner"].client.request(method, path).status_code == 405


def test_only_our_own_names_are_answered(site: Open) -> None:
    """Another name that leads here could belong to anybody (DNS rebinding)."""
    visit = site.visit("nobody")
    for name in ("evil.example", "127.0.0.1.evil.example", "", "[::2]", "0.0.0.0"):
        assert visit.client.get("/sign-in", headers={"Host": name}).status_code == 421, name
    for name in ("localhost", "127.0.0.1:1", "[::1]:8000"):
        assert visit.client.get("/sign-in", headers={"Host": name}).status_code == 200, name


def test_a_session_ends_with_its_token_and_with_signing_out(site: Open, tmp_path: Path) -> None:
    visit = visitor(site.running, site.place.repository, "developer", "leaving")
    assert visit.get("/").status_code == 200
    site.place.easeci("token", "remove", "leaving", code=0)
    assert visit.get("/").status_code == 303
    other = visitor(site.running, site.place.repository, "developer")
    kept = dict(other.client.cookies)
    assert other.post("/sign-out").status_code == 303
    again = Visit(site.running.address)
    again.client.cookies.update(kept)
    assert again.get("/").status_code == 303
