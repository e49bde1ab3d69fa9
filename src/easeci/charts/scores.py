"""How the scores of examples are spread: bars for the new model beside bars for the old one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from easeci.charts.drawing import Axis, chart_of, load_altair, round_step, scaled, svg_text
from easeci.charts.style import MARGIN, SLIM, Colour

NEW_MODEL, OLD_MODEL = "new model", "old model"
_HEIGHT = 180
_WIDE_WIDTH, _SLIM_WIDTH = 560, SLIM - 2 * MARGIN - 68  # 68 for the axis and half of the last tick
_MOST_TICKS = 6
_SPACE = 0.12
"""Between the bars of two parts, as a share of a part."""
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class ScoreCounts:
    """How many examples have a score in each part of 0 to 1; all parts are equally wide."""

    model: str
    counts: tuple[int, ...]


_LOOKS = {NEW_MODEL: (Colour.BLUE, Colour.BLUE.value), OLD_MODEL: (Colour.ORANGE, "transparent")}
"""The stroke and the fill of each model's bars. They differ by more than their colour."""


def score_chart(models: Sequence[ScoreCounts], *, slim: bool = False) -> str:
    """A histogram of the scores of one or two models, side by side in each part."""
    altair = load_altair()
    names = [counts.model for counts in models]
    most = max(1, *(count for found in models for count in found.counts))
    step = round_step(most, _MOST_TICKS)
    up = Axis("examples", 0.0, float(most), tuple(float(t) for t in range(0, most + 1, step)))
    looks = [_LOOKS[name] for name in names]

    def named(channel: Any, values: list[str]) -> Any:
        legend = altair.Legend(title=None, orient="bottom", symbolType="square", symbolSize=130)
        return channel("model:N", scale=altair.Scale(domain=names, range=values), legend=legend)

    bars = chart_of(altair, _bars(models)).mark_rect(strokeWidth=1.5, opacity=1)
    drawn = bars.encode(
        x=scaled(altair.X("start:Q"), Axis("score of an example", 0.0, 1.0, _TICKS)),
        x2="end",
        y=scaled(altair.Y("count:Q"), up),
        y2="zero",
        stroke=named(altair.Stroke, [stroke.value for stroke, _ in looks]),
        fill=named(altair.Fill, [fill for _, fill in looks]),
    )
    width = _SLIM_WIDTH if slim else _WIDE_WIDTH
    return svg_text(drawn.properties(width=width, height=_HEIGHT), slim=slim)


def _bars(models: Sequence[ScoreCounts]) -> list[dict[str, object]]:
    """A rectangle for each count above 0; the last model stands on the left, as it was before."""
    bars: list[dict[str, object]] = []
    for place, found in enumerate(reversed(models)):
        part = 1.0 / len(found.counts)
        width = part * (1.0 - _SPACE) / len(models)
        for number, count in enumerate(found.counts):
            start = part * (number + _SPACE / 2) + place * width
            if count:
                end = start + 0.94 * width
                bar = {"start": start, "end": end, "count": count, "zero": 0}
                bars.append(bar | {"model": found.model})
    return bars
