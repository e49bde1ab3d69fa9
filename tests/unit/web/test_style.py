"""The stylesheet: charts are drawn once, and given the page's colours here."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from easeci.charts import THEME_COLOURS
from easeci.ledger.signals import Signal

SHEET = (resources.files("easeci.web") / "static" / "style.css").read_text("utf-8")
REPORT = (resources.files("easeci.views") / "templates" / "report.css").read_text("utf-8")
LIGHT, DARK = (
    dict(re.findall(r"(--[a-z-]+):\s*([^;]+);", block))
    for block in re.findall(r":root \{(.*?)\}", SHEET, re.DOTALL)
)


@pytest.mark.parametrize("role", THEME_COLOURS)
def test_every_colour_of_a_chart_follows_the_theme(role: str) -> None:
    """In fills and strokes, or in the one that charts use it for, and with a dark counterpart."""
    rules = re.findall(
        rf'figure \[(fill|stroke)="{THEME_COLOURS[role]}"\] \{{ (fill|stroke): var\((--[a-z-]+)\)',
        SHEET,
    )
    assert rules
    for selected, given, name in rules:
        assert selected == given
        assert LIGHT[name] != DARK[name]


@pytest.mark.parametrize("sheet", [SHEET, REPORT])
def test_every_signal_has_a_colour(sheet: str) -> None:
    """On the pages and in the report, which share the symbols."""
    assert [signal for signal in Signal if f".{signal.css_class}" not in sheet] == []


def test_every_name_is_defined() -> None:
    """What dark has, light has; and nothing is used that neither has."""
    assert set(DARK) <= set(LIGHT)
    assert set(re.findall(r"var\((--[a-z-]+)\)", SHEET)) <= set(LIGHT)


def test_a_row_that_is_not_full_shows_no_hole() -> None:
    """Three tiles in two columns: the lines belong to the tiles, and what is left is card."""
    (row,) = re.findall(r"\.tiles \{(.*?)\}", SHEET)
    assert "background: var(--card)" in row
