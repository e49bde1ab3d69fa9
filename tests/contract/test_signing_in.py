"""Signing in, and what a server says of itself before anybody does."""

from __future__ import annotations

import getpass
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from easeci.service.access.tokens import SESSION_HOURS
from easeci.web.throttle import MOST_FAILURES
from tests.commands import easeci
from tests.repositories import Workplace
from tests.sites import Here, Running, Visit, serving, serving_here, token


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    place = Workplace.make(tmp_path_factory.mktemp("sign-in"))
    place.commit_cut(0.6)
    return place


@pytest.fixture
def running(place: Workplace) -> Iterator[Running]:
    with serving(place.repository) as running:
        yield running


@pytest.fixture
def here(place: Workplace) -> Iterator[Here]:
    with serving_here(place.repository) as here:
        yield here


def test_each_role_lands_on_its_own_page(here: Here, place: Workplace) -> None:
    for role, page in (("owner", "/"), ("developer", "/"), ("labeller", "/label")):
        answer = Visit(here.address).sign_in(token(place.repository, role))
        assert (answer.status_code, answer.headers["location"]) == (303, page)
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        assert f"max-age={SESSION_HOURS * 3600}" in cookie
        assert "secure" not in cookie  # on loopback there is no https


def test_one_goes_where_one_wanted_to_but_never_elsewhere(here: Here, place: Workplace) -> None:
    text = token(place.repository, "owner")
    for wanted, reached in (
        ("/testsets", "/testsets"),
        ("/plan?steps=4", "/plan?steps=4"),
        ("//evil.example", "/"),
        ("https://evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/\r\nSet-Cookie: a=b", "/"),
        ("", "/"),
    ):
        visit = Visit(here.address)
        answer = visit.client.post("/sign-in", data={"token": text, "next": wanted})
        assert answer.status_code == 303
        assert answer.headers["location"] == reached
        again = visit.client.get("/sign-in", params={"next": wanted})
        assert again.headers["location"] == reached


def test_a_program_signs_in_and_then_says_where_its_requests_come_from(
    here: Here, place: Workplace
) -> None:
    """A browser says so by itself. Without a session there is nothing to forge."""
    text = token(place.repository, "owner")
    with httpx.Client(base_url=here.address) as client:
        assert client.post("/sign-in", data={"token": text}).status_code == 303
        assert client.post("/sign-out").status_code == 403
        own = {"Origin": here.address}
        assert client.post("/sign-out", headers=own).status_code == 303


def test_the_link_that_was_printed_works_once(running: Running) -> None:
    assert running.link is not None
    first, second = Visit(running.address), Visit(running.address)
    assert first.get(running.link).headers["location"] == "/"
    assert first.get("/testsets").status_code == 200
    assert second.get(running.link).status_code == 401
    assert second.get("/testsets").status_code == 303


def test_a_session_by_the_link_can_be_ended(running: Running, place: Workplace) -> None:
    """No token opened that session, so none can be removed to end it."""
    assert running.link is not None
    visit = Visit(running.address)
    visit.get(running.link)
    assert visit.get("/testsets").status_code == 200
    place.easeci("token", "sign-out", code=0)
    assert visit.get("/testsets").status_code == 303


def test_no_labeller_has_the_name_of_the_account_that_serves(place: Workplace) -> None:
    """The owner labels under that name; a labeller of that name could take the answers back."""
    done = place.easeci("token", "add", "--role", "labeller", "--name", getpass.getuser(), code=2)
    assert "is the owner's name here" in done.stderr


def test_after_too_many_wrong_tokens_one_has_to_wait(here: Here, place: Workplace) -> None:
    visit = Visit(here.address)
    text = token(place.repository, "owner")
    for _ in range(MOST_FAILURES):
        answer = visit.client.post("/sign-in", data={"token": text + "x"})
        assert answer.status_code == 401
        assert "There is no such token" in answer.text
        assert text not in answer.text
    answer = visit.client.post("/sign-in", data={"token": text + "x"})
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 61
    assert visit.get("/enter/guess").status_code == 401  # nobody can guess that: nobody must wait
    assert visit.client.post("/sign-in", data={"token": text}).status_code == 429


