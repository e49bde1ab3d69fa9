"""The drop box: pushes come in by their order, and nothing else is taken for one."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from easeci.ledger.disclosure import DisclosedRow
from easeci.ledger.signals import Signal
from easeci.service.commits.answer import RunAnswer
from easeci.service.pushes.dropbox import DropBox, DroppedPush, Refused, parse_push
from easeci.service.pushes.results import NotTested, PushResult
from tests.integration.service.pushes.repositories import ID, installed

NAME = "0" * 32


def test_entries_come_in_the_order_of_arrival(bare: Path) -> None:
    installed(bare)
    dropbox = DropBox.of(bare)
    names = [dropbox.drop(f"b{number}", ID) for number in range(5)]
    os.utime(dropbox.drop_box / names[4], (0, 0))  # its owner can set this time
    later = dropbox.drop("last", ID)
    arrived = [entry.name for entry in dropbox.arrived()]
    assert set(arrived) == {*names, later}
    assert arrived[:4] == names[:4]
    assert arrived[-1] == later


def test_only_files_of_their_own_are_read(bare: Path) -> None:
    installed(bare)
    dropbox = DropBox.of(bare)
    good = json.dumps({"branch": "main", "commit": ID})
    outside = bare.parent / "secret"
    outside.write_text(good)
    box = dropbox.drop_box
    (box / f"{1:032x}").symlink_to(outside)
    (box / f"{2:032x}").hardlink_to(outside)
    os.mkfifo(box / f"{3:032x}")
    (box / f"{4:032x}").write_text(good + " " * 2000)
    (box / f"{5:032x}").mkdir()
    (box / f"{6:032x}").mkdir()
    (box / f"{6:032x}" / "full").write_text("")
    (box / "other").write_text(good)
    (box / ".new-unfinished").write_text("{")
    found = dropbox.arrived()
    assert len(found) == 7
    assert all(isinstance(item, Refused) for item in found)
    assert [dropbox.remove(item.name) for item in found].count(False) == 1
    assert outside.read_text() == good


@pytest.mark.parametrize(
    "given",
    [
        "",
        "[]",
        "nonsense",
        "[" * 900,
        '{"branch": "main"}',
        json.dumps({"branch": "main", "commit": ID, "passed": True}),
        json.dumps({"branch": "main", "commit": "HEAD"}),
        json.dumps({"branch": "main", "commit": ID + "\n"}),
        json.dumps({"branch": "--all", "commit": ID}),
        json.dumps({"branch": "a\u001b[2J", "commit": ID}),
        json.dumps({"branch": "", "commit": ID}),
        json.dumps({"branch": 3, "commit": ID}),
    ],
)
def test_nothing_but_a_branch_and_a_commit_is_an_entry(given: str) -> None:
    assert isinstance(parse_push(NAME, given.encode(), 1), Refused)


def test_an_entry_is_whom_the_system_says_it_is_from() -> None:
    given = json.dumps({"branch": "main", "commit": ID}).encode()
    assert parse_push(NAME, given, 7) == DroppedPush(NAME, "main", ID, 7)


def test_a_result_replaces_the_one_before(bare: Path) -> None:
    installed(bare)
    dropbox = DropBox.of(bare)
    row = DisclosedRow(1, ID, "a model", "main", 1, "2026-11-16T00:00:00Z", Signal.PENDING, 1)
    answers = [
        RunAnswer(replace(row, signal=signal), steps=4, steps_used=1, charged=True)
        for signal in (Signal.PENDING, Signal.PASS)
    ]
    results: list[PushResult] = [NotTested("no testset", "Add one."), *answers]
    for result in results:
        dropbox.publish(ID, result)
        assert dropbox.result(ID) == result
    assert [path.name for path in dropbox.results.iterdir()] == [ID]
