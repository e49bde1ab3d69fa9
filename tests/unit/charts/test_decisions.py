"""Charts of decisions: which model passed, and which was active."""

from __future__ import annotations

from xml.etree import ElementTree

from tests.unit.charts.samples import (
    ANSWERS,
    SVG,
    decisions,
    texts,
)


def test_decisions_name_the_model_that_is_active_until_the_next_one_passes() -> None:
    assert ANSWERS.active == [(1, 3), (3, 5)]
    shown = texts(decisions())
    assert [shown.count(name) for name in ("model 1", "model 3", "model 2")] == [2, 2, 0]
    assert [shown.count(name) for name in ("passed", "failed", "iteration")] == [1, 1, 1]


def test_passed_and_failed_are_told_apart_by_shape() -> None:
    root = ElementTree.fromstring(decisions())
    groups = [g for g in root.iter(f"{SVG}g") if "mark-symbol role-mark" in g.get("class", "")]
    shapes = [[p.get("d") for p in group.iter(f"{SVG}path")] for group in groups]
    assert [len(set(drawn)) for drawn in shapes] == [2, 2]
