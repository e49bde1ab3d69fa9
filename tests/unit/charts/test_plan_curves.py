"""The curves of a plan: axes with units, the script's own point, and the zone."""

from __future__ import annotations

from easeci.charts import pass_chart, tolerance_chart
from easeci.charts.style import SLIM, Colour
from easeci.plan.curves import PassCurve, ToleranceCurve
from tests.unit.charts.samples import texts

LABELS = ToleranceCurve(((0.5, 13_000.0), (1.0, 3_567.0), (3.0, 215.0)), (1.0, 3_567.0), False)
PASS = PassCurve("n - o", False, ((0.0, 0.0), (3.0, 0.5), (6.0, 1.0)), (2.0, 4.0), 0.1)


def width(svg: str) -> float:
    return float(svg.split('width="')[1].split('"')[0])


def test_labels_by_tolerance_name_the_scripts_own_number() -> None:
    shown = texts(tolerance_chart(LABELS))
    assert {"tolerance, in points", "labels over the testset's life", "3,567"} <= set(shown)
    assert {"forecast", "this script", "100", "10,000"} <= set(shown)
    several = ToleranceCurve(LABELS.points, LABELS.here, multiples=True)
    assert "the script's tolerances, times" in texts(tolerance_chart(several))


def test_a_pass_by_the_truth_has_units_and_a_zone() -> None:
    drawn = pass_chart(PASS)
    assert {"true n - o, in points", "probability of a pass", "100%"} <= set(texts(drawn))
    assert Colour.GREY.value in drawn
    share = PassCurve("n", True, PASS.points, PASS.zone, 0.1)
    assert "true n, in %" in texts(pass_chart(share))
    several = PassCurve("", False, PASS.points, PASS.zone, 0.1)
    assert "beyond every threshold, in points" in texts(pass_chart(several))


def test_slim_curves_fit_a_phone() -> None:
    assert width(tolerance_chart(LABELS, slim=True)) <= SLIM
    assert width(pass_chart(PASS, slim=True)) <= SLIM


def test_no_labels_at_all_are_drawn_too() -> None:
    """A logarithmic axis has no 0: fewer than one label are drawn as one."""
    none = ToleranceCurve(((0.5, 0.2), (1.0, 0.0)), (1.0, 0.0), False)
    assert "1" in texts(tolerance_chart(none))
