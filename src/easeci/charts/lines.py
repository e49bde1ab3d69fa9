"""Lines over one axis, in panels side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from easeci.charts.drawing import (
    Axis,
    Spec,
    chart_of,
    layered,
    load_altair,
    scaled,
    side_by_side,
    svg_text,
)
from easeci.charts.style import (
    CIRCLE,
    DIAMOND,
    INK,
    SMALL,
    SQUARE,
    STROKE,
    SYMBOL_SIZE,
    TRIANGLE,
    Colour,
)


class Mark(Enum):
    """How a series is drawn. No two series of a chart differ by colour alone."""

    MEASURED = "a line with a dot at each value"
    LINE = "a line"
    DASHED = "a dashed line"
    DOTTED = "a dotted line"
    DOT_DASHED = "a line of dots and dashes"
    SQUARES = "a line with a square at each value"
    TRIANGLES = "a line with a triangle at each value"
    DIAMONDS = "diamonds, and no line"


_DASHES = {Mark.DASHED: [7, 4], Mark.DOTTED: [2, 3], Mark.DOT_DASHED: [9, 3, 2, 3]}
_SHAPES = {
    Mark.MEASURED: CIRCLE,
    Mark.SQUARES: SQUARE,
    Mark.TRIANGLES: TRIANGLE,
    Mark.DIAMONDS: DIAMOND,
}


@dataclass(frozen=True)
class Series:
    """The points of one name, in the order of x.

    ``spread`` has a lower and an upper end for each point. ``note`` is a text above the first
    point, or below it with ``note_below``, where another line would cross it.
    """

    name: str
    colour: Colour
    mark: Mark
    points: tuple[tuple[float, float], ...]
    spread: tuple[tuple[float, float], ...] = ()
    note: str = ""
    note_below: bool = False


@dataclass(frozen=True)
class Panel:
    """One of several charts beside each other with the same axes; ``shade`` is a range of x."""

    title: str
    series: tuple[Series, ...]
    shade: tuple[float, float] | None = None


def line_chart(
    panels: Sequence[Panel],
    across: Axis,
    up: Axis,
    width: int,
    height: int,
    columns: int = 3,
    *,
    slim: bool = False,
) -> str:
    """Lines in panels beside each other, with one legend in columns for all of them."""
    altair = load_altair()
    drawn = [
        _panel(altair, panel, across, up, named=position == 0)
        | {"width": width, "height": height, "title": panel.title}
        for position, panel in enumerate(panels)
    ]
    whole = side_by_side(drawn, spacing=16) if len(drawn) > 1 else drawn[0]
    return svg_text(whole, columns, slim=slim)


def _panel(altair: Any, panel: Panel, across: Axis, up: Axis, *, named: bool) -> Spec:
    """The layers of one panel. Only the first panel shows the name and ticks of the y axis."""
    series = panel.series
    x, y = scaled(altair.X("x:Q"), across), scaled(altair.Y("y:Q"), up)
    if not named:
        y = y.title(None).axis(labels=False, ticks=False, values=list(up.ticks))
    layers = [] if panel.shade is None else [_shade(altair, panel.shade, x)]
    layers += [
        draw(altair, _rows(altair, group).encode(x=x, y=y), series)
        for group, draw in (
            ([s for s in series if s.spread], _spread),
            ([s for s in series if s.mark is not Mark.DIAMONDS], _lines),
            ([s for s in series if s.mark in _SHAPES], _dots),
            ([s for s in series if s.note and not s.note_below], _notes_above),
            ([s for s in series if s.note and s.note_below], _notes_below),
        )
        if group
    ]
    return layered(*layers)


def _shade(altair: Any, shade: tuple[float, float], x: Any) -> Any:
    """A shaded range of x, behind everything else."""
    area = chart_of(altair, [{"x": shade[0], "end": shade[1]}])
    return area.mark_rect(color=Colour.GREY.value, opacity=0.16).encode(x=x, x2="end")


def _rows(altair: Any, drawn: Sequence[Series]) -> Any:
    rows = [
        {"name": series.name, "colour": series.colour.value, "note": note}
        | {"x": x, "y": y, "low": low, "high": high}
        for series in drawn
        for (x, y), (low, high), note in zip(
            series.points,
            series.spread or [(y, y) for _, y in series.points],
            [series.note] + [""] * (len(series.points) - 1),
            strict=True,
        )
    ]
    return chart_of(altair, rows)


def _by_name(altair: Any, channel: Any, named: Sequence[Series], values: list[Any]) -> Any:
    """A channel by which series differ. All layers name all series, so that there is one legend."""
    names = [series.name for series in named]
    symbol: dict[str, Any] = {
        "symbolSize": SYMBOL_SIZE,
        "symbolStrokeWidth": 2,
        "symbolOpacity": 1,
    }
    if not any(series.mark in _SHAPES for series in named):
        symbol["symbolType"] = STROKE
    legend = altair.Legend(title=None, orient="bottom", **symbol)
    return channel("name:N", scale=altair.Scale(domain=names, range=values), legend=legend)


def _coloured(altair: Any, named: Sequence[Series]) -> Any:
    return _by_name(altair, altair.Color, named, [series.colour.value for series in named])


def _spread(altair: Any, chart: Any, named: Sequence[Series]) -> Any:  # noqa: ARG001
    """The spread of each series. Its colour is not by name, so that the legend shows lines."""
    area = chart.mark_area(opacity=1, fillOpacity=0.16)
    colour = altair.Color("colour:N", scale=None)
    return area.encode(y=altair.Y("low:Q"), y2="high:Q", color=colour)


def _lines(altair: Any, chart: Any, named: Sequence[Series]) -> Any:
    dashes = [_DASHES.get(series.mark, [1, 0]) for series in named]
    return chart.mark_line(strokeWidth=2).encode(
        color=_coloured(altair, named),
        strokeDash=_by_name(altair, altair.StrokeDash, named, dashes),
    )


def _dots(altair: Any, chart: Any, named: Sequence[Series]) -> Any:
    shapes = [_SHAPES.get(series.mark, STROKE) for series in named]
    return chart.mark_point(filled=True, size=SYMBOL_SIZE, opacity=1).encode(
        color=_coloured(altair, named), shape=_by_name(altair, altair.Shape, named, shapes)
    )


def _notes_above(altair: Any, chart: Any, named: Sequence[Series]) -> Any:  # noqa: ARG001
    place = {"align": "left", "baseline": "bottom", "dx": 3, "dy": -2}
    return chart.mark_text(**place, fontSize=SMALL, color=INK).encode(text="note:N")


def _notes_below(altair: Any, chart: Any, named: Sequence[Series]) -> Any:  # noqa: ARG001
    place = {"align": "left", "baseline": "top", "dx": 3, "dy": 4}
    return chart.mark_text(**place, fontSize=SMALL, color=INK).encode(text="note:N")
