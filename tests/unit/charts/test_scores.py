"""Histograms of scores: two models side by side, told apart by more than their colour."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from easeci.charts import NEW_MODEL, OLD_MODEL, Colour, ScoreCounts, score_chart
from tests.unit.charts.samples import SVG, texts

NEW = ScoreCounts(NEW_MODEL, (3, 0, 0, 0, 5, 0, 0, 0, 0, 40))
OLD = ScoreCounts(OLD_MODEL, (9, 0, 0, 0, 0, 0, 0, 0, 0, 39))


def bars(svg: str, stroke: Colour) -> list[ElementTree.Element]:
    """The bars of one model, without the symbol in the legend."""
    found = ElementTree.fromstring(svg).iter(f"{SVG}path")
    return [p for p in found if p.get("stroke") == stroke.value and p.get("aria-label")]


@pytest.mark.parametrize("slim", [False, True])
def test_each_count_has_a_bar_and_each_model_a_name(slim: bool) -> None:
    svg = score_chart([NEW, OLD], slim=slim)
    shown = texts(svg)
    assert {NEW_MODEL, OLD_MODEL, "score of an example", "examples", "0", "1"} <= set(shown)
    new, old = bars(svg, Colour.BLUE), bars(svg, Colour.ORANGE)
    assert (len(new), len(old)) == (3, 2)
    assert {bar.get("fill") for bar in new} == {Colour.BLUE.value}
    assert {bar.get("fill") for bar in old} == {None}, "only their edges are drawn"


def test_one_model_is_enough_and_so_is_no_example() -> None:
    assert OLD_MODEL not in texts(score_chart([NEW]))
    svg = score_chart([ScoreCounts(NEW_MODEL, (0,) * 10)])
    assert not re.search(r"NaN|Infinity|undefined", svg)
