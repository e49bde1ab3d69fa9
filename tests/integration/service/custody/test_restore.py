"""A backup is put back as a whole, and an older store is not used by mistake."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path

import pytest

from easeci.errors import DataError, InfrastructureError, UsageError
from easeci.ledger.events import OlderStoreAccepted
from easeci.service.commits.submit import run
from easeci.service.custody.backup import write_backup
from easeci.service.custody.restore import accept_older, restore_backup
from easeci.service.custody.verify import verify
from easeci.service.project import open_project
from tests.projects import opened, run_on
from tests.repositories import Workplace


def store_of(place: Workplace) -> Path:
    return place.repository / ".easeci"


@pytest.fixture
def backed_up(sealed: Workplace) -> Workplace:
    """A store of which there is a backup, and no folder of the store any more."""
    write_backup(opened(sealed), sealed.folder / "backup.tar")
    shutil.rmtree(store_of(sealed))
    return sealed


def test_a_store_is_never_overwritten(sealed: Workplace) -> None:
    write_backup(opened(sealed), sealed.folder / "backup.tar")
    before = opened(sealed).head
    with pytest.raises(UsageError, match="already"):
        restore_backup(sealed.folder / "backup.tar", store_of(sealed))
    assert opened(sealed).head == before


def test_any_damage_to_a_backup_leaves_nothing_behind(backed_up: Workplace) -> None:
    """A byte changed in any of its files, or an end that is missing."""
    file = backed_up.folder / "backup.tar"
    whole = file.read_bytes()
    with tarfile.open(file) as tar:
        places = [(m.name, m.offset_data + m.size // 2) for m in tar if m.size]
    assert {"key", "ledger/ledger.db"} < {name for name, _ in places}
    for name, place in places:
        if name in ("easeci-backup.json", "ledger/ledger.db"):
            continue  # JSON has free space, and so have pages of a database
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x40]) + whole[place + 1 :])
        with pytest.raises((InfrastructureError, DataError)):
            restore_backup(file, store_of(backed_up))
        assert not store_of(backed_up).exists(), name
    for size in (0, 700, len(whole) // 2):
        file.write_bytes(whole[:size])
        with pytest.raises((InfrastructureError, DataError)):
            restore_backup(file, store_of(backed_up))
        assert not store_of(backed_up).exists()
    assert not list(backed_up.repository.glob(".making*"))
    file.write_bytes(whole)
    restore_backup(file, store_of(backed_up))


@pytest.mark.parametrize("name", ["../../outside", "vault/../../../outside", "/outside", "notes"])
def test_nothing_lands_outside_the_store(backed_up: Workplace, name: str) -> None:
    """A file that looks like a backup may have been made by somebody else."""
    file = backed_up.folder / "backup.tar"
    with tarfile.open(file, "a") as tar:
        member = tarfile.TarInfo(name)
        member.size = 5
        tar.addfile(member, io.BytesIO(b"evil\n"))
    before = set(backed_up.folder.rglob("*"))
    with pytest.raises(DataError, match="not a backup"):
        restore_backup(file, store_of(backed_up))
    assert set(backed_up.folder.rglob("*")) == before


def test_what_is_not_a_backup_is_said(sealed: Workplace, tmp_path: Path) -> None:
    target = tmp_path / "new"
    (tmp_path / "text").write_text("not a backup")
    with pytest.raises(DataError, match="not a backup"):
        restore_backup(tmp_path / "text", target)
    with pytest.raises(UsageError, match="there is no file"):
        restore_backup(tmp_path / "missing", target)
    with tarfile.open(tmp_path / "newer.tar", "w") as tar:
        member = tarfile.TarInfo("easeci-backup.json")
        content = b'{"format": 99, "at": "2030-01-01T00:00:00Z"}'
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    with pytest.raises(DataError, match="does not know"):
        restore_backup(tmp_path / "newer.tar", target)
    assert not target.exists()


def test_an_older_store_is_refused_until_the_owner_accepts_it(sealed: Workplace) -> None:
    """The attack: run a commit, hear the answer, and put the earlier store back."""
    run_on(sealed)
    shutil.copytree(store_of(sealed), sealed.folder / "older")
    sealed.commit_cut(0.75)
    run_on(sealed)
    shutil.rmtree(store_of(sealed))
    (sealed.folder / "older").rename(store_of(sealed))
    for command in (("status",), ("run",), ("log",), ("testset", "retire", "--reason", "x")):
        done = sealed.easeci(*command, code=6)
        assert "older than this clone has seen" in done.stderr
        assert "easeci restore --accept-older" in done.stderr
    done = sealed.easeci("log", "--verify", code=6)
    assert "older than this clone has seen" in " ".join(done.stdout.split())
    found = open_project(sealed.repository, refuse_older=False)
    assert accept_older(found) is not None
    assert accept_older(found) is None
    ((_, accepted),) = opened(sealed).state.older_accepted
    assert isinstance(accepted, OlderStoreAccepted)
    assert accepted.seen > accepted.found
    assert verify(opened(sealed)) == []
    assert "older copy" in " ".join(sealed.easeci("status", code=0).stdout.split())


def test_a_store_without_the_log_of_sqlite_is_older(sealed: Workplace) -> None:
    """The last events may be in that file alone: without it the store looks sound, but older."""
    project = opened(sealed)
    with project.store.engine.connect() as open_meanwhile:  # the last to close empties the log
        open_meanwhile.exec_driver_sql("SELECT count(*) FROM event").fetchall()
        run_on(sealed)
        content = project.store.path.read_bytes()
        assert project.store.path.with_name("ledger.db-wal").stat().st_size
    for path in project.store.path.parent.glob("ledger.db-*"):
        path.unlink()
    project.store.path.write_bytes(content)
    with pytest.raises(InfrastructureError, match="older than this clone has seen"):
        opened(sealed)


def test_a_store_that_went_another_way_is_refused(sealed: Workplace) -> None:
    """It has as many events, but not the one that was seen."""
    shutil.copytree(sealed.repository, sealed.folder / "twin", symlinks=True)
    run_on(sealed)
    twin = Workplace(sealed.folder / "twin-place")
    twin.folder.mkdir()
    (sealed.folder / "twin").rename(twin.repository)
    twin.commit_cut(0.52)
    run_on(twin)
    run_on(twin, "HEAD~1")
    shutil.rmtree(store_of(sealed))
    shutil.copytree(store_of(twin), store_of(sealed))
    with pytest.raises(InfrastructureError, match="is another"):
        opened(sealed)


def test_a_killed_restore_leaves_nothing_that_git_would_add(
    backed_up: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may lie in a work tree for ever; the next restore removes it."""

    def killed(folder: Path) -> None:
        copied = folder.with_name(".making-0123456789abcdef.tmp")
        shutil.copytree(folder, copied)
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "easeci.service.custody.restore.forget_times", lambda path: killed(path.parents[3])
    )
    with pytest.raises(KeyboardInterrupt):
        restore_backup(backed_up.folder / "backup.tar", store_of(backed_up))
    monkeypatch.undo()
    left = backed_up.repository / ".making-0123456789abcdef.tmp"
    assert (left / "key").exists()
    assert backed_up.git("status", "--porcelain") == ""
    restore_backup(backed_up.folder / "backup.tar", store_of(backed_up))
    assert not left.exists()


