"""A power cut at any moment: what was acknowledged is there, and no file is there by half."""

from __future__ import annotations

import csv
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from easeci.evidence.cells import LabelState
from easeci.files import (
    create_file,
    create_folder,
    make_folder,
    remove_folder,
    replace_file,
    unfinished,
    write_synced,
)
from easeci.service.custody.verify import verify
from easeci.service.labelling.session import LabelSession
from easeci.service.project import open_project
from easeci.store.placing import DATABASE
from easeci.tables.label_formats import load_answers
from easeci.vault import attachments
from easeci.vault.intake import load_offered
from easeci.vault.journal import Journal
from easeci.vault.key import KEY_FILE
from easeci.vault.paths import open_vault
from easeci.vault.sealing import seal
from easeci.vault.testset import SealedTestset
from easeci.vault.verify import damage
from tests.durability.power import Content, Cut, PowerCuts, write_state
from tests.integration.service.labelling.labellers import at, two_waiting
from tests.predictions import read_directly, written_directly
from tests.repositories import Workplace, copy_of
from tests.unit.vault.making import sealed, write

OLD, NEW = b"old " * 100, b"new " * 200


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """An empty folder, to be watched."""
    (tmp_path / "disk").mkdir()
    return tmp_path / "disk"


def left(watched: PowerCuts) -> Iterator[tuple[Cut, Content]]:
    """Every cut, with some of the states that it can leave."""
    dice = random.Random(0)
    for cut in watched.cuts:
        for state in cut.states(dice):
            yield cut, state


def finished(state: Content) -> dict[str, Content]:
    """The names in a folder, without those of unfinished files."""
    assert isinstance(state, dict)
    return {name: content for name, content in state.items() if not unfinished(name)}


def restarted(watched: PowerCuts, folder: Path) -> Iterator[tuple[Cut, Path]]:
    """The same, each state written to a folder of its own."""
    folder.mkdir()
    for number, (cut, state) in enumerate(left(watched)):
        write_state(state, folder / str(number))
        yield cut, folder / str(number)


# -- files.py


def test_a_new_file_is_whole_or_absent(disk: Path) -> None:
    watched = PowerCuts(disk)
    with watched.watching():
        create_file(disk / "file", NEW)
        watched.acknowledge("file")
    for cut, state in left(watched):
        assert finished(state) in ([{"file": NEW}] if cut.acknowledged else [{}, {"file": NEW}])


def test_a_replaced_file_is_the_old_or_the_new_one(disk: Path) -> None:
    create_file(disk / "file", OLD)
    watched = PowerCuts(disk)
    with watched.watching():
        replace_file(disk / "file", NEW)
        watched.acknowledge("file")
    for cut, state in left(watched):
        assert finished(state) in [{"file": NEW}, *([] if cut.acknowledged else [{"file": OLD}])]


def test_a_new_folder_is_whole_or_absent(disk: Path) -> None:
    def fill(folder: Path) -> None:
        (folder / "inner").mkdir()
        write_synced(folder / "a", OLD, 0o600)
        write_synced(folder / "inner" / "b", NEW, 0o600)

    watched = PowerCuts(disk)
    with watched.watching():
        create_folder(disk / "folder", fill)
        watched.acknowledge("folder")
    whole: Content = {"folder": {"a": OLD, "inner": {"b": NEW}}}
    for cut, state in left(watched):
        assert finished(state) in [whole, *([] if cut.acknowledged else [{}])]


def test_a_file_in_new_folders_is_there_with_them(disk: Path) -> None:
    watched = PowerCuts(disk)
    with watched.watching():
        make_folder(disk / "one" / "two")
        create_file(disk / "one" / "two" / "file", NEW)
        watched.acknowledge("file")
    for cut, state in left(watched):
        if cut.acknowledged:
            assert state == {"one": {"two": {"file": NEW}}}


def test_a_removed_folder_is_whole_or_gone(disk: Path) -> None:
    create_folder(disk / "folder", lambda folder: write_synced(folder / "a", OLD, 0o600))
    watched = PowerCuts(disk)
    with watched.watching():
        remove_folder(disk / "folder")
        watched.acknowledge("gone")
    for cut, state in left(watched):
        found = finished(state)
        assert found in [{}, *([] if cut.acknowledged else [{"folder": {"a": OLD}}])]


# -- the vault


ENTRIES = [{"position": number, "label": f"ü{number}"} for number in range(3)]


def in_journal(folder: Path) -> list[dict[str, Any]]:
    """What a session finds after a restart, which must be able to go on."""
    journal = Journal(folder)
    found = list(journal.entries)
    journal.add({"position": 9, "label": "later"})
    journal.close()
    again = Journal(folder)
    again.close()
    assert again.entries == [*found, {"position": 9, "label": "later"}]
    return found


def test_an_acknowledged_label_is_in_the_journal(disk: Path, tmp_path: Path) -> None:
    """From the very first one, and however the line after it was torn."""
    watched = PowerCuts(disk)
    with watched.watching():
        journal = Journal(disk)
        for entry in ENTRIES:
            journal.add(entry)
            watched.acknowledge(entry)
        journal.close()
    for cut, folder in restarted(watched, tmp_path / "after"):
        known = len(cut.acknowledged)
        assert in_journal(folder) in (ENTRIES[:known], ENTRIES[: known + 1])


