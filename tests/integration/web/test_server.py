"""The server: who reaches it, how many at once, and what it says of mistakes."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.commands import easeci
from tests.integration.web.busy import GET, MOST, Busy
from tests.repositories import Workplace
from tests.sites import (
    Running,
    Visit,
    serving,
    token,
)
from tests.waiting import wait_until


def test_the_number_of_connections_is_limited(busy: Busy) -> None:
    """While all of them are at work, further visitors are told to come later."""
    with busy.held_up() as held_up, ExitStack() as lines:
        for _ in range(MOST - 1):
            lines.enter_context(busy.connected()).sendall(GET)
        held_up.wait_for(MOST - 1)
        assert busy.owner.get("/").status_code == 503
        held_up.go_on.set()
    wait_until(lambda: busy.owner.get("/").status_code == 200)


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
        plain = {"Host": "ci.example.org", "X-Forwarded-Proto": "http"}
        redirected = visit.client.get("/sign-in/", headers=plain)
        assert redirected.headers["location"] == "https://ci.example.org/sign-in"


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
        (["--proxy", "proxy.example.org"], 2, "neither an address nor a network"),
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
