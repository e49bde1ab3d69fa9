"""From a chart of altair, the library that draws, to SVG text on a light panel, and to PNG."""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from types import ModuleType
from typing import Any, Protocol

from easeci.charts.style import EDGE, FONT, GRID, HEADING, INK, MARGIN, PANEL, SOFT_INK, TEXT
from easeci.errors import UsageError


@dataclass(frozen=True)
class Axis:
    """An axis: what is measured and its unit, the range, and the ticks.

    A logarithmic axis shows factors as distances. ``labels`` replace the numbers at the ticks.
    """

    title: str
    lowest: float
    highest: float
    ticks: tuple[float, ...]
    logarithmic: bool = False
    labels: tuple[str, ...] = ()


PLAIN = ",~f"


def scaled(channel: Any, axis: Axis, form: str = PLAIN) -> Any:
    """A channel of the chart with the scale and the ticks of an axis."""
    kind = {"type": "log"} if axis.logarithmic else {}
    ticks: dict[str, Any] = {"format": form}
    if axis.labels:
        named = dict(zip(axis.ticks, axis.labels, strict=True))
        words, places = json.dumps(list(named.values())), json.dumps(list(named))
        ticks = {"labelExpr": f"{words}[indexof({places}, datum.value)]"}
    return (
        channel.title(axis.title)
        .scale(domain=[axis.lowest, axis.highest], nice=False, **kind)
        .axis(**ticks, values=list(axis.ticks), labelFlush=False)
    )


def round_step(span: int, most_ticks: int) -> int:
    """The distance between ticks: the smallest of 1, 2, 5, 10, 20, … that gives few enough."""
    steps = (factor * int(10**power) for power in count() for factor in (1, 2, 5))
    return next(step for step in steps if span <= step * (most_ticks - 1))


def has_charts() -> bool:
    """Whether the extra that draws charts is installed."""
    try:
        load_altair()
    except UsageError:
        return False
    return True


def require_charts() -> None:
    """Raise an error if the extra that draws charts is not installed."""
    load_altair()


def warm_up() -> None:
    """Draw one chart now, so that the first chart that a reader waits for is as quick as any."""
    altair = load_altair()
    dot = chart_of(altair, [{"x": 0}]).mark_point().encode(x="x:Q")
    png(svg_text(dot))


def load_altair() -> ModuleType:
    """The library that draws; an error that names the extra if it is missing."""
    try:
        import altair
        import vl_convert  # noqa: F401 - altair imports it too, but its error would say less
    except ImportError:
        raise UsageError(
            "charts need the extra: pip install 'easeci[charts]'",
            hint="Everything else works without it.",
        ) from None
    return altair


def chart_of(altair: ModuleType, rows: Sequence[Mapping[str, object]]) -> Any:
    """A chart of these rows, still without marks.

    The rows are passed as one JSON text. Otherwise the library copies and checks every value for
    every layer and panel, which takes longer than drawing.
    """
    text = json.dumps(rows)
    name = f"rows-{hashlib.sha256(text.encode()).hexdigest()[:16]}"  # without one, they are moved
    data = altair.InlineData(values=text, name=name, format=altair.DataFormat(type="json"))
    return altair.Chart(data)


Spec = dict[str, Any]
"""The Vega-Lite specification of a chart, or of several in one."""


def layered(*charts: Any, **size: object) -> Spec:
    """Charts one above the other, on the same axes."""
    return {"layer": [_spec(chart) for chart in charts], **size}


def in_rows(charts: Sequence[Any], spacing: int) -> Spec:
    """Charts below each other, each with an x axis of its own."""
    rows = [_spec(chart) for chart in charts]
    return {"vconcat": rows, "spacing": spacing, "resolve": {"scale": {"x": "independent"}}}


def side_by_side(charts: Sequence[Any], spacing: int) -> Spec:
    """Charts beside each other."""
    columns = [_spec(chart) for chart in charts]
    return {"hconcat": columns, "spacing": spacing, "bounds": "flush"}


def _spec(chart: Any) -> Spec:
    """The specification of a chart, not checked against the library's schema.

    The check, and the library's own way to compose charts, take longer than drawing.
    """
    if isinstance(chart, dict):
        return chart
    spec: Spec = chart.to_dict(validate=False, context={"top_level": False})
    return spec


_CONFIG: dict[str, Any] = {
    "padding": MARGIN,
    "background": "transparent",
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": TEXT,
        "titleFontSize": TEXT,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "labelColor": SOFT_INK,
        "titleColor": INK,
        "gridColor": GRID,
        "domainColor": SOFT_INK,
        "tickColor": SOFT_INK,
    },
    "legend": {"labelFontSize": TEXT, "labelColor": INK, "labelLimit": 420, "padding": 8},
    "title": {"fontSize": HEADING, "color": INK, "fontWeight": 600, "frame": "group"},
}


def svg_text(chart: Any, columns: int = 0, *, slim: bool = False) -> str:
    """The chart as SVG; its legend has ``columns``, by default one for each name.

    A slim chart has no space around its legend, which may be its widest part.
    """
    altair = load_altair()
    import vl_convert

    version = "_".join(altair.SCHEMA_VERSION.split(".")[:2])
    legend = _CONFIG["legend"] | {"columns": columns} | ({"padding": 0} if slim else {})
    spec = {**_spec(chart), "config": _CONFIG | {"legend": legend}}
    return _on_a_panel(vl_convert.vegalite_to_svg(spec, vl_version=version))


def _on_a_panel(svg: str) -> str:
    """Put the drawing on a light panel with round corners; drop a namespace that it doesn't use."""
    head = re.match(r'<svg [^>]*width="([\d.]+)" height="([\d.]+)"[^>]*>', svg)
    assert head is not None
    width, height = (float(size) for size in head.groups())
    panel = (
        f'<rect x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1:g}" rx="6" '
        f'fill="{PANEL}" stroke="{EDGE}"/>'
    )
    opening = re.sub(r' xmlns:xlink="[^"]*"', "", head.group())
    return opening + panel + svg[head.end() :] + "\n"


class Draw(Protocol):
    """A function that draws a chart for a desk or, slim, for a phone."""

    def __call__(self, *, slim: bool) -> str:
        """The chart as SVG."""
        ...


def for_pages(draw: Draw) -> dict[str, str]:
    """A chart for a desk and one for a phone, by the CSS class that shows one of them."""
    return {"wide": draw(slim=False), "slim": draw(slim=True)}


def png(svg: str) -> bytes:
    """A chart as PNG at twice its size; transparent outside its panel."""
    load_altair()
    import vl_convert

    return _packed(vl_convert.svg_to_png(svg, scale=2))


def _packed(image: bytes) -> bytes:
    """The same PNG, compressed again at the highest level: a third of the size."""
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
