"""Letters arrive, whatever happens on the way, and only once where that can be known."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from easeci.service.project import open_project
from tests.mail import Fault, MailServer, free_port
from tests.repositories import Workplace

KILLED_BEFORE_SENDING = """
import os, signal, sys
from easeci.notify.smtp import SmtpServer
SmtpServer.send = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from easeci.cli.main import run
sys.exit(run(["run"]))
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """A project with one step left, so that the next answer gives the alarm."""
    port = free_port()
    monkeypatch.setenv("EASECI_SMTP_URL", f"smtp://127.0.0.1:{port}")
    place = Workplace.make(tmp_path, steps="1", email="owner@example.org")
    (tmp_path / "port").write_text(str(port))
    place.commit_cut(0.7)
    place.add_testset()
    place.easeci("run", code=0)
    place.commit_cut(0.52)
    return place


def server_of(place: Workplace) -> MailServer:
    return MailServer(port=int((place.folder / "port").read_text()))


def letters(place: Workplace) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(place.easeci("outbox", "--json", code=0).stdout)
    return found


def test_a_server_that_is_down_at_first(place: Workplace) -> None:
    """The command ends as ever, and the letter waits."""
    assert "PASS" in place.easeci("run", code=0).stdout
    (letter,) = letters(place)
    assert (letter["outcome"], letter["attempts"]) == ("failed", 1)
    place.easeci("outbox", "--send", code=0)
    assert letters(place)[0]["attempts"] == 2
    with server_of(place) as server:
        assert "sent" in place.easeci("outbox", "--send", code=0).stdout
        place.easeci("outbox", "--send", code=0)
        place.easeci("run", code=0)
        assert len(server.acknowledged) == 1


@pytest.mark.long
def test_not_before_its_time(place: Workplace) -> None:
    """Between attempts there is a wait; a command in between does not try again."""
    place.easeci("run", code=0)
    with server_of(place) as server:
        place.easeci("run", code=0)
        assert server.received == []
        assert letters(place)[0]["attempts"] == 1


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault.DROP_AT_MAIL, marks=pytest.mark.long),
        Fault.DROP_IN_DATA,
        pytest.param(Fault.GREYLIST, marks=pytest.mark.long),
    ],
)
def test_a_dialogue_that_breaks_is_begun_again(place: Workplace, fault: Fault) -> None:
    with server_of(place) as server:
        server.faults.append(fault)
        place.easeci("run", code=0)
        assert letters(place)[0]["outcome"] == "failed"
        place.easeci("outbox", "--send", code=0)
        assert len(server.acknowledged) == 1


def test_a_letter_that_may_have_arrived_comes_again_with_the_same_id(place: Workplace) -> None:
    """A receiver drops what it has; it can't make up what it has not."""
    with server_of(place) as server:
        server.faults.append(Fault.DROP_AFTER_DOT)
        place.easeci("run", code=0)
        place.easeci("outbox", "--send", code=0)
        assert len(server.acknowledged) == 1
        assert len({message.email["Message-ID"] for message in server.received}) == 1


def test_a_process_killed_between_commit_and_send(place: Workplace) -> None:
    """The next command sends what that one had queued, once."""
    with server_of(place) as server:
        killed = subprocess.run([sys.executable, "-c", KILLED_BEFORE_SENDING], cwd=place.repository)
        assert killed.returncode == -9
        (message,) = open_project(place.repository).state.messages
        assert message.attempts == 0
        place.easeci("run", code=0)
        assert len(server.acknowledged) == 1
        place.easeci("run", code=0)
        assert len(server.received) == 1


@pytest.mark.long
def test_a_refused_letter_is_kept_and_tried_by_hand_only(place: Workplace) -> None:
    with server_of(place) as server:
        server.faults.append(Fault.REFUSE_RECIPIENT)
        place.easeci("run", code=0)
        assert letters(place)[0]["outcome"] == "refused"
        place.easeci("run", code=0)
        assert server.acknowledged == []
        place.easeci("outbox", "--send", code=0)
        assert len(server.acknowledged) == 1
