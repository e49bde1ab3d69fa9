"""The whole story: a push, a wait, labels in a terminal, a signal, an alarm by mail, a new testset."""

from __future__ import annotations

import re
from email.message import EmailMessage
from pathlib import Path
from urllib.parse import quote

import pytest

from easeci.service.project import open_project
from tests.commands import easeci
from tests.journey.test_hooks import Hosted
from tests.mail import PASSWORD, USER, Authority, MailServer
from tests.repositories import write_examples
from tests.terminals import Terminal

KEYS = {"classes": "[low, high]", "email": "owner@example.org", "steps": "1"}


def label_to_the_end(folder: Path) -> int:
    """Answer what is shown until nothing more is wanted; how many answers that took."""
    terminal, drawn = Terminal("label", "--by", "ada", folder=folder), 1
    while "wanted." not in (shown := terminal.screen(drawn)):
        (x,) = re.findall(r"^0\.[0-9]+$", shown, re.MULTILINE)
        terminal.send("1" if float(x) < 0.5 else "2")
        drawn += 1
    assert "Answered now: 1 of the commits" in terminal.closed()
    return drawn - 1


def rows(examples: Path) -> list[str]:
    """The rows of a file of examples."""
    return examples.read_text().splitlines()[1:]


def words(email: EmailMessage) -> str:
    body = email.get_body(("plain",))
    assert body is not None
    return str(body.get_content())


@pytest.mark.long
def test_the_whole_story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = Authority(tmp_path)
    with MailServer(tls=authority.context(), login=True) as server:
        monkeypatch.setenv(
            "EASECI_SMTP_URL",
            f"smtp+starttls://{quote(USER, '')}:{quote(PASSWORD, '')}@127.0.0.1:{server.port}"
            f"?ca={authority.file}",
        )
        hosted = Hosted.make(tmp_path / "life", labelled=False, first=0.7, **KEYS)
        place = hosted.place
        sample = tmp_path / "sample"
        hosted.easeci("testset", "sample", "--to", str(sample))
        place.commit_cut(0.52)
        assert "PENDING" in hosted.push("main")
        assert server.received == []
        assert 10 <= label_to_the_end(hosted.bare) <= 60
        log = hosted.easeci("log")
        assert "PASS" in log
        (alarm,) = server.acknowledged
        assert server.recipients == ["owner@example.org"]
        assert "new testset" in alarm.email["Subject"]
        head = open_project(hosted.bare).state.messages[0].head
        assert head.code in words(alarm.email).replace("\n", "")
        place.commit_cut(0.51)
        assert "a new testset is needed" in hosted.push("main")
        out = tmp_path / "released"
        assert "labels are in" in hosted.easeci("testset", "release", "--to", str(out))
        labels = (out / "labels.csv").read_text().splitlines()
        assert 10 <= len(labels) - 1 <= 60
        written = [*rows(out / "examples.csv"), *rows(sample / "examples.csv")]
        assert sorted(written) == sorted(rows(place.examples))
        write_examples(place.examples, place.labels, start=9000)
        script = ["--script", str(place.repository / ".easeci.yml")]
        added = hosted.easeci(
            "testset", "add", str(place.examples), "--labels", str(place.labels), *script
        )
        assert "was evaluated on it" in added
        done = easeci("run", "main", folder=hosted.bare)
        assert done.returncode == 1, done.stdout + done.stderr
        assert len(server.acknowledged) == 2  # one step only: used up again
