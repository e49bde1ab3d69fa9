"""A backup holds everything that a store needs, and is made while others work."""

from __future__ import annotations

import tarfile
import threading
from pathlib import Path

import pytest

from easeci.errors import InfrastructureError, UsageError
from easeci.ledger.signals import Signal
from easeci.service.custody import backup as backup_module
from easeci.service.custody.backup import write_backup
from easeci.service.custody.restore import restore_backup
from easeci.service.custody.verify import verify
from easeci.service.labelling.session import LabelSession
from easeci.service.project import open_project
from easeci.store.placing import copy_database
from tests.integration.service.labelling.labellers import LABEL, at, entries, truth, two_waiting
from tests.projects import add, opened, run_on
from tests.repositories import Workplace, copy_of


def moved_away(place: Workplace) -> Path:
    """The store's folder, free for another store."""
    store = place.repository / ".easeci"
    store.rename(place.folder / "before")
    return store


def test_a_store_that_was_backed_up_goes_on_as_if_nothing_had_happened(sealed: Workplace) -> None:
    """Same signals and same state; the next commit is tested on it."""
    run_on(sealed)
    sealed.commit_cut(0.52)
    run_on(sealed)
    made = write_backup(opened(sealed), sealed.folder / "backup.tar")
    before = opened(sealed)
    store = moved_away(sealed)
    restored = restore_backup(sealed.folder / "backup.tar", store)
    after = opened(sealed)
    assert (after.head, after.state.baseline) == (before.head, before.state.baseline)
    assert restored.events == {"model": made.heads["model"].number} == {"model": after.head.number}
    assert verify(after) == []
    sealed.commit_cut(0.75)
    assert run_on(sealed).row.signal is Signal.FAIL
    assert verify(opened(sealed)) == []


def test_folders_that_are_still_empty_are_there_afterwards(place: Workplace) -> None:
    """Right after a testset was added, nothing is labelled, predicted or archived yet."""
    add(place, labelled=False)
    write_backup(opened(place), place.folder / "backup.tar")
    store = moved_away(place)
    restore_backup(place.folder / "backup.tar", store)
    assert run_on(place).row.signal is Signal.BASELINE
    place.commit_cut(0.52)
    assert run_on(place).row.signal is Signal.PENDING
    place.easeci("labels", "import", str(place.labels), code=0)


def test_the_key_is_kept_apart_once(sealed: Workplace) -> None:
    """Every later backup finds it there; another file is not overwritten."""
    file, key = sealed.folder / "backup.tar", sealed.folder / "secret"
    for _ in range(2):
        write_backup(opened(sealed), file, key_file=key)
    with pytest.raises(UsageError, match="another file"):
        write_backup(opened(sealed), file, key_file=file)
    with pytest.raises(UsageError, match="another file"):
        write_backup(opened(sealed), sealed.folder / "new.tar", key_file=sealed.folder / "new.tar")
    key.write_text("mine")
    with pytest.raises(UsageError, match="another file"):
        write_backup(opened(sealed), file, key_file=key)
    assert key.read_text() == "mine"


def test_a_backup_that_cannot_begin_is_not_recorded(sealed: Workplace) -> None:
    before = opened(sealed).head
    done = sealed.easeci("backup", str(sealed.folder / "missing" / "backup.tar"), code=2)
    assert "there is no folder" in done.stderr
    assert opened(sealed).head == before


def test_the_key_may_be_kept_apart(sealed: Workplace) -> None:
    """Then the backup has no key in it, and another key does not open it."""
    file, key = sealed.folder / "backup.tar", sealed.folder / "secret"
    write_backup(opened(sealed), file, key_file=key)
    with tarfile.open(file) as tar:
        assert "key" not in tar.getnames()
    assert key.stat().st_mode & 0o777 == file.stat().st_mode & 0o777 == 0o600
    store = moved_away(sealed)
    with pytest.raises(UsageError, match="no key in it"):
        restore_backup(file, store)
    other = Workplace.make(sealed.folder / "other")
    other.commit_cut(0.6)
    open_project(other.repository, create=True)
    with pytest.raises(InfrastructureError, match="the key is another one"):
        restore_backup(file, store, key_file=other.repository / ".easeci" / "key")
    assert not store.exists()
    restore_backup(file, store, key_file=key)
    assert verify(opened(sealed)) == []


def test_answers_that_wait_to_be_recorded_are_in_it(tmp_path: Path) -> None:
    """A label that was acknowledged survives, although no event speaks of it yet."""
    place = copy_of(two_waiting, tmp_path / "copy")
    session = LabelSession(opened(place), shared=True)
    question = at(session).take("ada", "ada", 1)[0]
    at(session).answer("ada", "ada", question.ticket, LABEL, truth(question))
    write_backup(opened(place), place.folder / "backup.tar")
    assert len(entries(place)) == 1
    expected = entries(place)
    store = moved_away(place)
    restore_backup(place.folder / "backup.tar", store)
    assert entries(place) == expected


def test_it_is_made_while_a_command_acts_on_the_project(
    sealed: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is recorded after the copy of the ledger is not in it, and harms nothing."""
    run_on(sealed)
    sealed.commit_cut(0.52)

    def copy_then_run(path: Path, target: Path) -> None:
        copy_database(path, target)
        thread = threading.Thread(target=lambda: signals.append(run_on(sealed).row.signal))
        thread.start()
        thread.join()

    signals: list[Signal] = []
    monkeypatch.setattr(backup_module, "copy_database", copy_then_run)
    write_backup(opened(sealed), sealed.folder / "backup.tar")
    assert signals[0] is Signal.PASS
    store = moved_away(sealed)
    restore_backup(sealed.folder / "backup.tar", store)


def test_a_damaged_store_is_not_backed_up(sealed: Workplace) -> None:
    """The earlier backup stays: nothing is worse than a damaged copy in its place."""
    project, file = opened(sealed), sealed.folder / "backup.tar"
    write_backup(project, file)
    good = file.read_bytes()
    order = next(project.vault.folder.rglob("order.npy"))
    content = order.read_bytes()
    order.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(InfrastructureError, match=r"order.npy was changed"):
        write_backup(opened(sealed), file)
    order.unlink()
    with pytest.raises(InfrastructureError, match="missing"):
        write_backup(opened(sealed), file)
    assert file.read_bytes() == good


def test_it_is_not_written_where_labels_could_be_committed(sealed: Workplace) -> None:
    project = opened(sealed)
    for folder in (sealed.repository, sealed.repository / ".git", project.store.folder):
        with pytest.raises(UsageError, match="lies in"):
            write_backup(project, folder / "backup.tar")
        with pytest.raises(UsageError, match="lies in"):
            write_backup(project, sealed.folder / "backup.tar", key_file=folder / "key-copy")
    assert not (sealed.folder / "backup.tar").exists()
