"""Every chart that easeci draws: data in, SVG text out, and PNG of that for who can't show it.

One type scale and one palette that is safe for the colour-blind, on a light panel of its own, so
that a chart reads the same on a light and on a dark page. The text asks no other host for anything.
Drawing needs the extra ``charts``; nothing else does, so it is loaded when a chart is drawn.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import Any

from easeci.errors import UsageError

PANEL, EDGE, INK, SOFT_INK, GRID = "#fafaf8", "#d0d0cc", "#282c34", "#5a5e64", "#e2e2de"
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
SMALL, TEXT, HEADING = 11, 12, 13
MARGIN = 16


class Colour(Enum):
    """Okabe and Ito's palette, without the yellow that vanishes on a light panel."""

    BLUE = "#0072b2"
    ORANGE = "#d98c00"
    GREEN = "#009e73"
    VERMILION = "#d55e00"
    PURPLE = "#b8608f"
    SKY = "#56b4e9"
    BLACK = "#282c34"
    GREY = "#8a8d91"


class Mark(Enum):
    """How a series is drawn; never by its colour alone."""

    MEASURED = "a line with a dot at each value"
    LINE = "a line"
    DASHED = "a dashed line"
    DOTTED = "a dotted line"
    DOT_DASHED = "a line of dots and dashes"
    SQUARES = "a line with a square at each value"
    TRIANGLES = "a line with a triangle at each value"
    DIAMONDS = "diamonds, and no line"


_DASHES = {Mark.DASHED: [7, 4], Mark.DOTTED: [2, 3], Mark.DOT_DASHED: [9, 3, 2, 3]}
_CIRCLE = "M0.38,0A0.38,0.38,0,1,1,-0.38,0A0.38,0.38,0,1,1,0.38,0Z"
_DIAMOND = "M0,-0.6L0.5,0L0,0.6L-0.5,0Z"
_SQUARE = "M-0.32,-0.32H0.32V0.32H-0.32Z"
_TRIANGLE = "M0,-0.44L0.42,0.34L-0.42,0.34Z"
_CROSS = (
    "M-0.4,-0.28L-0.28,-0.4L0,-0.12L0.28,-0.4L0.4,-0.28L0.12,0"
    "L0.4,0.28L0.28,0.4L0,0.12L-0.28,0.4L-0.4,0.28L-0.12,0Z"
)
_STROKE = "M-1.2,0L1.2,0"
_SHAPES = {
    Mark.MEASURED: _CIRCLE,
    Mark.SQUARES: _SQUARE,
    Mark.TRIANGLES: _TRIANGLE,
    Mark.DIAMONDS: _DIAMOND,
}
_SYMBOL_SIZE = 280  # of dots and of the legend alike: large enough to show how a line is dashed


@dataclass(frozen=True)
class Axis:
    """What is measured, with its unit, and from where to where.

    A logarithmic axis shows factors as distances.
    """

    title: str
    lowest: float
    highest: float
    ticks: tuple[float, ...]
    logarithmic: bool = False


