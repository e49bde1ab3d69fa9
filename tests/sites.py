"""The real server in a process of its own, and those who visit it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from easeci.service.access.tokens import add_token, sign_in
from easeci.service.project import open_project
from easeci.web.served_project import ServedProject
from easeci.web.server import Listening, Server
from easeci.web.site import Site
from tests.commands import start_easeci
from tests.repositories import Workplace, copy_of
from tests.waiting import PATIENCE

ROLES = ("owner", "labeller", "developer")


@dataclass
class Running:
    """A server that was started in a repository."""

    process: subprocess.Popen[str]
    address: str
    link: str | None
    said: str

    def kill(self) -> None:
        """As if the power went."""
        self.process.kill()
        self.process.communicate()

    def stop(self) -> str:
        """As Ctrl-C does; what it wrote as an error meanwhile."""
        self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=PATIENCE)[1]


def start_server(folder: Path, *arguments: str) -> Running:
    """Start `easeci serve` on a free port, and wait until it listens."""
    process = start_easeci("serve", "--port", "0", *arguments, folder=folder)
    assert process.stdout is not None
    said = ""
    while "Ctrl-C" not in said:
        line = process.stdout.readline()
        if not line:
            raise AssertionError(said + process.communicate()[1])
        said += line
    address = re.search(r" at (\S+)", said)
    link = re.search(r"^(\S+/enter/\S+)$", said, re.MULTILINE)
    assert address is not None
    return Running(process, address.group(1), None if link is None else link.group(1), said)


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Running]:
    """A server in a process of its own, stopped at the end."""
    running = start_server(folder, *arguments)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            errors = running.stop()
            assert "unexpected" not in errors, errors


@dataclass
class Here:
    """A server in a thread of this process: for tests that look behind its pages."""

    site: Site
    address: str


@contextmanager
def serving_here(folder: Path, **listening: Any) -> Iterator[Here]:
    """A server in a thread of this process, stopped at the end."""
    bound = Server.bind(ServedProject(folder), Listening(port=0, **listening), "ada")
    server = bound.runner()
    thread = threading.Thread(target=server.run, args=([bound.socket],))
    thread.start()
    try:
        yield Here(bound.site, f"http://127.0.0.1:{bound.socket.getsockname()[1]}")
    finally:
        server.should_exit = True
        thread.join(PATIENCE)


@contextmanager
def held(place: Workplace) -> Iterator[None]:
    """Another command has the project for itself."""
    begun, end = threading.Event(), threading.Event()

    def hold() -> None:
        with open_project(place.repository).exclusive():
            begun.set()
            assert end.wait(PATIENCE)

    thread = threading.Thread(target=hold)
    thread.start()
    assert begun.wait(PATIENCE)
    try:
        yield
    finally:
        end.set()
        thread.join()


def token(folder: Path, role: str, name: str | None = None) -> str:
    """A new token's text."""
    return add_token(open_project(folder, create=True), role, name).text


@dataclass
class Visit:
    """Somebody's browser, without a screen. Its requests come from our own pages."""

    address: str
    name: str = ""
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        # A connection for each request: nothing stays open that somebody would have to close.
        alone = httpx.Limits(max_keepalive_connections=0)
        own = {"Sec-Fetch-Site": "same-origin"}
        self.client = httpx.Client(
            base_url=self.address, timeout=PATIENCE, limits=alone, headers=own
        )

    def sign_in(self, text: str) -> httpx.Response:
        """Sign in with a token, as the form does."""
        return self.client.post("/sign-in", data={"token": text})

    def get(self, path: str) -> httpx.Response:
        """Load a page."""
        return self.client.get(path)

    def post(self, path: str, files: Any = None, **fields: str) -> httpx.Response:
        """Send a form, and return the first answer."""
        return self.client.post(path, data=fields, files=files)

    def send(self, path: str, files: Any = None, **fields: str) -> httpx.Response:
        """A form as a browser sends it: led on to another page, it loads that."""
        answer = self.post(path, files=files, **fields)
        return self.get(answer.headers["location"]) if answer.status_code == 303 else answer

    def label(self, path: str, tab: str, **fields: str) -> dict[str, Any]:
        """One of the labelling page's own requests."""
        answer = self.post(f"/label/{path}", by=self.name, tab=tab, **fields)
        assert answer.status_code == 200, answer.text
        document: dict[str, Any] = json.loads(answer.text)
        return document


def visitor(running: Running | Here, folder: Path, role: str, name: str | None = None) -> Visit:
    """Somebody of that role with a session of their own; how one gets it is tested elsewhere."""
    project = open_project(folder, create=True)
    made = add_token(project, role, name)
    session = sign_in(project, made.text)
    assert session is not None
    visit = Visit(running.address, made.name)
    visit.client.cookies.set(f"easeci-{visit.client.base_url.port}", session)
    return visit


def waiting_project(folder: Path, **keys: str) -> Workplace:
    """A project whose second commit waits for labels, of which there are none."""
    return copy_of(_waiting, folder, **keys)


def _waiting(folder: Path, **keys: str) -> Workplace:
    place = Workplace.make(folder, **keys)
    place.commit_cut(0.7, "the first model")
    place.add_testset("--allow-smaller", labelled=False)
    place.easeci("run", code=0)
    place.commit_cut(0.52, "a better model")
    place.easeci("run", code=3)
    return place
