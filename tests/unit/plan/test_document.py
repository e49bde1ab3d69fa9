"""A plan in figures that people and programs read."""

from __future__ import annotations

from easeci.plan.document import hours, rough_hours
from tests.cases import each_case


@each_case(
    ("labels", "shown"),
    [(300, "0.2"), (12_000, "6.7"), (17_999, "10.0"), (18_000, "10"), (2_000_000_000, "1.1M")],
)
def test_few_labels_take_some_time_too(labels: int, shown: str) -> None:
    assert rough_hours(hours(labels, 2)) == shown
