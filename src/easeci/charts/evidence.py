"""The evidence on one clause of one commit: wealth against its bar, label by label."""

from __future__ import annotations

import math
from itertools import count
from typing import TYPE_CHECKING

from easeci.charts.drawing import Axis
from easeci.charts.lines import Mark, Panel, Series, line_chart
from easeci.charts.style import Colour

if TYPE_CHECKING:
    from easeci.verdict.curves import ClauseCurves, Curve

EVIDENCE_WIDTH, EVIDENCE_HEIGHT = 560, 220
FOOT = -3.0
"""Powers of ten: evidence below a thousandth is drawn at the foot, since nothing hangs on it."""
HEADROOM = 0.06
MOST_TICKS = 7
LARGEST_PLAIN = 3
PROOF, PROOF_BAR = "proof", "what a proof must reach"
FUTILITY, FUTILITY_BAR = "futility", "what giving up must reach"
_POWERS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_ENDINGS = {
    "proven": "proven after {} labels",
    "futile": "given up after {} labels",
    "exhausted": "neither after all {} labels",
    "open": "{} labels so far",
}


def evidence_chart(curves: ClauseCurves, width: int = EVIDENCE_WIDTH) -> str:
    """Proof and futility over the labels, each against what it must reach, by factors of ten.

    ``width`` is that of the plot itself.
    """
    last = curves.labels[-1]
    across = _labels_axis(last)
    highest = max(FOOT + 1.0, *(_power(c.target) for c in (curves.proof, curves.futility)))
    ticks = _spaced(math.ceil(FOOT), math.ceil(highest))
    up = Axis(
        "evidence",
        FOOT,
        highest + HEADROOM * (highest - FOOT),
        tuple(float(tick) for tick in ticks),
        labels=tuple(power_of_ten(tick) for tick in ticks),
    )
    # A line of one point would not be seen.
    marks = (Mark.MEASURED, Mark.SQUARES) if last == 0 else (Mark.LINE, Mark.DOT_DASHED)
    drawn = (
        _course(PROOF, Colour.BLUE, marks[0], curves, curves.proof, up),
        _bar(PROOF_BAR, Colour.BLUE, Mark.DASHED, curves.proof, across),
        _course(FUTILITY, Colour.VERMILION, marks[1], curves, curves.futility, up),
        _bar(FUTILITY_BAR, Colour.VERMILION, Mark.DOTTED, curves.futility, across),
    )
    title = _ENDINGS[curves.ending.value].format(f"{last:,}")
    return line_chart([Panel(title, drawn)], across, up, width, EVIDENCE_HEIGHT)


def power_of_ten(power: int) -> str:
    """A power of ten as one reads it: 0.01, 1, 1,000, 10⁶."""
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


def _labels_axis(last: int) -> Axis:
    most = max(last, 1)
    step = _step(most)
    ticks = tuple(float(tick) for tick in range(0, most + 1, step))
    return Axis("labels consulted", 0.0, float(most), ticks)


def _spaced(low: int, high: int) -> list[int]:
    """Whole numbers a round step apart, among them 0."""
    step = _step(high - low)
    return [power for power in range(low, high + 1) if power % step == 0]


def _step(span: int) -> int:
    """The least of 1, 2, 5, 10, 20, … that leaves few enough ticks."""
    steps = (factor * int(10**power) for power in count() for factor in (1, 2, 5))
    return next(step for step in steps if span <= step * (MOST_TICKS - 1))
