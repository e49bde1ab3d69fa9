"""Tries are counted across watchers that die; failures from outside only make the next one wait."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from easeci.errors import InfrastructureError
from easeci.service.commits.answer import RunAnswer
from easeci.service.commits.submit import RunOptions, run
from easeci.service.project import Project, open_project
from easeci.service.pushes import watcher
from easeci.service.pushes.attempts import (
    APART_SECONDS,
    LONGEST_WAIT,
    MOST_TRIES,
    Attempts,
    TryCount,
)
from easeci.service.pushes.dropbox import DropBox
from easeci.views.alarms import AlarmKind
from easeci.views.status import status
from tests.integration.service.pushes.test_watcher import Shared

COMMIT, OTHER = "a" * 40, "b" * 40


@pytest.fixture
def attempts(tmp_path: Path) -> Attempts:
    return Attempts(tmp_path / "private" / "attempts")


def age(attempts: Attempts, commit: str, seconds: float = APART_SECONDS) -> None:
    """Let the time pass that must lie between two tries."""
    path = attempts.folder / commit
    at = path.stat().st_mtime - seconds
    os.utime(path, (at, at))


def die(attempts: Attempts, commit: str) -> None:
    """Begin, and come to no end."""
    with attempts.record(commit) as record:
        assert record is not None
        assert record.is_due
        record.begin()


def test_a_commit_is_set_aside_after_three_tries(attempts: Attempts) -> None:
    """They lie apart; others are not concerned; the owner can let it be tried again."""
    for _ in range(MOST_TRIES):
        die(attempts, COMMIT)
        with attempts.record(COMMIT) as record:
            assert record is not None
            assert not record.is_due
        age(attempts, COMMIT)
    die(attempts, OTHER)
    with attempts.record(COMMIT) as record:
        assert record is not None
        assert record.count.is_set_aside
        assert not record.is_due
        assert attempts.set_aside() == []  # while somebody is at it
    assert attempts.set_aside() == [COMMIT]
    assert attempts.retry() == [COMMIT]
    assert attempts.set_aside() == []
    die(attempts, COMMIT)


def test_a_try_that_ends_leaves_nothing(attempts: Attempts) -> None:
    die(attempts, COMMIT)
    age(attempts, COMMIT)
    with attempts.record(COMMIT) as record:
        assert record is not None
        record.begin()
        record.remove()
    assert list(attempts.folder.iterdir()) == []


def test_failures_from_outside_never_set_aside_and_make_the_next_one_wait(
    attempts: Attempts,
) -> None:
    """Three in a row come at once, then ever later; the owner can let it be tried at once."""
    waits = []
    for number in range(12):
        with attempts.record(COMMIT) as record:
            assert record is not None
            assert record.count == TryCount(0, number)
            assert record.is_due
            record.begin()
            record.fail_outside()
        with attempts.record(COMMIT) as record:
            assert record is not None
            wait = record.count.wait_seconds
            assert record.is_due == (not wait)
        waits.append(wait / 60)
        age(attempts, COMMIT, wait)
        assert attempts.postponed() == ([COMMIT] if number >= 2 else [])
    assert waits == [0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
    assert LONGEST_WAIT.total_seconds() == 60 * waits[-1]
    assert attempts.set_aside() == []
    assert attempts.retry() == [COMMIT]
    for _ in range(MOST_TRIES):
        die(attempts, COMMIT)
        age(attempts, COMMIT)
    assert attempts.set_aside() == [COMMIT]


def test_failures_from_outside_and_deaths_are_counted_apart(attempts: Attempts) -> None:
    for number in range(2):
        die(attempts, COMMIT)
        age(attempts, COMMIT)
        with attempts.record(COMMIT) as record:
            assert record is not None
            assert record.count == TryCount(number + 1, number)
            record.begin()
            record.fail_outside()
            age(attempts, COMMIT)
    assert attempts.postponed() == attempts.set_aside() == []


def test_two_watchers_never_work_on_the_same_commit(attempts: Attempts) -> None:
    with attempts.record(COMMIT) as first, attempts.record(COMMIT) as second:
        assert first is not None
        assert second is None


def test_a_clock_that_was_put_back_makes_nobody_wait(attempts: Attempts) -> None:
    die(attempts, COMMIT)
    os.utime(attempts.folder / COMMIT, (1e10, 1e10))
    with attempts.record(COMMIT) as record:
        assert record is not None
        assert record.is_due


def test_only_the_owner_can_look_at_tries(tmp_path: Path) -> None:
    """Not even at the times of the folder that changes with each try."""
    shared = Shared(tmp_path)
    folder = DropBox.of(shared.bare).attempts.folder
    assert folder.stat().st_mode & 0o077 == 0
    assert folder.parent.stat().st_mode & 0o077 == 0


def test_causes_from_outside_use_up_no_tries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit that fills the disk does so three times, then ever more rarely.

    It is tested once the disk has room again. The owner reads an alarm meanwhile.
    """
    shared = Shared(tmp_path)
    commit = shared.push(0.7)
    tried = []

    def full(*_: object, **__: object) -> None:
        tried.append(1)
        raise InfrastructureError("the disk is full")

    def kinds() -> list[AlarmKind]:
        return [alarm.kind for alarm in status(open_project(shared.bare), owner=True).alarms]

    with monkeypatch.context() as broken:
        broken.setattr(watcher, "run", full)
        assert shared.round() == ["the disk is full"]
        assert AlarmKind.POSTPONED not in kinds()
        for _ in range(7):
            assert shared.round() == []  # it is said once
        assert len(tried) == MOST_TRIES
        assert AlarmKind.POSTPONED in kinds()
        age(shared.dropbox.attempts, commit, 60)
        for _ in range(3):
            assert shared.round() == []
        assert len(tried) == MOST_TRIES + 1
    assert shared.round() == []
    age(shared.dropbox.attempts, commit, 120)
    assert shared.round() == ["baseline"]
    assert shared.signal(commit)
    assert AlarmKind.POSTPONED not in kinds()


def test_an_error_that_nobody_foresaw_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three of them set the commit aside, under whatever names it is dropped; others go on."""
    shared = Shared(tmp_path)
    attempts = shared.dropbox.attempts
    first = shared.push(0.7)
    assert shared.round() == ["baseline"]
    bad = shared.push(0.6)

    def failing(project: Project, commit: str, *, options: RunOptions) -> RunAnswer:
        if commit == bad:
            raise MemoryError
        return run(project, commit, options=options)

    with monkeypatch.context() as broken:
        broken.setattr(watcher, "run", failing)
        for number in range(MOST_TRIES):
            assert shared.round() == (["MemoryError"] if number == 0 else [])
            with attempts.record(bad) as record:
                assert record is not None
                assert record.count == TryCount(number + 1, 0)
                assert not record.is_due
            age(attempts, bad)
        shared.dropbox.drop("main", bad)
        said = shared.round()
        assert len(said) == 2
        assert all("`easeci watch --retry` tries it again" in line for line in said)
        assert shared.round() == []
        assert attempts.set_aside() == [bad]
        assert shared.dropbox.result(bad) is None
        shared.dropbox.drop("main", first)
        assert shared.round() == ["baseline"]
    assert shared.watcher.retry() == [f"{bad[:10]} is tried again"]
    assert len(shared.round()) == 2
    assert shared.dropbox.result(bad) is not None
    assert list(attempts.folder.iterdir()) == []
