"""Events become text and come back as they were."""

from __future__ import annotations

import dataclasses

import pytest

from easeci.errors import InfrastructureError
from easeci.ledger.events import (
    KINDS,
    Delivery,
    Event,
    LabelsExported,
    Looked,
    MessageQueued,
    MessageTried,
    TestsetReleased,
    TestsetRetired,
    TokenMade,
    TokenRemoved,
    event_text,
    parse_event,
)
from easeci.ledger.reasons import FirstChange, VerdictLetter
from tests.cases import each_case
from tests.histories import History

EVENTS = [
    *History.begun().commit("1", True).events,
    TestsetRetired(1, FirstChange(passed=True)),
    MessageQueued(1, VerdictLetter(), "a@b.org", 1, 1),
    MessageTried(1, Delivery.REFUSED, "no such user"),
    Looked("status", "ann"),
    LabelsExported(1, 20, "csv", "ann"),
    TestsetReleased(1, "ann"),
    TokenMade("ben", "labeller", "ann"),
    TokenRemoved("ben", "ann"),
]


@each_case("event", EVENTS)
def test_an_event_comes_back_as_it_was(event: Event) -> None:
    assert parse_event(event.kind, event.VERSION, event_text(event)) == event


def test_every_kind_of_event_is_known() -> None:
    """A kind that is missing from the table could be written and never be read again."""
    assert set(KINDS.values()) == set(Event.__subclasses__())


@each_case("kind", KINDS.values())
def test_events_cannot_be_changed(kind: type[Event]) -> None:
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert all(field.name.islower() for field in dataclasses.fields(kind))


@each_case(("kind", "version"), [("Unheard", 1), ("Looked", 2)])
def test_an_event_of_a_newer_version_is_refused(kind: str, version: int) -> None:
    with pytest.raises(InfrastructureError, match="does not know") as error:
        parse_event(kind, version, '{"view":"x"}')
    assert "upgrade" in str(error.value)


@each_case("text", ["", "{", '{"other":1}', "[]", '"x"'])
def test_a_damaged_event_says_so(text: str) -> None:
    with pytest.raises(InfrastructureError, match="damaged"):
        parse_event("Looked", 1, text)
    for version in (1, 2):
        with pytest.raises(InfrastructureError, match="damaged"):
            parse_event("TestsetRetired", version, text)
        with pytest.raises(InfrastructureError, match="damaged"):
            parse_event("MessageQueued", version, text)


@each_case(("kind", "text"), [("Looked", '{"view":"log"}'), ("TestsetReleased", '{"testset":1}')])
def test_events_that_named_nobody_can_be_read(kind: str, text: str) -> None:
    event = parse_event(kind, 1, text)
    assert isinstance(event, Looked | TestsetReleased)
    assert event.by == ""


def test_equal_events_have_equal_texts() -> None:
    assert event_text(Looked("log")) == event_text(Looked(view="log"))
