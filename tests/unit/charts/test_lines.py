"""Line charts: axes, notes and legends."""

from __future__ import annotations

from tests.unit.charts.samples import (
    band,
    lines,
    texts,
)


def test_lines_have_axes_with_units_titles_notes_and_one_legend() -> None:
    shown = texts(lines())
    assert shown.count("true gain (percentage points)") == 2
    assert shown.count("labels per commit") == 1
    assert {"d = 0.05", "d = 0.1", "1,000", "100,000", "−2"} <= set(shown)
    assert shown.count("267,385") == 2
    assert [shown.count(name) for name in ("measured", "limit", "baseline")] == [1, 1, 1]


def test_a_band_leaves_the_legend_to_its_line() -> None:
    assert texts(band()).count("grown") == 1