@dataclass(frozen=True)
class Series:
    """Points of one name, in the order of x.

    ``spread`` is a lower and an upper end for each point, ``note`` a text above the first one, or
    below it where another line runs above.
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
    """One of several charts side by side that share their axes; ``shade`` marks a range of x."""

    title: str
    series: tuple[Series, ...]
    shade: tuple[float, float] | None = None


@dataclass(frozen=True)
class Bar:
    """One bar, with the group that its colour shows."""

    name: str
    value: float
    group: str


@dataclass(frozen=True)
class Decisions:
    """The answers to one row of models, whether each passed; the first model is number 1."""

    name: str
    passed: tuple[bool, ...]

    @property
    def active(self) -> list[tuple[int, int]]:
        """From which number to which a model stays active, until the next one passes."""
        starts = [1, *(number for number, passed in enumerate(self.passed, start=2) if passed)]
        return list(zip(starts, [*starts[1:], len(self.passed) + 2], strict=True))


def png(svg: str) -> bytes:
    """A chart as pixels, at twice its size; transparent outside of its panel."""
    _altair()
    import vl_convert

    return _packed(vl_convert.svg_to_png(svg, scale=2))


def _packed(image: bytes) -> bytes:
    """The same PNG, its pixels compressed as far as they go: a third of the size."""
    signature, rest, pixels, kept = image[:8], image[8:], b"", []
    while rest:
        length = int.from_bytes(rest[:4], "big")
        kind, data, rest = rest[4:8], rest[8 : 8 + length], rest[12 + length :]
        if kind == b"IDAT":
            pixels += data
        else:
            kept.append((kind, data))
    kept.insert(-1, (b"IDAT", zlib.compress(zlib.decompress(pixels), 9)))
    return signature + b"".join(
        len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
        for kind, data in kept
    )


def decision_chart(
    panels: Sequence[tuple[str, Sequence[Decisions]]], across: str, width: int
) -> str:
    """Which models passed and which failed, over a bar for each model while it is active."""
    altair = _altair()
    drawn = [
        _decision_panel(altair, rows, across if position == len(panels) - 1 else "").properties(
            width=width, height=46 * len(rows), title=title
        )
        for position, (title, rows) in enumerate(panels)
    ]
    return _svg(altair.vconcat(*drawn, spacing=14) if len(drawn) > 1 else drawn[0])


def line_chart(panels: Sequence[Panel], across: Axis, up: Axis, width: int, height: int) -> str:
    """Lines over one axis, a panel for each case; one legend serves all of them."""
    altair = _altair()
    drawn = [
        _panel(altair, panel, across, up, named=position == 0).properties(
            width=width, height=height, title=panel.title
        )
        for position, panel in enumerate(panels)
    ]
    return _svg(altair.hconcat(*drawn, spacing=16, bounds="flush") if len(drawn) > 1 else drawn[0])


def bar_chart(bars: Sequence[Bar], colours: dict[str, Colour], axis: Axis, width: int) -> str:
    """Horizontal bars in the order given, each with its value beside it."""
    altair = _altair()
    rows = [
        {"name": bar.name, "value": bar.value, "group": bar.group, "shown": f"{bar.value:,.0f}"}
        for bar in bars
    ]
    names = altair.Axis(title=None, labelLimit=320, labelPadding=7, ticks=False)
    base = altair.Chart(altair.InlineData(values=rows)).encode(
        y=altair.Y("name:N", sort=None, axis=names),
        x=_scaled(altair.X("value:Q"), axis),
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
    return _svg((drawn + shown).properties(width=width, height=27 * len(rows)))


_PASSED, _FAILED = "passed", "failed"


def _decision_panel(altair: Any, rows: Sequence[Decisions], across: str) -> Any:
    count = max(len(row.passed) for row in rows) + 1
    names = altair.Axis(title=None, labelPadding=8, ticks=False, domain=False, labelLimit=320)
    numbers = altair.Axis(
        title=across or None,
        values=list(range(1, count + 1)),
        grid=False,
        domain=False,
        ticks=False,
    )
    scale = altair.Scale(domain=[0.5, count + 0.9], nice=False)
    x = altair.X("x:Q", scale=scale, axis=numbers)
    y = altair.Y("row:N", sort=None, axis=names)
    spans = [
        {"row": row.name, "x": start - 0.4, "end": end - 0.6, "note": f"model {start}"}
        for row in rows
        for start, end in row.active
    ]
    bars = altair.Chart(altair.InlineData(values=spans)).encode(x=x, y=y)
    answers = [
        {"row": row.name, "x": number, "answer": _PASSED if passed else _FAILED}
        for row in rows
        for number, passed in enumerate(row.passed, start=2)
    ]
    marks = altair.Chart(altair.InlineData(values=answers)).encode(x=x, y=y)
    return altair.layer(
        bars.mark_bar(height=18, yOffset=9, cornerRadius=3, color=EDGE).encode(x2="end"),
        bars.mark_text(align="left", dx=5, yOffset=10, fontSize=SMALL, color=INK).encode(
            text="note:N"
        ),
        _answers(altair, marks),
    )


def _answers(altair: Any, chart: Any) -> Any:
    """Above the bars: told apart by shape as well as by colour."""
    look = {
        "legend": altair.Legend(
            title=None, orient="bottom", symbolSize=_SYMBOL_SIZE, symbolOpacity=1
        )
    }
    domain = [_PASSED, _FAILED]
    colours = altair.Scale(domain=domain, range=[Colour.BLUE.value, Colour.VERMILION.value])
    shapes = altair.Scale(domain=domain, range=[_CIRCLE, _CROSS])
    return chart.mark_point(filled=True, size=_SYMBOL_SIZE, opacity=1, yOffset=-10).encode(
        color=altair.Color("answer:N", scale=colours, **look),
        shape=altair.Shape("answer:N", scale=shapes, **look),
    )


def _panel(altair: Any, panel: Panel, across: Axis, up: Axis, *, named: bool) -> Any:
    """The layers of one panel. Only the first panel names the axis that all of them share."""
    series = panel.series
    x, y = _scaled(altair.X("x:Q"), across), _scaled(altair.Y("y:Q"), up)
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
    return altair.layer(*layers)


def _shade(altair: Any, shade: tuple[float, float], x: Any) -> Any:
    """The range of x that the text speaks of, behind everything else."""
    data = altair.InlineData(values=[{"x": shade[0], "end": shade[1]}])
    return altair.Chart(data).mark_rect(color=Colour.GREY.value, opacity=0.16).encode(x=x, x2="end")


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
    return altair.Chart(altair.InlineData(values=rows))


def _by_name(altair: Any, channel: Any, named: Sequence[Series], values: list[Any]) -> Any:
    """A channel that tells series apart. It names all of them, so that the legends become one."""
    names = [series.name for series in named]
    symbol: dict[str, Any] = {
        "symbolSize": _SYMBOL_SIZE,
        "symbolStrokeWidth": 2,
        "symbolOpacity": 1,
    }
    if not any(series.mark in _SHAPES for series in named):
        symbol["symbolType"] = _STROKE
    legend = altair.Legend(title=None, orient="bottom", columns=3, **symbol)
    return channel("name:N", scale=altair.Scale(domain=names, range=values), legend=legend)


def _coloured(altair: Any, named: Sequence[Series]) -> Any:
    return _by_name(altair, altair.Color, named, [series.colour.value for series in named])


def _spread(altair: Any, chart: Any, named: Sequence[Series]) -> Any:  # noqa: ARG001
    """Coloured by itself and not by name: the legend shows lines."""
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
    shapes = [_SHAPES.get(series.mark, _STROKE) for series in named]
    return chart.mark_point(filled=True, size=_SYMBOL_SIZE, opacity=1).encode(
        color=_coloured(altair, named), shape=_by_name(altair, altair.Shape, named, shapes)
    )


def _notes_above(altair: Any, chart: Any, named: Sequence[Series]) -> Any:  # noqa: ARG001
    place = {"align": "left", "baseline": "bottom", "dx": 3, "dy": -2}
    return chart.mark_text(**place, fontSize=SMALL, color=INK).encode(text="note:N")


def _notes_below(altair: Any, chart: Any, named: Sequence[Series]) -> Any:  # noqa: ARG001
    place = {"align": "left", "baseline": "top", "dx": 3, "dy": 4}
    return chart.mark_text(**place, fontSize=SMALL, color=INK).encode(text="note:N")


def _scaled(channel: Any, axis: Axis) -> Any:
    kind = {"type": "log"} if axis.logarithmic else {}
    return (
        channel.title(axis.title)
        .scale(domain=[axis.lowest, axis.highest], nice=False, **kind)
        .axis(format=",~f", values=list(axis.ticks), labelFlush=False)
    )


def _altair() -> ModuleType:
    """The library that draws, or a plain word about the extra that brings it."""
    try:
        import altair
        import vl_convert  # noqa: F401 - altair finds it by itself, but says less if it is missing
    except ImportError:
        raise UsageError(
            "charts need the extra: pip install 'easeci[charts]'",
            hint="Everything else works without it.",
        ) from None
    return altair


def _svg(chart: Any) -> str:
    sizes = {"labelFontSize": TEXT, "titleFontSize": TEXT, "titleFontWeight": "normal"}
    inks = {"labelColor": SOFT_INK, "titleColor": INK, "gridColor": GRID, "domainColor": SOFT_INK}
    configured = (
        chart.configure(padding=MARGIN, background="transparent", font=FONT)
        .configure_view(stroke=None)
        .configure_axis(**sizes, **inks, tickColor=SOFT_INK, titlePadding=10)
        .configure_legend(labelFontSize=TEXT, labelColor=INK, labelLimit=420, padding=8)
        .configure_title(fontSize=HEADING, color=INK, fontWeight=600, frame="group")
    )
    written = io.StringIO()
    configured.save(written, format="svg")
    return _on_a_panel(written.getvalue())


def _on_a_panel(svg: str) -> str:
    """The drawing on a light panel with round corners, and without a namespace it doesn't use."""
    head = re.match(r'<svg [^>]*width="([\d.]+)" height="([\d.]+)"[^>]*>', svg)
    assert head is not None
    width, height = (float(size) for size in head.groups())
    panel = (
        f'<rect x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1:g}" rx="6" '
        f'fill="{PANEL}" stroke="{EDGE}"/>'
    )
    opening = re.sub(r' xmlns:xlink="[^"]*"', "", head.group())
    return opening + panel + svg[head.end() :] + "\n"