def test_an_acknowledged_undo_is_in_the_journal(disk: Path, tmp_path: Path) -> None:
    journal = Journal(disk)
    for entry in ENTRIES:
        journal.add(entry)
    watched = PowerCuts(disk)
    with watched.watching():
        journal.undo(1)
        watched.acknowledge("undone")
    journal.close()
    without = [ENTRIES[0], ENTRIES[2]]
    for cut, folder in restarted(watched, tmp_path / "after"):
        assert in_journal(folder) in ([without] if cut.acknowledged else [without, ENTRIES])


def test_an_emptied_journal_stays_empty(disk: Path, tmp_path: Path) -> None:
    """Its answers are recorded, so none may come back."""
    journal = Journal(disk)
    for entry in ENTRIES:
        journal.add(entry)
    watched = PowerCuts(disk)
    with watched.watching():
        journal.clear()
        watched.acknowledge("cleared")
    journal.close()
    for cut, folder in restarted(watched, tmp_path / "after"):
        assert in_journal(folder) == [] or not cut.acknowledged


@pytest.mark.parametrize("one_by_one", [100, 0], ids=["few files", "many files"])
def test_a_store_and_a_testset_are_whole_or_absent(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_by_one: int
) -> None:
    """Key and vault are there once a testset is; examples, order, files and all."""
    monkeypatch.setattr(attachments, "SYNCED_ONE_BY_ONE", one_by_one)
    for name in ("1.txt", "a/2.txt"):
        write(tmp_path / "files" / name, name)
    examples = write(tmp_path / "e.csv", "id,path,label\n1,1.txt,x\n2,a/2.txt,y\n")
    offered = load_offered(examples, label_column="label", files=tmp_path / "files")
    watched = PowerCuts(disk)
    with watched.watching():
        vault = open_vault(disk / "store", "demo")
        watched.acknowledge("vault")
        digests = seal(vault, 1, offered).digests
        watched.acknowledge("testset")
    for cut, folder in restarted(watched, tmp_path / "after"):
        assert not cut.acknowledged or (folder / "store" / KEY_FILE).exists()
        after = open_vault(folder / "store", "demo")
        assert after.numbers() in ([[1]] if "testset" in cut.acknowledged else [[], [1]])
        if after.numbers():
            assert damage(after, {1: digests}) == []
        assert not list((folder / "store").rglob("1/.*")), "only a whole folder gets its name"


def test_labels_and_predictions_are_whole_or_absent(tmp_path: Path) -> None:
    vault, _, testset = sealed(tmp_path)
    answers = load_answers(write(tmp_path / "l.csv", "id,label\n0,a\n1,b\n"))
    predictions = write(tmp_path / "p.csv", "id,prediction\n0,a\n1,a\n2,a\n3,a\n4,b\n")
    watched = PowerCuts(testset.folder)
    with watched.watching(), read_directly():
        received = testset.labels.add(answers, known=[])
        assert received.file is not None
        watched.acknowledge(received.file)
        stored = testset.predictions.store(predictions)
        watched.acknowledge(stored.name)
    expected = {received.file: received.digest, stored.name: stored.digest}
    for cut, state in left(watched):
        for name, digest in expected.items():
            folder, file = name.split("/")
            assert isinstance(state, dict)
            content = finished(state[folder]).get(file)
            if content is None:
                assert name not in cut.acknowledged
            else:
                assert isinstance(content, bytes)
                assert vault.key.digest(content) == digest


# -- a label session, with its ledger


@pytest.mark.long
def test_an_acknowledged_answer_survives_recording(tmp_path: Path) -> None:
    """In the journal or in the ledger, whenever the power is cut; and the store is sound."""
    with written_directly():
        place = copy_of(two_waiting, tmp_path / "copy")
    with place.examples.open(encoding="utf-8") as file:
        ids = {row["x"]: row["id"] for row in csv.DictReader(file)}
    store = place.repository / ".easeci"
    watched = PowerCuts(store, (DATABASE,))
    with written_directly(), watched.watching():
        session = LabelSession(open_project(place.repository))
        for question in at(session).take("a", "ann", 3):
            label = "low" if float(question.row["x"]) < 0.5 else "high"
            at(session).answer("a", "ann", question.ticket, LabelState.LABEL, label)
            watched.acknowledge((ids[question.row["x"]], label))
        session.close(open_project(place.repository))
    assert any(len(cut.acknowledged) == 3 for cut in watched.cuts)
    for cut, folder in restarted(watched, tmp_path / "after"):
        known = all_labels(place, folder)
        assert all(known.get(name) == label for name, label in cut.acknowledged), cut.call


def all_labels(place: Workplace, store: Path) -> dict[str, str]:
    """The labels of a sound store: those of the ledger, and those of the journal.

    The clone's note of the last event lies outside of the store, and was not put back with it.
    """
    shutil.rmtree(place.repository / ".git" / "easeci-owner", ignore_errors=True)
    project = open_project(place.repository, store=store)
    assert verify(project) == []
    testset = project.state.testsets[1]
    inside: SealedTestset = project.sealed(testset)
    frame = inside.labels.known(testset.label_files)
    known = zip(inside.examples.ids, frame["label"], strict=True)
    journal = Journal(inside.labels_folder)
    given = {entry["id"]: entry["label"] for entry in journal.entries}
    journal.close()
    return {name: label for name, label in known if label is not None} | given
