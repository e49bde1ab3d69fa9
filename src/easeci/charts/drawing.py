"""From a chart of the library to SVG text on a panel of its own, and to PNG."""

from __future__ import annotations

import io
import json
import re
import zlib
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from easeci.charts.style import EDGE, FONT, GRID, HEADING, INK, MARGIN, PANEL, SOFT_INK, TEXT
from easeci.errors import UsageError


@dataclass(frozen=True)
class Axis:
    """What is measured, with its unit, and from where to where.

    A logarithmic axis shows factors as distances. ``labels`` are the words of the ticks, where
    numbers would not do.
    """

    title: str
    lowest: float
    highest: float
    ticks: tuple[float, ...]
    logarithmic: bool = False
    labels: tuple[str, ...] = ()


PLAIN = ",~f"


def scaled(channel: Any, axis: Axis, form: str = PLAIN) -> Any:
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


def require_charts() -> None:
    """An error in plain words if what draws charts is not installed."""
    load_altair()


def warm_up() -> None:
    """Start what draws, so that the first chart that somebody waits for is as quick as any."""
    altair = load_altair()
    dot = altair.Chart(altair.InlineData(values=[{"x": 0}])).mark_point().encode(x="x:Q")
    png(svg_text(dot))


def load_altair() -> ModuleType:
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


def svg_text(chart: Any) -> str:
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


def png(svg: str) -> bytes:
    """A chart as pixels, at twice its size; transparent outside of its panel."""
    load_altair()
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
