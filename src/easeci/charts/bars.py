"""Horizontal bars with their values beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from easeci.charts.drawing import Axis, load_altair, scaled, svg_text
from easeci.charts.style import INK, TEXT, Colour


@dataclass(frozen=True)
class Bar:
    """One bar, with the group that its colour shows."""

    name: str
    value: float
    group: str


def bar_chart(bars: Sequence[Bar], colours: dict[str, Colour], axis: Axis, width: int) -> str:
    """Horizontal bars in the order given, each with its value beside it."""
    altair = load_altair()
    rows = [
        {"name": bar.name, "value": bar.value, "group": bar.group, "shown": f"{bar.value:,.0f}"}
        for bar in bars
    ]
    names = altair.Axis(title=None, labelLimit=320, labelPadding=7, ticks=False)
    base = altair.Chart(altair.InlineData(values=rows)).encode(
        y=altair.Y("name:N", sort=None, axis=names),
        x=scaled(altair.X("value:Q"), axis),
    )
    filled = altair.Color(
        "group:N",
        scale=altair.Scale(domain=list(colours), range=[c.value for c in colours.values()]),
        legend=altair.Legend(title=None, orient="bottom", symbolType="square"),
    )
    drawn = base.mark_bar(height=17, cornerRadiusEnd=2).encode(
        x2=altair.datum(axis.lowest), color=filled
    )
    shown = base.mark_text(align="left", dx=5, color=INK, fontSize=TEXT).encode(text="shown:N")
    return svg_text((drawn + shown).properties(width=width, height=27 * len(rows)))


@dataclass(frozen=True)
class LabelsBar:
    """Labels over the life of a testset by one method."""

    name: str
    labels: int
    ours: bool
    recommended: bool = False


def labels_chart(bars: Sequence[LabelsBar], width: int = 640) -> str:
    """Labels by every method, by factors of ten; ``width`` is that of the whole picture."""
    raise NotImplementedError
