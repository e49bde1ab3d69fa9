"""Horizontal bars with their values beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from easeci.charts.drawing import PLAIN, Axis, chart_of, layered, load_altair, scaled, svg_text
from easeci.charts.style import INK, MARGIN, SLIM, TEXT, Colour


@dataclass(frozen=True)
class Bar:
    """One bar, with the group that its colour shows."""

    name: str
    value: float
    group: str
    shown: str = ""
    """The value in words; by default with commas."""


def bar_chart(
    bars: Sequence[Bar],
    colours: dict[str, Colour],
    axis: Axis,
    width: int,
    *,
    short: bool = False,
) -> str:
    """Horizontal bars in the given order, each with its value beside it.

    With ``short``, ticks are written as 1k and 1M, which need less room.
    """
    altair = load_altair()
    rows = [
        {
            "name": bar.name,
            "value": bar.value,
            "group": bar.group,
            "shown": bar.shown or f"{bar.value:,.0f}",
        }
        for bar in bars
    ]
    names = altair.Axis(title=None, labelLimit=320, labelPadding=7, ticks=False)
    base = chart_of(altair, rows).encode(
        y=altair.Y("name:N", sort=None, axis=names),
        x=scaled(altair.X("value:Q"), axis, "~s" if short else PLAIN),
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
    return svg_text(layered(drawn, shown, width=width, height=27 * len(rows)))


@dataclass(frozen=True)
class LabelsBar:
    """Labels over the life of a testset by one method."""

    name: str
    labels: int
    ours: bool
    recommended: bool = False


PUBLISHED, OURS = "published", "ours"
_COLOURS = {PUBLISHED: Colour.ORANGE, OURS: Colour.BLUE}
_RECOMMENDED = " ★"
_WIDE, _NAMES_WIDTH, _VALUES_WIDTH = 640, 116, 74


def labels_chart(bars: Sequence[LabelsBar], *, slim: bool = False) -> str:
    """Labels by every method on a logarithmic axis; the recommended method has a star."""
    most = max((bar.labels for bar in bars), default=1)
    least = min((bar.labels for bar in bars), default=1)
    # It begins below the shortest bar, so that this bar is seen, and ends above the longest.
    first = max(0, math.floor(math.log10(max(least, 1))) - 1)
    last = max(first + 1, math.ceil(math.log10(max(most, 10))))
    ticks = tuple(10.0**power for power in range(first, last + 1))
    star = f" ({_RECOMMENDED.strip()} recommended)" if any(b.recommended for b in bars) else ""
    axis = Axis(f"labels over the testset's life{star}", ticks[0], ticks[-1], ticks, True)
    drawn = [
        Bar(
            bar.name + (_RECOMMENDED if bar.recommended else ""),
            max(bar.labels, ticks[0]),
            OURS if bar.ours else PUBLISHED,
            f"{bar.labels:,}",
        )
        for bar in bars
    ]
    inside = (SLIM if slim else _WIDE) - 2 * MARGIN - _NAMES_WIDTH - _VALUES_WIDTH
    return bar_chart(drawn, _COLOURS, axis, inside, short=True)