# The history of a testset: what each of its steps found, in rows of at most a hundred steps.

STEPS_IN_A_ROW = 100
_FEWEST_STEPS = 12  # so that a first step is not a bar as wide as the chart
_HISTORY_WIDTH, _HISTORY_HEIGHT, _LANE, _COUNTS_HEIGHT = 730, 190, 16, 90
_CROSS = "M-0.5,-0.5L0.5,0.5M0.5,-0.5L-0.5,0.5"
_RING = "M0.42,0A0.42,0.42,0,1,1,-0.42,0A0.42,0.42,0,1,1,0.42,0Z"
_DISC = "M0.5,0A0.5,0.5,0,1,1,-0.5,0A0.5,0.5,0,1,1,0.5,0Z"
OUTCOMES = {
    "True": ("shown True", Colour.BLUE, _DISC, Colour.BLUE.value),
    "False": ("shown False", Colour.VERMILION, _CROSS, "transparent"),
    "Unknown": ("Unknown", Colour.GREY, _RING, "transparent"),
}
"""Of each outcome: its name, its colour, and its shape with what fills it."""


@dataclass(frozen=True)
class StepPoint:
    """What one step found of a clause; ``estimate`` is None if no mean can be told."""

    step: int
    estimate: float | None
    low: float
    high: float
    outcome: str


