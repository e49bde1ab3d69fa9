"""The journal of answers: what it holds after whatever happened to whoever wrote it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from easeci.errors import InfrastructureError, UsageError
from easeci.vault.journal import HELD, NAME, Journal


def entry(position: int, by: str = "ann") -> dict[str, Any]:
    return {"id": f"e{position}", "position": position, "label": "x", "state": "label", "by": by}


def positions(journal: Journal) -> list[int]:
    return [one["position"] for one in journal.entries]


def reopened(journal: Journal, folder: Path) -> Journal:
    journal.close()
    return Journal(folder)


def test_answers_and_what_was_taken_back_are_found_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for position in (5, 3, 9):
        journal.add(entry(position))
    journal.undo(3)
    assert positions(journal) == [5, 9]
    journal = reopened(journal, tmp_path)
    assert positions(journal) == [5, 9]
    journal.add(entry(3))
    journal = reopened(journal, tmp_path)
    assert positions(journal) == [5, 9, 3]
    journal.clear()
    assert positions(reopened(journal, tmp_path)) == []


def test_a_journal_of_before_takes_back_the_last(tmp_path: Path) -> None:
    lines = ['{"position": 1}', '{"position": 2}', '{"undo": true}', '{"position": 4}', "[]", "{"]
    (tmp_path / NAME).write_text("\n".join(lines))
    journal = Journal(tmp_path)
    assert positions(journal) == [1, 4]
    journal.add(entry(7))  # behind half a line
    assert positions(reopened(journal, tmp_path)) == [1, 4, 7]


def test_an_answer_that_does_not_fit_on_the_disk_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an error, and the next answer is not spoilt by half a line."""
    journal = Journal(tmp_path)
    journal.add(entry(1))
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, content: write(file, content[:10]))
    with pytest.raises(InfrastructureError, match="disk is full"):
        journal.add(entry(2))
    monkeypatch.undo()
    assert positions(journal) == [1]
    journal.add(entry(3))
    assert positions(reopened(journal, tmp_path)) == [1, 3]


def test_a_journal_that_cannot_be_mended_is_left_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its last line was never finished, and the disk is full; once it is not, labelling goes on."""
    journal = Journal(tmp_path)
    journal.add(entry(1))
    (tmp_path / NAME).write_bytes((tmp_path / NAME).read_bytes() + b"{")
    journal.close()
    monkeypatch.setattr(os, "write", lambda *_: 0)
    with pytest.raises(InfrastructureError):
        Journal(tmp_path)
    monkeypatch.undo()
    assert positions(reopened(journal, tmp_path)) == [1]


def test_one_at_a_time(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with pytest.raises(UsageError, match="already, in a terminal or on a server's page"):
        Journal(tmp_path)
    journal.close()
    journal.close()
    with pytest.raises(InfrastructureError):
        journal.add(entry(1))
    Journal(tmp_path).close()


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1, "b": ["x", null]}', '{"a": [3]}'])
def test_stored_leases_are_checked(tmp_path: Path, content: str) -> None:
    (tmp_path / HELD).write_text(content)
    journal = Journal(tmp_path)
    held = journal.held()
    journal.close()
    assert held in ({}, {"b": []}, {"a": [3]})
