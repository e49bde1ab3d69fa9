"""The chain of records: the code of each record covers it and all records before it.

The code is an HMAC with the owner's key. Without the key, nobody can change, insert, drop or
reorder records unnoticed. The head (number and code of the last record) is stored apart and changes
in the same transaction, so that records missing at the end are noticed too. A chain cannot show
that a whole store was replaced by an older copy of itself: compare the head with one that was noted
elsewhere.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from easeci.ledger.events import Event, event_text


@dataclass(frozen=True)
class Record:
    """One event as it is stored. ``number`` counts from 1; ``at`` is UTC, ISO 8601."""

    number: int
    at: str
    kind: str
    version: int
    text: str
    code: str


@dataclass(frozen=True)
class Head:
    """The last record of a project."""

    number: int
    code: str


def start(key: bytes, project: str) -> Head:
    """The head of a project without records; each project has its own."""
    return Head(0, _code(key, "project", project))


def chained(key: bytes, head: Head, at: str, events: Iterable[Event]) -> list[Record]:
    """The records that follow ``head``."""
    records: list[Record] = []
    previous = head
    for event in events:
        number, text = previous.number + 1, event_text(event)
        code = _record_code(key, previous.code, number, at, event.kind, event.VERSION, text)
        records.append(Record(number, at, event.kind, event.VERSION, text, code))
        previous = Head(number, code)
    return records


def find_damage(
    key: bytes,
    project: str,
    records: Sequence[Record],
    head: Head | None,
    after: Head | None = None,
) -> str | None:
    """Say what is wrong with the chain; None if nothing is.

    ``records`` are all records, or those after a head that was found sound before (``after``).
    """
    previous = start(key, project) if after is None else after
    for record in records:
        expected = _record_code(
            key, previous.code, record.number, record.at, record.kind, record.version, record.text
        )
        if record.number != previous.number + 1:
            return f"event {previous.number + 1:,} is missing"
        if expected != record.code:
            return f"event {record.number:,} was changed, or was not written with this key"
        previous = Head(record.number, record.code)
    if head != previous and (head is not None or records):
        return f"events after number {previous.number:,} are missing, or the head was changed"
    return None


def _record_code(
    key: bytes, previous: str, number: int, at: str, kind: str, version: int, text: str
) -> str:
    return _code(key, "event", previous, str(number), at, kind, str(version), text)


def _code(key: bytes, *parts: str) -> str:
    """The code covers the lengths too, so that no two lists of parts have the same bytes."""
    pieces = [_NAME]
    for part in parts:  # each once, and in one list: every command does this for every event
        encoded = part.encode()
        pieces += (len(encoded).to_bytes(8, "big"), encoded)
    return hmac.digest(key, b"".join(pieces), "sha256").hex()


_NAME = len(b"easeci").to_bytes(8, "big") + b"easeci"
