"""A push that kills every watcher is set aside, and the others are served."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from easeci.build.repository import Repository
from easeci.service.pushes.attempts import APART_SECONDS, MOST_TRIES
from easeci.service.pushes.dropbox import DropBox
from easeci.service.pushes.hooks import install
from tests.commands import COMMAND, easeci_here, start_easeci
from tests.repositories import MODEL, Workplace
from tests.waiting import wait_until

SLOW = """
import os, time
while os.path.exists({flag!r}):
    time.sleep(0.05)
"""


@pytest.mark.long
def test_a_push_that_kills_the_watcher_is_set_aside(tmp_path: Path) -> None:
    """Three watchers are killed in the middle of it; the fourth goes on with what comes after it.

    Its entry stays, so the developer's push is pending. The owner reads an alarm until the commit
    is tried again.
    """
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    place = Workplace.make(tmp_path / "place", mounts=str(mounted))
    bare = tmp_path / "hosted.git"
    place.git("init", "--quiet", "--bare", "--initial-branch=main", "--shared=group", str(bare))
    place.git("remote", "add", "origin", str(bare))

    def owner(*arguments: str) -> str:
        done = easeci_here(*arguments, folder=bare)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    script = ("--script", str(place.repository / ".easeci.yml"))
    owner("testset", "add", str(place.examples), "--labels", str(place.labels), *script)
    install(Repository.find(bare), [COMMAND], [])
    (bare / "hooks" / "post-receive").unlink()  # the test hands pushes over itself
    dropbox = DropBox.of(bare)
    flag = mounted / "wait"
    flag.touch()

    def push(commit: str) -> str:
        place.git("push", "--quiet", "origin", "main")
        return dropbox.drop("main", commit)

    push(place.commit_cut(0.7))
    assert "baseline" in owner("watch", "--once")
    place.write("model.py", MODEL.format(cut=0.6) + SLOW.format(flag=str(flag)))
    deadly = place.commit("deadly")
    entry = push(deadly)
    record = dropbox.attempts.folder / deadly
    for number in range(1, MOST_TRIES + 1):
        watcher = start_easeci("watch", "--interval", "0.1", folder=bare)
        wait_until(lambda: record.exists() and record.read_text().count("\n") >= number)  # noqa: B023
        assert "set aside" not in owner("status", "--owner")
        watcher.send_signal(signal.SIGKILL)
        watcher.communicate()
        at = record.stat().st_mtime - APART_SECONDS  # a minute passes
        os.utime(record, (at, at))
    fine = place.commit_cut(0.52)
    push(fine)
    said = owner("watch", "--once")
    assert f"{deadly[:10]} on main from uid {os.geteuid()}: set aside" in said
    assert f"{fine[:10]} on main from uid {os.geteuid()}: pass" in said
    assert (dropbox.drop_box / entry).exists()
    assert dropbox.result(deadly) is None
    assert f"set aside: 1 ({deadly[:10]})" in " ".join(owner("status", "--owner").split())
    flag.unlink()
    said = owner("watch", "--once", "--retry")
    assert f"{deadly[:10]} is tried again" in said
    assert dropbox.result(deadly) is not None
    assert not (dropbox.drop_box / entry).exists()
    assert "set aside" not in owner("status", "--owner")
