"""The history of a testset: what each of its steps found, in rows of at most a hundred steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from easeci.charts.drawing import chart_of, in_rows, layered, load_altair, svg_text
from easeci.charts.style import (
    DIAMOND,
    DISC,
    DRAWN_CROSS,
    INK,
    RING,
    TRIANGLE,
    TRIANGLE_DOWN,
    Colour,
)

STEPS_IN_A_ROW = 100
_FEWEST_STEPS = 12  # so that a first step is not a bar as wide as the chart
_FEWEST_COUNTS = 4  # so that no tick is at half a label, which would be written as a whole one
_HISTORY_WIDTH, _HISTORY_HEIGHT, _LANE, _COUNTS_HEIGHT = 730, 190, 16, 90
Looks = Mapping[str, tuple[str, Colour, str, str]]
OUTCOMES: Looks = {
    "True": ("shown True", Colour.BLUE, DISC, Colour.BLUE.value),
    "False": ("shown False", Colour.VERMILION, DRAWN_CROSS, "transparent"),
    "Unknown": ("Unknown", Colour.GREY, RING, "transparent"),
}
"""Of each outcome: its name, its colour, and its shape with what fills it."""
PASSED, FAILED, NEW_BASELINE = "passed", "failed", "passed, the new baseline"
ANSWERS: Looks = {
    PASSED: (PASSED, Colour.GREEN, TRIANGLE, Colour.GREEN.value),
    FAILED: (FAILED, Colour.ORANGE, TRIANGLE_DOWN, "transparent"),
    NEW_BASELINE: (NEW_BASELINE, Colour.PURPLE, DIAMOND, Colour.PURPLE.value),
}
"""The same of each answer to the whole condition."""


@dataclass(frozen=True)
class StepPoint:
    """What one step found of a clause; ``estimate`` is None if no mean can be told.

    ``passed`` is the answer to the whole condition, None where it isn't shown; ``baseline`` says
    that the step's commit became the baseline by it.
    """

    step: int
    estimate: float | None
    low: float
    high: float
    outcome: str
    passed: bool | None = None
    baseline: bool = False


def history_chart(
    points: Sequence[StepPoint], name: str, threshold: float, zone: tuple[float, float]
) -> str:
    """Estimates and intervals of a clause over the steps, against its threshold and zone.

    Below each step a mark says its outcome, and one below that the answer, where it is given; a
    thin line goes up from each step whose commit became the baseline. An interval that is wider
    than the chart, such as one that knows a single limit, is cut at the chart's edge.
    """
    altair = load_altair()
    reach = _reach(points, threshold, zone)
    answered = any(point.passed is not None for point in points)
    looks = {**OUTCOMES, **ANSWERS} if answered else OUTCOMES  # one legend for all lanes
    rows = []
    for first, last in _step_rows([point.step for point in points]):
        chosen = [point for point in points if first <= point.step <= last]
        x = _steps_axis(altair, first, last)
        rows.append(_history_panel(altair, chosen, x.axis(None), reach, name, threshold, zone))
        outcomes = [(point.step, OUTCOMES[point.outcome][0]) for point in chosen]
        answers = [(point.step, answer) for point in chosen if (answer := _answer(point))]
        lanes = [outcomes, answers] if answered else [outcomes]
        for position, marks in enumerate(lanes, start=1):
            axis = x if position == len(lanes) else x.axis(None)
            rows.append(_lane(altair, marks, looks, axis))
    return svg_text(in_rows(rows, spacing=4))


def count_chart(counts: Sequence[tuple[int, int]], name: str) -> str:
    """A bar for each step."""
    altair = load_altair()
    most = max(_FEWEST_COUNTS, *(count for _, count in counts))
    rows = []
    for first, last in _step_rows([step for step, _ in counts]):
        values = [{"step": s, "count": count} for s, count in counts if first <= s <= last]
        width = max(2.0, min(28.0, 0.62 * _HISTORY_WIDTH / (last - first + 1)))
        y = altair.Y("count:Q", title=name, scale=altair.Scale(domain=[0, most], nice=True))
        bars = chart_of(altair, values).mark_bar(width=width, color=Colour.BLUE.value)
        drawn = bars.encode(
            x=_steps_axis(altair, first, last),
            y=y.axis(tickCount=3, format=",~d", tickMinStep=1, minExtent=52, maxExtent=52),
        )
        rows.append(drawn.properties(width=_HISTORY_WIDTH, height=_COUNTS_HEIGHT))
    return svg_text(in_rows(rows, spacing=8))


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
    one = chart_of(altair, [{"c": threshold, "a": zone[0], "b": zone[1]}])
    shade = one.mark_rect(color=Colour.GREY.value, opacity=0.2).encode(
        y=altair.Y("a:Q", title=name, scale=scale, axis=ticks), y2="b:Q"
    )
    line = one.mark_rule(color=INK, strokeWidth=1.4).encode(y="c:Q")
    base = chart_of(altair, values).encode(x=x, color=altair.Color("colour:N", scale=None))
    thin = len(values) > 40  # many steps: less ink for each
    bars = base.mark_rule(strokeWidth=2 if thin else 3, opacity=0.55).encode(y="low:Q", y2="high:Q")
    known = base.transform_filter("datum.estimate !== null")
    dots = known.mark_point(filled=True, size=26 if thin else 60, opacity=1).encode(y="estimate:Q")
    changes = [{"step": p.step} for p in points if p.baseline]
    rules = chart_of(altair, changes).encode(x=x)
    drawn = [rules.mark_rule(color=Colour.PURPLE.value, strokeWidth=1)] if changes else []
    layers = (shade, *drawn, bars, line, dots)
    return layered(*layers, width=_HISTORY_WIDTH, height=_HISTORY_HEIGHT)


def _answer(point: StepPoint) -> str | None:
    """Which mark a step has in the lane of answers, if any."""
    if point.passed is None:
        return None
    if point.baseline:
        return NEW_BASELINE
    return PASSED if point.passed else FAILED


def _lane(altair: Any, marks: Sequence[tuple[int, str]], looks: Looks, x: Any) -> Any:
    """A mark for each step, told apart by shape as well as by colour."""
    values = [{"step": step, "mark": mark} for step, mark in marks]
    names, colours, shapes, fills = (list(column) for column in zip(*looks.values(), strict=True))

    def named(channel: Any, looks: list[Any]) -> Any:
        legend = altair.Legend(title=None, orient="bottom", symbolSize=110, symbolStrokeWidth=2)
        return channel("mark:N", scale=altair.Scale(domain=names, range=looks), legend=legend)

    drawn = chart_of(altair, values).mark_point(
        size=60 if len(values) > 40 else 110, opacity=1, strokeWidth=2
    )
    encoded = drawn.encode(
        x=x,
        stroke=named(altair.Stroke, [colour.value for colour in colours]),
        shape=named(altair.Shape, shapes),
        fill=named(altair.Fill, fills),
    )
    return encoded.properties(width=_HISTORY_WIDTH, height=_LANE)
