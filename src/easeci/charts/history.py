"""The history of a testset: what each step found, in rows of at most a hundred steps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from easeci.charts.drawing import chart_of, in_rows, layered, load_altair, round_step, svg_text
from easeci.charts.style import (
    DIAMOND,
    DISC,
    DRAWN_CROSS,
    INK,
    MARGIN,
    RING,
    SLIM,
    TRIANGLE,
    TRIANGLE_DOWN,
    Colour,
)

FEW_STEPS = 12  # up to so many, steps that are left are shown too
_FEWEST_STEPS = 6  # shown of a longer testset that has just begun
_FEWEST_COUNTS = 4  # so that no tick is at half a label, which would be rounded
_HISTORY_HEIGHT, _LANE, _COUNTS_HEIGHT = 190, 16, 90
_VALUES_WIDTH = 52  # of the axis on the left


@dataclass(frozen=True)
class _Look:
    """The width of a row, the most steps in it, and the most ticks below it."""

    width: int
    steps: int
    ticks: int
    slim: bool

    def thin(self, marks: int) -> bool:
        """Whether there are so many marks that each is drawn smaller."""
        return marks > self.width / 18

    def values(self, name: str, **ticks: object) -> dict[str, Any]:
        """The axis on the left. In a slim chart its name is above it instead of beside it."""
        above = {"titleAngle": 0, "titleAlign": "left", "titleBaseline": "bottom"}
        place = {**above, "titleX": -_VALUES_WIDTH, "titleY": -9} if self.slim else {}
        extent = {"minExtent": _VALUES_WIDTH, "maxExtent": _VALUES_WIDTH}
        return {"title": name, **extent, **place, **ticks}


_WIDE = _Look(730, 100, 15, slim=False)
_SLIM = _Look(SLIM - 2 * MARGIN - _VALUES_WIDTH - 2, 30, 8, slim=True)
Looks = Mapping[str, tuple[str, Colour, str, str]]
OUTCOMES: Looks = {
    "True": ("shown True", Colour.BLUE, DISC, Colour.BLUE.value),
    "False": ("shown False", Colour.VERMILION, DRAWN_CROSS, "transparent"),
    "Unknown": ("Unknown", Colour.GREY, RING, "transparent"),
}
"""The name, colour, shape and fill of each result of a clause."""
PASSED, FAILED, NEW_BASELINE = "passed", "failed", "passed, the new baseline"
ANSWERS: Looks = {
    PASSED: (PASSED, Colour.GREEN, TRIANGLE, Colour.GREEN.value),
    FAILED: (FAILED, Colour.ORANGE, TRIANGLE_DOWN, "transparent"),
    NEW_BASELINE: (NEW_BASELINE, Colour.PURPLE, DIAMOND, Colour.PURPLE.value),
}
"""The same for each answer to the whole condition."""


@dataclass(frozen=True)
class StepPoint:
    """What one step found of a clause; ``estimate`` is None if the mean is not known.

    ``passed`` is the answer to the whole condition, or None to leave it out. ``baseline``: the
    step's commit passed, and became the baseline.
    """

    step: int
    estimate: float | None
    low: float
    high: float
    outcome: str
    passed: bool | None = None
    baseline: bool = False


def history_chart(
    points: Sequence[StepPoint],
    name: str,
    threshold: float,
    zone: tuple[float, float],
    *,
    steps: int | None = None,
    slim: bool = False,
) -> str:
    """Estimates and intervals of a clause over the steps, against its threshold and zone.

    Below each step is a mark for the clause's result, and below that one for the answer, if there
    is one. A thin line goes up from each step whose commit became the baseline. An interval that
    is wider than the chart, such as one with a single limit, is cut at the chart's edge.

    ``steps`` is the number of steps that the testset has. A slim chart has one row, which shows
    the latest steps of a long history.
    """
    altair = load_altair()
    look = _SLIM if slim else _WIDE
    drawn = _Rows.of([point.step for point in points], steps, look)
    points = [point for point in points if point.step >= drawn.first]
    reach = _reach(points, threshold, zone)
    answered = any(point.passed is not None for point in points)
    looks = _legend(look, answered=answered)  # the same for all lanes
    rows = []
    for first, last in drawn.rows:
        chosen = [point for point in points if first <= point.step <= last]
        x = _steps_axis(altair, first, last, drawn.title, look)
        panel = _Panel(name, threshold, zone, reach, look)
        rows.append(_history_panel(altair, chosen, x.axis(None), panel))
        outcomes = [(point.step, OUTCOMES[point.outcome][0]) for point in chosen]
        answers = [(point.step, answer) for point in chosen if (answer := _answer(point))]
        lanes = [outcomes, answers] if answered else [outcomes]
        for position, marks in enumerate(lanes, start=1):
            axis = x if position == len(lanes) else x.axis(None)
            rows.append(_lane(altair, marks, looks, axis, look))
    return svg_text(in_rows(rows, spacing=4), columns=2 if slim and answered else 0, slim=slim)


def _legend(look: _Look, *, answered: bool) -> Looks:
    """What the legend names. A slim one has two columns: results left, answers right."""
    if not answered:
        return OUTCOMES
    if not look.slim:
        return {**OUTCOMES, **ANSWERS}
    pairs = zip(OUTCOMES.items(), ANSWERS.items(), strict=True)
    return dict(item for pair in pairs for item in pair)


def count_chart(
    counts: Sequence[tuple[int, int]], name: str, *, steps: int | None = None, slim: bool = False
) -> str:
    """A bar for each step; ``steps`` and ``slim`` are as in :func:`history_chart`."""
    altair = load_altair()
    look = _SLIM if slim else _WIDE
    drawn = _Rows.of([step for step, _ in counts], steps, look)
    counts = [(step, count) for step, count in counts if step >= drawn.first]
    most = max(_FEWEST_COUNTS, *(count for _, count in counts))
    rows = []
    for first, last in drawn.rows:
        values = [{"step": s, "count": count} for s, count in counts if first <= s <= last]
        width = max(2.0, min(28.0, 0.62 * look.width / (last - first + 1)))
        y = altair.Y("count:Q", scale=altair.Scale(domain=[0, most], nice=True))
        bars = chart_of(altair, values).mark_bar(width=width, color=Colour.BLUE.value)
        ticks = look.values(name, tickCount=3, format=",~d", tickMinStep=1)
        encoded = bars.encode(
            x=_steps_axis(altair, first, last, drawn.title, look), y=y.axis(**ticks)
        )
        rows.append(encoded.properties(width=look.width, height=_COUNTS_HEIGHT))
    return svg_text(in_rows(rows, spacing=8))


@dataclass(frozen=True)
class _Rows:
    """The first and last step of each row, and the name of the axis below. All have one scale."""

    rows: tuple[tuple[int, int], ...]
    title: str = "step"

    @property
    def first(self) -> int:
        """The first step that is shown."""
        return self.rows[0][0]

    @classmethod
    def of(cls, used: Sequence[int], steps: int | None, look: _Look) -> _Rows:
        """Up to the testset's last step if it has few; otherwise with little empty space."""
        last = max(used)
        if last > look.steps:
            return cls._latest(last, look.steps) if look.slim else cls._several(last, look.steps)
        least = _FEWEST_STEPS if steps is None else steps
        return cls(((1, max(last, least if least <= FEW_STEPS else _FEWEST_STEPS)),))

    @classmethod
    def _latest(cls, last: int, most: int) -> _Rows:
        return cls(((last - most + 1, last),), f"step (the latest {most} of {last:,})")

    @classmethod
    def _several(cls, last: int, most: int) -> _Rows:
        """Rows of equal length that begin at round numbers."""
        rows = math.ceil(last / most)
        length = 10 * math.ceil(last / rows / 10)
        return cls(tuple((first, first + length - 1) for first in range(1, last + 1, length)))


