"""The evidence on one clause of one commit, label by label: its targets, and the interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from easeci.charts.drawing import Axis, round_step
from easeci.charts.lines import Mark, Panel, Series, line_chart
from easeci.charts.style import MARGIN, SLIM, Colour

if TYPE_CHECKING:
    from easeci.verdict.curves import ClauseCurves, Curve

EVIDENCE_HEIGHT = 220
FOOT = -3.0
"""A power of ten. Evidence below a thousandth is drawn at the foot: it decides nothing."""
HEADROOM = 0.06
MOST_TICKS = 7
LARGEST_PLAIN = 3
PROOF, PROOF_BAR = "proof", "what a proof must reach"
FUTILITY, FUTILITY_BAR = "futility", "what stops asking"
LOWER, UPPER, THRESHOLD = "lower end of the interval", "upper end", "threshold"
AROUND = 1.5
"""The picture reaches this many widths of the last interval beyond its ends."""


@dataclass(frozen=True)
class _Look:
    """Width of the plot, most ticks on the axis below it, columns of the legend."""

    width: int
    ticks: int
    columns: int


_WIDE = _Look(560, MOST_TICKS, 4)
_SLIM = _Look(SLIM - 2 * MARGIN - 68, 5, 2)  # 68 for the axis and half of the last tick
_POWERS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_ENDINGS = {
    "proven": "proven after {} labels",
    "futile": "stopped asking after {} labels",
    "exhausted": "neither after all {} labels",
    "open": "{} labels so far",
}


def evidence_chart(curves: ClauseCurves, *, slim: bool = False) -> str:
    """Proof and futility over the labels, each with what it must reach, on a logarithmic axis."""
    look = _SLIM if slim else _WIDE
    last = curves.labels[-1]
    across = _labels_axis(last, look.ticks)
    highest = max(FOOT + 1.0, *(_power(c.target) for c in (curves.proof, curves.futility)))
    ticks = _spaced(math.ceil(FOOT), math.ceil(highest))
    up = Axis(
        "evidence",
        FOOT,
        highest + HEADROOM * (highest - FOOT),
        tuple(float(tick) for tick in ticks),
        labels=tuple(power_of_ten(tick) for tick in ticks),
    )
    # A line of one point is invisible, so points are drawn instead.
    marks = (Mark.MEASURED, Mark.SQUARES) if last == 0 else (Mark.LINE, Mark.DOT_DASHED)
    drawn = (
        _course(PROOF, Colour.BLUE, marks[0], curves, curves.proof, up),
        _bar(PROOF_BAR, Colour.BLUE, Mark.DASHED, curves.proof, across),
        _course(FUTILITY, Colour.VERMILION, marks[1], curves, curves.futility, up),
        _bar(FUTILITY_BAR, Colour.VERMILION, Mark.DOTTED, curves.futility, across),
    )
    title = _ENDINGS[curves.ending.value].format(f"{last:,}")
    panel = Panel(title, drawn)
    return line_chart([panel], across, up, look.width, EVIDENCE_HEIGHT, look.columns, slim=slim)


def interval_chart(curves: ClauseCurves, *, slim: bool = False) -> str:
    """The interval after each label, cut at the edge of the picture, and the threshold."""
    look = _SLIM if slim else _WIDE
    across = _labels_axis(curves.labels[-1], look.ticks)
    last = (100.0 * curves.low[-1], 100.0 * curves.high[-1])
    room = AROUND * max(last[1] - last[0], 1e-3)
    threshold = 100.0 * curves.threshold
    up = _values_axis(curves.unit, min(last[0] - room, threshold), max(last[1] + room, threshold))
    low, high = (
        tuple(min(max(100.0 * end, up.lowest), up.highest) for end in ends)
        for ends in (curves.low, curves.high)
    )
    labels = tuple(float(x) for x in curves.labels)
    band = tuple(zip(low, high, strict=True))
    lower, upper = (tuple(zip(labels, ends, strict=True)) for ends in (low, high))
    bar = ((across.lowest, threshold), (across.highest, threshold))
    drawn = (
        Series(LOWER, Colour.BLUE, Mark.LINE, lower, spread=band),
        Series(UPPER, Colour.BLUE, Mark.DOT_DASHED, upper),
        Series(THRESHOLD, Colour.VERMILION, Mark.DASHED, bar),
    )
    panel = Panel(f"interval after {curves.labels[-1]:,} labels", drawn)
    return line_chart([panel], across, up, look.width, EVIDENCE_HEIGHT, look.columns, slim=slim)


def _values_axis(unit: str, low: float, high: float) -> Axis:
    fine = 10.0 ** math.floor(math.log10(high - low) - 1.0)
    step = round_step(math.ceil((high - low) / fine), MOST_TICKS) * fine
    first = math.ceil(low / step)
    ticks = tuple(round(k * step, 9) for k in range(first, math.floor(high / step) + 1))
    return Axis(unit, low, high, ticks)


def power_of_ten(power: int) -> str:
    """A power of ten in readable form: 0.01, 1, 1,000, 10⁶."""
    if 0 <= power <= LARGEST_PLAIN:
        return f"{10**power:,}"
    if -LARGEST_PLAIN <= power < 0:
        return f"{10.0**power:.{-power}f}"
    return f"10{str(power).translate(_POWERS)}"


def _course(
    name: str, colour: Colour, mark: Mark, curves: ClauseCurves, curve: Curve, up: Axis
) -> Series:
    heights = (min(max(_power(nats), up.lowest), up.highest) for nats in curve.evidence)
    points = tuple(zip((float(x) for x in curves.labels), heights, strict=True))
    return Series(name, colour, mark, points)


def _bar(name: str, colour: Colour, mark: Mark, curve: Curve, across: Axis) -> Series:
    height = _power(curve.target)
    return Series(name, colour, mark, ((across.lowest, height), (across.highest, height)))


def _power(nats: float) -> float:
    return nats / math.log(10.0)


def _labels_axis(last: int, most_ticks: int) -> Axis:
    most = max(last, 1)
    step = round_step(most, most_ticks)
    ticks = tuple(float(tick) for tick in range(0, most + 1, step))
    return Axis("labels consulted", 0.0, float(most), ticks)


def _spaced(low: int, high: int) -> list[int]:
    """Whole numbers at round distances; 0 is one of them."""
    step = round_step(high - low, MOST_TICKS)
    return [power for power in range(low, high + 1) if power % step == 0]
