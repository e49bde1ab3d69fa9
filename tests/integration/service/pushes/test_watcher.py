"""A watcher that runs on goes on by itself: with ticks, with letters, and with what is labelled."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from easeci.build import fetch
from easeci.build.repository import Repository
from easeci.ledger.signals import Signal
from easeci.service import project
from easeci.service.commits import advance
from easeci.service.commits.answer import RunAnswer
from easeci.service.mail import delivery
from easeci.service.project import open_project
from easeci.service.pushes import watcher
from easeci.service.pushes.dropbox import DropBox
from easeci.service.pushes.hooks import install
from easeci.service.pushes.results import NotTested
from easeci.service.pushes.watcher import Watcher
from easeci.service.testsets.add import Offer, add_testset
from tests.commands import COMMAND
from tests.repositories import Workplace

START = "2026-11-16T00:00:00Z"


class Clock:
    """The time of the record, as a test sets it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = START
        for module in (project, advance, delivery, watcher):
            monkeypatch.setattr(module, "utc_now", lambda: self.now)


class Shared:
    """A bare repository that others may push to, with a watcher that runs on."""

    def __init__(self, folder: Path, **keys: str) -> None:
        self.place = Workplace.make(folder, **keys)
        self.bare = folder / "hosted.git"
        self.place.git(
            "init", "--quiet", "--bare", "--initial-branch=main", "--shared=group", str(self.bare)
        )
        self.place.git("remote", "add", "origin", str(self.bare))
        script = self.place.repository / ".easeci.yml"
        offer = Offer(self.place.examples, labels=self.place.labels, script=script)
        add_testset(open_project(self.bare, create=True), offer)
        install(Repository.find(self.bare), [COMMAND], [])
        (self.bare / "hooks" / "post-receive").unlink()  # the tests hand pushes over themselves
        self.dropbox = DropBox.of(self.bare)
        self.watcher = Watcher.start(self.bare, None, None, unsandboxed=False)

    def push(self, cut: float) -> str:
        commit = self.place.commit_cut(cut)
        self.place.git("push", "--quiet", "origin", "main")
        self.dropbox.drop("main", commit)
        return commit

    def round(self) -> list[str]:
        return [line.rpartition(": ")[2] for line in self.watcher.round(lambda: False)]

    def signal(self, commit: str) -> Signal:
        result = self.dropbox.result(commit)
        assert isinstance(result, RunAnswer)
        return result.row.signal


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_a_signal_is_disclosed_when_its_tick_comes(tmp_path: Path, clock: Clock) -> None:
    """Nothing else happens in the project: only time passes while the watcher runs."""
    shared = Shared(tmp_path, disclose="24h")
    shared.push(0.7)  # adopted as the baseline: its program has seen sealed examples, too
    better = shared.push(0.52)
    assert shared.round() == ["pending", "pending"]
    assert shared.round() == []
    clock.now = "2026-11-16T23:59:59Z"
    assert shared.round() == []
    assert shared.signal(better) is Signal.PENDING
    clock.now = "2026-11-17T00:00:00Z"
    assert sorted(shared.round()) == ["baseline", "pass"]
    assert shared.signal(better) is Signal.PASS
    assert shared.round() == []


def test_a_letter_is_sent_when_it_is_due(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mail server was down when the letter was queued; the watcher tries again, in time."""
    letters = tmp_path / "letters"
    monkeypatch.setenv("EASECI_SMTP_URL", "smtp://127.0.0.1:1")  # nothing listens there
    shared = Shared(tmp_path / "p", email="owner@example.org", steps="2")
    shared.push(0.7)
    shared.push(0.52)
    assert shared.round() == ["baseline", "pass"]
    (message,) = open_project(shared.bare).state.messages
    assert (message.attempts, message.sent) == (1, False)
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{letters}")
    shared.round()
    assert not letters.exists()  # it is not due yet
    clock.now = "2026-11-16T12:00:00Z"
    shared.round()
    assert letters.read_bytes().count(b"\nMessage-ID:") == 1
    shared.round()
    assert letters.read_bytes().count(b"\nMessage-ID:") == 1


def test_a_round_in_which_nothing_is_due_decides_nothing_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deciding reads the whole testset: a watcher must not do that every five seconds."""
    shared = Shared(tmp_path, disclose="24h")
    shared.push(0.7)
    shared.push(0.52)
    for _ in range(2):  # each round has one run on sealed examples
        shared.round()
    monkeypatch.setattr(advance, "verdict_of", lambda *_: pytest.fail("it decided again"))
    monkeypatch.setattr(advance, "ensure_archive", lambda *_: pytest.fail("it archived again"))
    assert shared.round() == []


def test_a_tree_that_no_folder_can_hold_is_a_build_error(tmp_path: Path) -> None:
    """The developer is told so and the entry is gone: it does not wait for ever."""
    shared = Shared(tmp_path)
    shared.push(0.7)
    place = shared.place
    blob = place.git("rev-parse", "HEAD:model.py")
    entries = f"{place.git('ls-tree', 'HEAD')}\n100644 blob {blob}\t{'n' * 300}\n"
    made = subprocess.run(
        ["git", "mktree"],
        cwd=place.repository,
        input=entries,
        capture_output=True,
        text=True,
        check=True,
    )
    commit = place.git("commit-tree", "-p", "HEAD", "-m", "long", made.stdout.strip())
    place.git("push", "--quiet", "origin", f"{commit}:refs/heads/main")
    shared.dropbox.drop("main", commit)
    assert shared.round() == ["baseline", "build error"]
    result = shared.dropbox.result(commit)
    assert isinstance(result, RunAnswer)
    assert result.failure is not None
    assert "a name of more than 255 bytes: 'nnn" in result.failure
    assert not result.charged
    assert shared.round() == []


def test_a_commit_that_is_too_large_is_refused_at_no_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The developer is told so; it is not fetched again in every round, and others go on."""
    shared = Shared(tmp_path)
    shared.push(0.7)
    assert shared.round() == ["baseline"]
    (shared.place.repository / "large").write_bytes(os.urandom(2**18))
    commit = shared.push(0.52)
    with monkeypatch.context() as small:
        small.setattr(fetch, "MOST_PACK_BYTES", 2**17)
        (said,) = shared.round()
    assert "or more than 32 GiB" in said
    result = shared.dropbox.result(commit)
    assert isinstance(result, NotTested)
    assert result.reason == said
    assert shared.round() == []
    assert open_project(shared.bare).commits.get(commit) is None


def test_a_pull_request_is_tested_by_the_watcher(tmp_path: Path) -> None:
    """An entry of a ref that does not contain the commit is refused; so is one with a pattern."""
    shared = Shared(tmp_path, branches="['refs/pull/*/head']")
    shared.push(0.7)
    commit = shared.place.commit_cut(0.52)
    shared.place.git("push", "--quiet", "origin", "HEAD:refs/pull/7/head")
    shared.dropbox.drop("refs/pull/8/head", commit)
    shared.dropbox.drop("refs/pull/*", commit)
    shared.dropbox.drop("refs/pull/7/head", commit)
    assert shared.round() == ["baseline", "not on that branch", "it does not name a branch", "pass"]
    other = shared.place.commit_cut(0.6)
    shared.place.git("push", "--quiet", "origin", "HEAD:refs/changes/1")
    shared.dropbox.drop("refs/changes/1", other)
    assert shared.round() == ["branch refs/changes/1 spends no steps"]