def test_anything_but_loopback_needs_tokens_and_says_so(tmp_path: Path) -> None:
    place = Workplace.make(tmp_path)
    place.commit_cut(0.6)
    refused = easeci("serve", "--host", "0.0.0.0", "--port", "0", folder=place.repository)
    assert refused.returncode == 2
    assert "needs tokens, and there are none" in refused.stderr
    assert "easeci token add --role owner" in refused.stderr
    text = token(place.repository, "owner")
    with serving(place.repository, "--host", "0.0.0.0") as running:
        assert running.link is None
        assert "can be reached from other machines" in running.said
        assert "Nothing is encrypted" in running.said
        port = httpx.URL(running.address).port
        visit = Visit(f"http://127.0.0.1:{port}")
        assert visit.sign_in(text).status_code == 303


def test_behind_a_proxy_only_its_name_is_answered_and_cookies_are_for_https(
    place: Workplace,
) -> None:
    text = token(place.repository, "owner")
    with serving(place.repository, "--url", "https://ci.example.org/") as running:
        assert running.address == "https://ci.example.org"
        port = int(listening_port(running))
        visit = Visit(f"http://127.0.0.1:{port}")
        headers = {"Host": "ci.example.org", "Origin": "https://ci.example.org"}
        answer = visit.client.post("/sign-in", data={"token": text}, headers=headers)
        assert answer.status_code == 303
        assert "secure" in answer.headers["set-cookie"].lower()
        refused = visit.client.get("/sign-in", headers={"Host": "other.example.org"})
        assert refused.status_code == 421


def listening_port(running: Running) -> str:
    """Of a server that tells another address than its own."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and _owns(running.process.pid, fields[9]):
            return str(int(fields[1].split(":")[1], 16))
    raise AssertionError("it does not listen")


def _owns(pid: int, inode: str) -> bool:
    files = Path(f"/proc/{pid}/fd").iterdir()
    return any(f"socket:[{inode}]" == str(path.readlink()) for path in files if path.is_symlink())


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--url", "ci.example.org"], 2, "not the address of a site"),
        (["--url", "https://ci.example.org/pages"], 2, "not the address of a site"),
        (["--certificate", "cert.pem"], 2, "both a certificate and its key"),
        (["--certificate", "none.pem", "--key", "none.pem"], 2, "there is no file none.pem"),
        (["--host", "256.1.1.1"], 6, "cannot be listened on"),
        (["--port", "70000"], 2, "--port"),
        (["--certificate", "model.py", "--key", "model.py"], 2, "cannot be used for https"),
    ],
)
def test_mistakes_are_said(place: Workplace, arguments: list[str], code: int, words: str) -> None:
    token(place.repository, "owner")
    done = place.easeci("serve", *arguments)
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_said(place: Workplace) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = place.easeci("serve", "--port", port)
    assert done.returncode == 6
    assert "in use" in done.stderr
    assert "--port" in done.stderr


def test_without_the_extra_everything_else_works(place: Workplace, tmp_path: Path) -> None:
    """As on a machine with easeci alone: the server's libraries can't be imported there."""
    program = (
        "import sys\n"
        "for name in ('starlette', 'uvicorn', 'jinja2', 'multipart', 'python_multipart'):\n"
        "    sys.modules[name] = None\n"
        "from easeci.cli.main import run\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    for arguments, code in ((["serve"], 2), (["token", "list"], 0), (["--help"], 0)):
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            cwd=place.repository,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        if arguments == ["serve"]:
            assert "pip install 'easeci[server]'" in done.stderr


def test_a_server_ends_quietly(place: Workplace) -> None:
    with serving(place.repository) as running:
        Visit(running.address).get("/sign-in")
        errors = running.stop()
    assert errors == ""
    assert running.process.returncode in (0, 130)