def history_chart(
    points: Sequence[StepPoint], name: str, threshold: float, zone: tuple[float, float]
) -> str:
    """Estimates and intervals of a clause over the steps, against its threshold and zone.

    Below each step a mark says its outcome. An interval that is wider than the chart, such as one
    that knows a single limit, is cut at the chart's edge.
    """
    altair = _altair()
    reach = _reach(points, threshold, zone)
    rows = []
    for first, last in _step_rows([point.step for point in points]):
        chosen = [point for point in points if first <= point.step <= last]
        x = _steps_axis(altair, first, last)
        upper = _history_panel(altair, chosen, x.axis(None), reach, name, threshold, zone)
        rows += [upper, _outcome_lane(altair, chosen, x)]
    return _svg(altair.vconcat(*rows, spacing=4).resolve_scale(x="independent"))


def count_chart(counts: Sequence[tuple[int, int]], name: str) -> str:
    """A bar for each step."""
    altair = _altair()
    most = max(1, *(count for _, count in counts))
    rows = []
    for first, last in _step_rows([step for step, _ in counts]):
        values = [{"step": s, "count": count} for s, count in counts if first <= s <= last]
        width = max(2.0, min(28.0, 0.62 * _HISTORY_WIDTH / (last - first + 1)))
        y = altair.Y("count:Q", title=name, scale=altair.Scale(domain=[0, most], nice=True))
        bars = altair.Chart(altair.InlineData(values=values)).mark_bar(
            width=width, color=Colour.BLUE.value
        )
        drawn = bars.encode(
            x=_steps_axis(altair, first, last),
            y=y.axis(tickCount=3, format=",~d", tickMinStep=1, minExtent=52, maxExtent=52),
        )
        rows.append(drawn.properties(width=_HISTORY_WIDTH, height=_COUNTS_HEIGHT))
    return _svg(altair.vconcat(*rows, spacing=8))


