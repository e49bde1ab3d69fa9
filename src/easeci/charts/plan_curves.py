"""The curves of a plan: labels against the tolerance, and a pass against the true effect."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from easeci.charts.drawing import Axis
from easeci.charts.lines import Mark, Panel, Series, line_chart
from easeci.charts.style import MARGIN, SLIM, Colour

if TYPE_CHECKING:
    from easeci.plan.curves import PassCurve, ToleranceCurve

HEIGHT = 200
_WIDE_WIDTH, _SLIM_WIDTH = 400, SLIM - 2 * MARGIN - 86  # 86 for the axis and half of the last tick
_MOST_TICKS, _SLIM_TICKS = 8, 5


def tolerance_chart(curve: ToleranceCurve, *, slim: bool = False) -> str:
    """Labels of a testset's life by the tolerance, on a logarithmic axis; a dot is the script."""
    unit = "the script's tolerances, times" if curve.multiples else "tolerance, in points"
    across = _axis(unit, [x for x, _ in curve.points], slim=slim)
    heights = [max(y, 1.0) for _, y in curve.points]
    low = math.floor(math.log10(min(heights)))
    high = max(low + 1, math.ceil(math.log10(max(heights))))
    ticks = tuple(10.0**power for power in range(low, high + 1))
    up = Axis("labels over the testset's life", ticks[0], ticks[-1], ticks, logarithmic=True)
    x, y = curve.here
    drawn = (
        Series(
            "forecast",
            Colour.BLUE,
            Mark.LINE,
            tuple((x, max(y, 1.0)) for x, y in curve.points),
        ),
        Series(
            "this script", Colour.VERMILION, Mark.DIAMONDS, ((x, max(y, 1.0)),), note=f"{y:,.0f}"
        ),
    )
    return _drawn(Panel("", drawn), across, up, slim=slim)


def pass_chart(curve: PassCurve, *, slim: bool = False) -> str:
    """The probability of a pass by the truth; the zone, where either answer is allowed, is grey."""
    unit = "in %" if curve.share else "in points"
    name = f"true {curve.name}, {unit}" if curve.name else "beyond every threshold, in points"
    across = _axis(name, [x for x, _ in curve.points], slim=slim)
    ticks = (0.0, 0.25, 0.5, 0.75, 1.0)
    shares = tuple(f"{tick:.0%}" for tick in ticks)
    up = Axis("probability of a pass", 0.0, 1.0, ticks, labels=shares)
    drawn = (Series("probability of a pass", Colour.BLUE, Mark.LINE, curve.points),)
    low, high = (min(max(x, across.lowest), across.highest) for x in curve.zone)
    return _drawn(Panel("", drawn, (low, high)), across, up, slim=slim)


def _drawn(panel: Panel, across: Axis, up: Axis, *, slim: bool) -> str:
    width = _SLIM_WIDTH if slim else _WIDE_WIDTH
    return line_chart([panel], across, up, width, HEIGHT, slim=slim)


def _axis(title: str, values: list[float], *, slim: bool) -> Axis:
    """An axis over all values, with ticks at round numbers."""
    low, high = min(values), max(values)
    step = _round_step((high - low) / ((_SLIM_TICKS if slim else _MOST_TICKS) - 1))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    ticks = tuple(round(k * step, 12) for k in range(first, last + 1))
    return Axis(title, low, high, ticks)


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not smaller."""
    power = 10.0 ** math.floor(math.log10(max(least, 1e-9)))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= least)