def test_a_clone_notes_what_another_one_has_recorded(sealed: Workplace) -> None:
    """It has shown the signal, so it must not go on with a store that has forgotten it."""
    store, clone = sealed.folder / "store", sealed.folder / "clone"
    store_of(sealed).rename(store)
    sealed.git("clone", "--quiet", ".", str(clone))
    shutil.copytree(store, sealed.folder / "older")
    run(open_project(sealed.repository, store=store))
    open_project(clone, store=store)
    shutil.rmtree(store)
    (sealed.folder / "older").rename(store)
    with pytest.raises(InfrastructureError, match="older than this clone has seen"):
        open_project(clone, store=store)


def test_a_project_that_is_open_follows_what_the_owner_accepts(sealed: Workplace) -> None:
    """Such as a server's: it refuses the older store, and goes on once that was accepted."""
    shutil.copytree(store_of(sealed), sealed.folder / "older")
    served = opened(sealed)
    run_on(sealed)
    served.refresh()
    shutil.rmtree(store_of(sealed))
    (sealed.folder / "older").rename(store_of(sealed))
    with pytest.raises(InfrastructureError, match="older than this clone has seen"):
        served.refresh()
    accept_older(open_project(sealed.repository, refuse_older=False))
    sealed.commit_cut(0.6)
    run_on(sealed)
    sealed.commit_cut(0.52)
    run_on(sealed)
    served.refresh()
    assert served.head == opened(sealed).head


def test_a_store_of_another_repository_is_restored_with_a_warning(
    backed_up: Workplace, tmp_path: Path
) -> None:
    other = Workplace.make(tmp_path / "other")
    other.commit_cut(0.6)
    done = other.easeci("restore", str(backed_up.folder / "backup.tar"), code=0)
    assert "belongs to another repository" in done.stderr


def test_a_copy_in_another_clone_is_not_noticed(sealed: Workplace) -> None:
    """The documented limit: a clone knows only what it has seen itself."""
    run_on(sealed)
    shutil.copytree(store_of(sealed), sealed.folder / "older")
    sealed.commit_cut(0.75)
    run_on(sealed)
    sealed.git("clone", "--quiet", ".", str(sealed.folder / "clone"))
    assert open_project(sealed.folder / "clone", store=sealed.folder / "older").head.number > 0


def test_the_public_sample_comes_back(backed_up: Workplace, tmp_path: Path) -> None:
    """With its examples, and with room for predictions on it."""
    restore_backup(backed_up.folder / "backup.tar", store_of(backed_up))
    project = opened(backed_up)
    assert verify(project) == []
    sample = project.sealed(project.require_active()).sample
    assert sample is not None
    rows = [f"{name},low" for name in sample.ids]
    (tmp_path / "p.csv").write_text("\n".join(["id,prediction", *rows, ""]))
    assert sample.predictions.store(tmp_path / "p.csv").name.startswith("sample/predictions/")