def _reach(
    points: Sequence[StepPoint], threshold: float, zone: tuple[float, float]
) -> tuple[float, float]:
    """The range of the values: all estimates, and as much of the intervals as fits."""
    core = [threshold, *zone, *(p.estimate for p in points if p.estimate is not None)]
    low, high = min(core), max(core)
    room = max(high - low, 2 * (zone[1] - zone[0]))
    ends = [end for p in points for end in (p.low, p.high) if low - room <= end <= high + room]
    low, high = min([low, *ends]), max([high, *ends])
    margin = 0.12 * max(high - low, zone[1] - zone[0])
    return low - margin, high + margin


def _steps_axis(altair: Any, first: int, last: int, title: str, look: _Look) -> Any:
    scale = altair.Scale(domain=[first - 0.6, last + 0.6], nice=False)
    # A few steps have a tick each. No tick may lie between two steps.
    between = 1 if last - first < FEW_STEPS else round_step(last - first, look.ticks)
    places = [step for step in range(first, last + 1) if step % between == 0]
    ticks = altair.Axis(format="d", values=places, grid=False)
    return altair.X("step:Q", title=title, scale=scale, axis=ticks)


@dataclass(frozen=True)
class _Panel:
    """What all rows of a history have in common."""

    name: str
    threshold: float
    zone: tuple[float, float]
    reach: tuple[float, float]
    look: _Look


