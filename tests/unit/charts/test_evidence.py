"""Charts of evidence: curves, bars and powers of ten."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from xml.etree import ElementTree

from easeci.charts import evidence_chart, interval_chart
from easeci.charts.evidence import (
    FUTILITY,
    FUTILITY_BAR,
    LOWER,
    PROOF,
    PROOF_BAR,
    THRESHOLD,
    UPPER,
    power_of_ten,
)
from easeci.evidence.endings import Ending
from easeci.verdict.curves import ClauseCurves
from tests.cases import each_case
from tests.unit.charts.samples import (
    curves,
    evidence,
    interval,
    texts,
)


def test_evidence_names_its_curves_their_bars_and_how_it_ended() -> None:
    shown = texts(evidence())
    for name in (PROOF, PROOF_BAR, FUTILITY, FUTILITY_BAR, "labels consulted", "evidence"):
        assert shown.count(name) == 1
    assert {"proven after 60 labels", "0", "50", "1", "100", "10⁴", "10⁶", "0.01"} <= set(shown)
    dashes = re.findall(r'stroke-dasharray="([^"]*)"', evidence())
    assert len(set(dashes)) == 4


@each_case(
    ("drawn", "title"),
    [
        (curves(Ending.FUTILE, 2_000, -900.0, 9.1), "stopped asking after 2,000 labels"),
        (curves(Ending.OPEN, 120, 2.0, 1.0), "120 labels so far"),
        (curves(Ending.OPEN, 0, 0.0, 0.0), "0 labels so far"),
        (curves(Ending.EXHAUSTED, 5_000, 7.0, 7.0), "neither after all 5,000 labels"),
        (curves(Ending.PROVEN, 0, math.inf, -math.inf), "proven after 0 labels"),
    ],
)
def test_evidence_stays_on_its_axes(drawn: ClauseCurves, title: str) -> None:
    """However small or infinite: no number of the picture is none."""
    svg = evidence_chart(drawn)
    assert title in texts(svg)
    assert not re.search(r"NaN|Infinity|undefined|null", svg)
    height = float(ElementTree.fromstring(svg).get("height", "0"))
    assert height < 420


def test_an_interval_has_two_ends_a_threshold_and_its_unit() -> None:
    shown = texts(interval())
    for name in (LOWER, UPPER, THRESHOLD, "labels consulted", "points"):
        assert shown.count(name) == 1
    assert "interval after 60 labels" in shown
    assert not re.search(r"NaN|Infinity|undefined|null", interval())


def test_an_interval_of_many_labels_stays_readable() -> None:
    """However short the last interval is, the axis has a few round ticks."""
    drawn = curves(Ending.PROVEN, 300, 14.2, 0.0)
    for width in (1e-7, 0.001, 0.3, 1.0):
        low = tuple(-1.0 if x < 9 else 0.02 - width for x in drawn.labels)
        high = tuple(1.0 if x < 9 else 0.02 + width for x in drawn.labels)
        svg = interval_chart(replace(drawn, low=low, high=high))
        assert not re.search(r"NaN|Infinity|undefined|null", svg)


def test_powers_of_ten_are_written_as_one_reads_them() -> None:
    shown = [power_of_ten(power) for power in (-12, -4, -2, 0, 3, 4, 120)]
    assert shown == ["10⁻¹²", "10⁻⁴", "0.01", "1", "1,000", "10⁴", "10¹²⁰"]
