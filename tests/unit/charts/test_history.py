"""Charts of a testset's history: its rows, ticks and marks."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from easeci.charts import (
    Colour,
    count_chart,
    history_chart,
)
from tests.cases import each_case
from tests.unit.charts.samples import (
    SVG,
    history,
    points,
    slim_counts,
    texts,
)


@each_case("most", [0, 1, 2, 3])
def test_few_labels_are_counted_in_whole_ones(most: int) -> None:
    """A tick at one half would be written as 1, below the one at 1."""
    shown = texts(count_chart([(1, most)], "labels"))
    counted = shown[shown.index("step") + 1 : shown.index("labels")]
    assert counted == ["0", "1", "2", "3", "4"]


def steps_shown(used: int, steps: int | None, *, slim: bool = False) -> list[list[int]]:
    """The ticks of each row of a history."""
    shown = texts(count_chart([(s, 9) for s in range(1, used + 1)], "n", steps=steps, slim=slim))
    rows = " ".join(shown).split(" n")  # each ends with the name of what is counted
    return [[int(tick) for tick in row.split(" step")[0].split()] for row in rows if row]


@each_case(
    ("used", "steps", "last"),
    [(1, 4, 4), (4, 4, 4), (3, 12, 12), (1, 100, 6), (9, 24, 9), (2, None, 6), (1, 1, 1)],
)
@each_case("slim", [False, True])
def test_steps_run_to_the_last_of_a_few_and_else_as_far_as_they_are_used(
    used: int, steps: int | None, last: int, slim: bool
) -> None:
    assert steps_shown(used, steps, slim=slim) == [list(range(1, last + 1))]


def test_rows_of_many_steps_are_equally_long_and_leave_little_space() -> None:
    rows = steps_shown(101, 400)
    assert [(row[0], row[-1]) for row in rows] == [(5, 60), (65, 120)]
    assert [row[-1] for row in steps_shown(301, 400)] == [80, 160, 240, 320]


def test_a_phone_shows_the_latest_of_many_steps() -> None:
    (row,) = steps_shown(312, 400, slim=True)
    assert (row[0], row[-1]) == (285, 310)
    assert "step (the latest 30 of 312)" in texts(slim_counts())
    svg = history_chart(points(312), "n - o", 0.02, (0.02, 0.04), steps=400, slim=True)
    assert "of 312): 283;" in svg
    assert "of 312): 282;" not in svg


def test_a_history_says_who_passed_and_who_became_the_baseline() -> None:
    shown = texts(history())
    for name in ("shown True", "Unknown", "passed", "failed", "passed, the new baseline"):
        assert shown.count(name) == 1
    assert history().count(f'stroke="{Colour.PURPLE.value}"') == 3  # line, mark and legend


def test_a_history_without_answers_has_no_lane_for_them() -> None:
    bare = [replace(point, passed=None, baseline=False) for point in points()]
    svg = history_chart(bare, "n - o", 0.02, (0.02, 0.04))
    assert {"passed", "failed"}.isdisjoint(texts(svg))
    assert Colour.PURPLE.value not in svg


def test_marks_of_a_history_are_told_apart_by_shape() -> None:
    root = ElementTree.fromstring(history())
    marks = [g for g in root.iter(f"{SVG}g") if "mark-symbol role-mark" in g.get("class", "")]
    lanes = [{path.get("d") for path in g.iter(f"{SVG}path")} for g in marks]
    assert len(lanes[-2]) == len(lanes[-1]) == 3
    assert lanes[-2].isdisjoint(lanes[-1])
