"""Limits are looked at beside the program, never instead of watching it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from easeci.build.landlock import Unsandboxed
from easeci.build.running import run_limited
from easeci.build.sandbox import Job, Limits
from easeci.build.watch import Stopped, Usage, Watch
from easeci.build.workspace import open_workspace
from tests.waiting import wait_until


def test_what_a_look_finds_wakes_the_one_who_waits() -> None:
    """It looks until it finds something, and then no more."""
    found = Stopped("did too much", "Let it do less.")
    answers = iter([None, None, found])
    watch = Watch(lambda: next(answers))
    try:
        wait_until(lambda: watch.found is not None)
        assert watch.found == found
    finally:
        watch.end()


def test_a_look_that_fails_is_told() -> None:
    """Nothing runs on with limits that nobody checks."""
    watch = Watch(lambda: 1 // 0)  # type: ignore[arg-type,return-value]
    try:
        wait_until(lambda: watch.failure is not None)
        assert isinstance(watch.failure, ZeroDivisionError)
    finally:
        watch.end()


def test_no_deadline_waits_for_a_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look that takes as long as the program runs does not let it run longer."""
    looked = threading.Event()

    def look(usage: Usage) -> None:
        looked.set()
        wait_until(lambda: not Path(f"/proc/{usage._top}/task").exists())

    monkeypatch.setattr(Usage, "exceeded", look)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with open_workspace(None, ()) as space:
        job = Job(space, ("/bin/sleep", "600"), {"PATH": "/bin"}, (), (), Limits(seconds=2))
        with run_limited(Unsandboxed(), job) as outcome:
            assert looked.is_set()
            assert outcome.stopped is not None
            assert outcome.stopped.reason == "ran longer than 2s"
