"""A project belongs to one repository, and its record and its folder tell what they should."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from easeci.errors import UsageError
from easeci.ledger.chain import Head
from easeci.ledger.signals import Signal
from easeci.service.commits.submit import run
from easeci.service.looks import record_look
from easeci.service.project import open_project
from easeci.service.testsets.add import Offer, add_testset
from easeci.store.store import Store
from tests.commands import COMMAND
from tests.file_systems import UNWRITABLE, in_small_file_system
from tests.projects import opened, run_on
from tests.repositories import Workplace


def test_two_repositories_do_not_share_a_project(sealed: Workplace, tmp_path: Path) -> None:
    other = Workplace.make(tmp_path / "other")
    other.commit_cut(0.6, "another repository")
    with pytest.raises(UsageError, match="another repository"):
        open_project(other.repository, store=sealed.repository / ".easeci")
    named = open_project(
        other.repository, store=sealed.repository / ".easeci", name="other", create=True
    )
    assert named.store.projects() == ["model", "other"]


def test_a_renamed_folder_is_the_same_project(sealed: Workplace, tmp_path: Path) -> None:
    run_on(sealed)
    store = tmp_path / "store"
    (sealed.repository / ".easeci").rename(store)
    moved = tmp_path / "renamed"
    sealed.repository.rename(moved)
    assert open_project(moved, store=store).name == "model"


@pytest.mark.parametrize("name", ["a..b", "m.lock", ".model", "模型", "with space"])
def test_any_folder_can_be_a_project(tmp_path: Path, name: str) -> None:
    place = Workplace.make(tmp_path)
    place.commit_cut(0.7)
    folder = tmp_path / name
    place.repository.rename(folder)
    project = open_project(folder, create=True)
    add_testset(project, Offer(place.examples, script=folder / ".easeci.yml"))
    assert run(open_project(folder)).row.signal is Signal.BASELINE


def test_times_never_run_backwards_without_a_note(
    sealed: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that was set back is recorded before the first event that is dated earlier."""
    project = opened(sealed)
    for now in ("2030-01-01T00:01:00Z", "2030-01-01T00:00:10Z", "2030-01-01T00:00:20Z"):
        monkeypatch.setattr("easeci.service.project.utc_now", lambda now=now: now)
        record_look(opened(sealed), "status")
    records, _ = project.store.ledger(project.name)
    assert [(record.kind, record.at[-6:]) for record in records[-4:]] == [
        ("Looked", "01:00Z"),
        ("ClockSetBack", "00:10Z"),
        ("Looked", "00:10Z"),
        ("Looked", "00:20Z"),
    ]
    assert json.loads(records[-3].text) == {"seconds": 50}


def test_an_event_that_is_recorded_meanwhile_does_not_make_the_store_older(
    sealed: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another command may record and note an event at any moment while a project is opened."""
    load, at_work = Store.ledger, False

    def loaded(store: Store, *more: Any, **options: Any) -> Any:
        nonlocal at_work
        found = load(store, *more, **options)
        if not at_work:
            at_work = True
            record_look(opened(sealed), "status")
        return found

    monkeypatch.setattr(Store, "ledger", loaded)
    before = opened(sealed).head.number
    assert at_work
    assert opened(sealed).head.number == before + 1


def test_many_commands_may_note_at_once(sealed: Workplace) -> None:
    """Each writes a note that is whole, whichever comes last."""
    note = opened(sealed).head_note
    heads = [Head(number, f"{number:064d}") for number in range(1, 40)]
    threads = [threading.Thread(target=note.write, args=(head,)) for head in heads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert note.read() in heads
    assert [path.name for path in note.path.parent.iterdir()] == [note.name]


def test_the_folder_of_the_store_tells_nobody_when_something_happened(
    place: Workplace, tmp_path: Path
) -> None:
    """Developers can see the folder itself, and its times, but nothing in it."""
    place.add_testset(labelled=False)
    store, note = place.repository / ".easeci", place.repository / ".git" / "easeci-owner"
    assert store.stat().st_mode & 0o077 == note.stat().st_mode & 0o077 == 0
    place.easeci("run", code=0)
    place.commit_cut(0.52)
    before = [seen_from_outside(folder)[1:] for folder in (store, note)]
    place.easeci("run", code=3)  # git lists the work tree here; a shared repository has none
    assert [seen_from_outside(folder)[1:] for folder in (store, note)] == before
    os.utime(store, (1, 1))
    os.utime(note, (1, 1))
    before = [seen_from_outside(folder) for folder in (store, note)]
    place.easeci("labels", "export", str(tmp_path / "wanted.csv"), code=0)
    place.easeci("labels", "import", str(place.labels), code=0)
    place.easeci("status", "--owner", code=0)
    place.easeci("log", "--verify", code=0)
    place.easeci("token", "add", "--role", "owner", code=0)
    place.easeci("backup", str(tmp_path / "backup.tar"), code=0)
    place.easeci("testset", "retire", "--reason", "enough", code=0)
    assert [seen_from_outside(folder) for folder in (store, note)] == before


def seen_from_outside(folder: Path) -> tuple[int, ...]:
    """What an account that cannot open a folder sees of it."""
    about = folder.stat()
    return (about.st_atime_ns, about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_nlink)


@pytest.mark.parametrize("kind", UNWRITABLE)
def test_what_is_recorded_can_be_read_on_such_a_disk(
    sealed: Workplace, tmp_path: Path, kind: str
) -> None:
    """``status``, ``log`` and ``log --verify`` work; a command that records says why it cannot."""
    run_on(sealed)
    program = f"""
import subprocess
for words in ("status", "log", "log --verify", "status --owner"):
    done = subprocess.run(
        ["{COMMAND}", *words.split(), "--store", "{tmp_path}/place/.easeci"],
        cwd="{sealed.repository}", capture_output=True, text=True)
    print(done.returncode, (done.stdout + done.stderr).split("\\n")[0])
"""
    store = sealed.repository / ".easeci"
    said = in_small_file_system(store, tmp_path / "place", UNWRITABLE[kind], program)
    status, log, verify, owner = said.splitlines()
    assert status == "0 model"
    assert log.startswith("0 ")
    assert verify == "0 Every event, label, example and order is as it was recorded."
    assert owner.startswith("6 error: ")
