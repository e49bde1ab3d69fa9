"""Times as they are recorded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from easeci.times import parse_time, readable_time, time_text

moments = st.datetimes(
    datetime(1900, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    datetime(9000, 1, 1),  # noqa: DTZ001
    timezones=st.timedeltas(timedelta(hours=-23), timedelta(hours=23))
    .map(lambda offset: timedelta(minutes=offset // timedelta(minutes=1)))
    .map(timezone),
)


@given(moments)
def test_a_time_is_recorded_to_the_second_in_utc(moment: datetime) -> None:
    text = time_text(moment)
    assert len(text) == len("2026-11-17T12:30:00Z")
    assert text.endswith("Z")
    assert parse_time(text) == moment.replace(microsecond=0)
    assert parse_time(text).tzinfo is UTC


@given(moments, moments)
def test_texts_sort_as_their_moments_do(one: datetime, other: datetime) -> None:
    """The store compares times as texts."""
    first, second = time_text(one), time_text(other)
    assert (first < second) == (parse_time(first) < parse_time(second))


def test_people_read_it_to_the_minute() -> None:
    assert readable_time("2026-11-17T12:30:59Z") == "2026-11-17 12:30"
