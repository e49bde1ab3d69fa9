"""The chain that binds events together: each record's code covers it and all that went before.

The code is an HMAC with the owner's key, so that whoever lacks the key can change, insert, drop or
reorder nothing without being found. The head (number and code of the last record) is kept apart
and changes in the same transaction, so that records cut off at the end are missed too. What no
chain can find is a whole store put back to an older copy of itself: compare the head with one that
was noted elsewhere.
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
    """The head of a project without records: chains of two projects never fit each other."""
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
    """What is wrong with the chain, in words; None if nothing is.

    ``records`` are all there are, or those that follow a head that was found sound before.
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
    """Lengths are part of what is covered, so that no two lists of parts look the same."""
    pieces = [_NAME]
    for part in parts:  # each once, and in one list: every command does this for every event
        encoded = part.encode()
        pieces += (len(encoded).to_bytes(8, "big"), encoded)
    return hmac.digest(key, b"".join(pieces), "sha256").hex()


_NAME = len(b"easeci").to_bytes(8, "big") + b"easeci"