def _history_panel(altair: Any, points: Sequence[StepPoint], x: Any, panel: _Panel) -> Any:
    (low, high), look = panel.reach, panel.look
    values = [
        {"step": p.step, "estimate": p.estimate, "colour": OUTCOMES[p.outcome][1].value}
        | {"low": max(p.low, low), "high": min(p.high, high)}
        for p in points
    ]
    ticks = altair.Axis(**look.values(panel.name, format=".4~f", tickCount=5))
    scale = altair.Scale(domain=[low, high], nice=False)
    one = chart_of(altair, [{"c": panel.threshold, "a": panel.zone[0], "b": panel.zone[1]}])
    shade = one.mark_rect(color=Colour.GREY.value, opacity=0.2).encode(
        y=altair.Y("a:Q", scale=scale, axis=ticks), y2="b:Q"
    )
    line = one.mark_rule(color=INK, strokeWidth=1.4).encode(y="c:Q")
    base = chart_of(altair, values).encode(x=x, color=altair.Color("colour:N", scale=None))
    thin = look.thin(len(values))
    bars = base.mark_rule(strokeWidth=2 if thin else 3, opacity=0.55).encode(y="low:Q", y2="high:Q")
    known = base.transform_filter("datum.estimate !== null")
    dots = known.mark_point(filled=True, size=26 if thin else 60, opacity=1).encode(y="estimate:Q")
    changes = [{"step": p.step} for p in points if p.baseline]
    rules = chart_of(altair, changes).encode(x=x)
    drawn = [rules.mark_rule(color=Colour.PURPLE.value, strokeWidth=1)] if changes else []
    layers = (shade, *drawn, bars, line, dots)
    return layered(*layers, width=look.width, height=_HISTORY_HEIGHT)


def _answer(point: StepPoint) -> str | None:
    """The mark of a step in the lane of answers; None if it has none."""
    if point.passed is None:
        return None
    if point.baseline:
        return NEW_BASELINE
    return PASSED if point.passed else FAILED


def _lane(altair: Any, marks: Sequence[tuple[int, str]], looks: Looks, x: Any, look: _Look) -> Any:
    """A mark for each step. Marks differ by shape as well as by colour."""
    values = [{"step": step, "mark": mark} for step, mark in marks]
    names, colours, shapes, fills = (list(column) for column in zip(*looks.values(), strict=True))

    def named(channel: Any, looks: list[Any]) -> Any:
        legend = altair.Legend(title=None, orient="bottom", symbolSize=110, symbolStrokeWidth=2)
        return channel("mark:N", scale=altair.Scale(domain=names, range=looks), legend=legend)

    drawn = chart_of(altair, values).mark_point(
        size=60 if look.thin(len(values)) else 110, opacity=1, strokeWidth=2
    )
    encoded = drawn.encode(
        x=x,
        stroke=named(altair.Stroke, [colour.value for colour in colours]),
        shape=named(altair.Shape, shapes),
        fill=named(altair.Fill, fills),
    )
    return encoded.properties(width=look.width, height=_LANE)
