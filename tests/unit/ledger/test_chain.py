"""Any change to the records of a project is found by whoever has the key."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeci.ledger.chain import Head, Record, find_damage, start
from tests.cases import each_case
from tests.histories import KEY, History, recorded

HISTORY = History.begun().commit("1", True).commit("2", False)
RECORDS = HISTORY.records
HEAD = Head(RECORDS[-1].number, RECORDS[-1].code)


def damage(records: list[Record], head: Head | None = HEAD, project: str = "p") -> str | None:
    return find_damage(KEY, project, records, head)


def test_records_as_they_were_written_are_sound() -> None:
    assert damage(RECORDS) is None


def test_a_project_without_records_is_sound() -> None:
    assert find_damage(KEY, "p", [], None) is None


@given(st.data())
def test_a_changed_character_is_found(data: st.DataObject) -> None:
    """Whichever field of whichever record it is in."""
    index = data.draw(st.integers(0, len(RECORDS) - 1))
    name = data.draw(st.sampled_from(["at", "kind", "text", "code"]))
    old = getattr(RECORDS[index], name)
    position = data.draw(st.integers(0, len(old) - 1))
    new = data.draw(st.characters().filter(lambda c: c != old[position]))
    changed = replace(RECORDS[index], **{name: old[:position] + new + old[position + 1 :]})
    records = [*RECORDS[:index], changed, *RECORDS[index + 1 :]]
    assert damage(records) is not None


@each_case("index", range(len(RECORDS)))
def test_a_changed_version_or_number_is_found(index: int) -> None:
    for name in ("version", "number"):
        changed = replace(RECORDS[index], **{name: getattr(RECORDS[index], name) + 1})
        assert damage([*RECORDS[:index], changed, *RECORDS[index + 1 :]]) is not None


@pytest.mark.parametrize("index", range(len(RECORDS)))
def test_a_dropped_record_is_found(index: int) -> None:
    """Also the last one, and also if the rest is numbered anew."""
    rest = RECORDS[:index] + RECORDS[index + 1 :]
    assert damage(rest) is not None
    renumbered = [replace(record, number=i + 1) for i, record in enumerate(rest)]
    assert damage(renumbered) is not None


@each_case("index", range(len(RECORDS) - 1))
def test_two_exchanged_records_are_found(index: int) -> None:
    records = list(RECORDS)
    records[index], records[index + 1] = records[index + 1], records[index]
    assert damage(records) is not None
    assert damage([replace(r, number=i + 1) for i, r in enumerate(records)]) is not None


def test_a_repeated_record_is_found() -> None:
    again = replace(RECORDS[-1], number=RECORDS[-1].number + 1)
    assert damage([*RECORDS, again], Head(again.number, again.code)) is not None


def test_a_changed_head_is_found() -> None:
    assert damage(RECORDS, Head(HEAD.number - 1, RECORDS[-2].code)) is not None
    assert damage(RECORDS, None) is not None


def test_records_of_another_project_do_not_fit() -> None:
    assert damage(RECORDS, project="q") is not None


def test_records_of_another_key_do_not_fit() -> None:
    assert find_damage(b"x" * 32, "p", RECORDS, HEAD) is not None


def test_parts_cannot_be_moved_from_one_field_to_the_next() -> None:
    """What is covered includes the length of each part."""
    assert start(KEY, "ab") != start(KEY, "a")
    record = recorded(HISTORY.events[:1])[0]
    moved = replace(record, at=record.at + record.kind[0], kind=record.kind[1:])
    assert find_damage(KEY, "p", [moved], Head(1, moved.code)) is not None