def require_charts() -> None:
    """An error in plain words if what draws charts is not installed."""
    _altair()


def _step_rows(steps: Sequence[int]) -> list[tuple[int, int]]:
    """The first and last step of each row; all rows are of one scale."""
    last = max(steps)
    if last <= STEPS_IN_A_ROW:
        return [(1, max(last, _FEWEST_STEPS))]
    return [(first, first + STEPS_IN_A_ROW - 1) for first in range(1, last + 1, STEPS_IN_A_ROW)]


def _reach(
    points: Sequence[StepPoint], threshold: float, zone: tuple[float, float]
) -> tuple[float, float]:
    """From where to where values are drawn: all estimates, and what fits of the intervals."""
    core = [threshold, *zone, *(p.estimate for p in points if p.estimate is not None)]
    low, high = min(core), max(core)
    room = max(high - low, 2 * (zone[1] - zone[0]))
    ends = [end for p in points for end in (p.low, p.high) if low - room <= end <= high + room]
    low, high = min([low, *ends]), max([high, *ends])
    margin = 0.12 * max(high - low, zone[1] - zone[0])
    return low - margin, high + margin


def _steps_axis(altair: Any, first: int, last: int) -> Any:
    scale = altair.Scale(domain=[first - 0.6, last + 0.6], nice=False)
    ticks = altair.Axis(format="d", tickMinStep=1, tickCount=12, grid=False)
    return altair.X("step:Q", title="step", scale=scale, axis=ticks)


def _history_panel(
    altair: Any,
    points: Sequence[StepPoint],
    x: Any,
    reach: tuple[float, float],
    name: str,
    threshold: float,
    zone: tuple[float, float],
) -> Any:
    low, high = reach
    values = [
        {"step": p.step, "estimate": p.estimate, "colour": OUTCOMES[p.outcome][1].value}
        | {"low": max(p.low, low), "high": min(p.high, high)}
        for p in points
    ]
    ticks = altair.Axis(format=".4~f", tickCount=5, minExtent=52, maxExtent=52)
    scale = altair.Scale(domain=[low, high], nice=False)
    one = altair.Chart(altair.InlineData(values=[{"c": threshold, "a": zone[0], "b": zone[1]}]))
    shade = one.mark_rect(color=Colour.GREY.value, opacity=0.2).encode(
        y=altair.Y("a:Q", title=name, scale=scale, axis=ticks), y2="b:Q"
    )
    line = one.mark_rule(color=INK, strokeWidth=1.4).encode(y="c:Q")
    base = altair.Chart(altair.InlineData(values=values)).encode(
        x=x, color=altair.Color("colour:N", scale=None)
    )
    thin = len(values) > 40  # many steps: less ink for each
    bars = base.mark_rule(strokeWidth=2 if thin else 3, opacity=0.55).encode(y="low:Q", y2="high:Q")
    known = base.transform_filter("datum.estimate !== null")
    dots = known.mark_point(filled=True, size=26 if thin else 60, opacity=1).encode(y="estimate:Q")
    layers = altair.layer(shade, bars, line, dots)
    return layers.properties(width=_HISTORY_WIDTH, height=_HISTORY_HEIGHT)


def _outcome_lane(altair: Any, points: Sequence[StepPoint], x: Any) -> Any:
    """A mark for each step, told apart by shape as well as by colour."""
    values = [{"step": p.step, "outcome": OUTCOMES[p.outcome][0]} for p in points]
    names, colours, shapes, fills = (
        list(column) for column in zip(*OUTCOMES.values(), strict=True)
    )

    def named(channel: Any, marks: list[Any]) -> Any:
        legend = altair.Legend(title=None, orient="bottom", symbolSize=110, symbolStrokeWidth=2)
        return channel("outcome:N", scale=altair.Scale(domain=names, range=marks), legend=legend)

    marks = altair.Chart(altair.InlineData(values=values)).mark_point(
        size=60 if len(values) > 40 else 110, opacity=1, strokeWidth=2
    )
    drawn = marks.encode(
        x=x,
        stroke=named(altair.Stroke, [colour.value for colour in colours]),
        shape=named(altair.Shape, shapes),
        fill=named(altair.Fill, fills),
    )
    return drawn.properties(width=_HISTORY_WIDTH, height=_LANE)
