"""Searches whose errors are always on the safe side."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from easeci.bounds.arrays import BoolArray, IntArray


def smallest(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest integer in [low, high] where ``holds``, which is false and then true.

    Returns ``high``, unchecked, if ``holds`` nowhere below it.
    """
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return high


def first_lasting(
    certified: int,
    qualify: Callable[[IntArray, IntArray], BoolArray],
    *,
    chunk: int = 32,
    widest: int | None = None,
) -> int:
    """The smallest N from which on every larger N qualifies.

    All sizes from ``certified`` on are known to qualify. Below it, spans of sizes are checked,
    downwards, until a single size does not qualify. Feasibility is a saw-tooth in the sample size,
    so neither bisection nor the first N that qualifies would be right.

    ``qualify(lows, highs)`` checks ``chunk`` spans at once. For a single size its answer is exact;
    for several, true means that all of them qualify, and false says nothing. So spans widen, up to
    ``widest``, as long as they qualify, and narrow where they do not.
    """
    above, width = certified, 1
    while above > 1:
        edges = np.maximum(above - width * np.arange(chunk + 1, dtype=np.int64), 1)
        edges = edges[: int(np.argmin(edges)) + 1]
        refused = np.flatnonzero(~qualify(edges[1:], edges[:-1] - 1))
        if not refused.size:
            above, width = int(edges[-1]), min(widest or certified, 4 * width)
            continue
        above = int(edges[refused[0]])
        if width == 1:
            return above
        width = max(1, width // 4)
    return 1


def excess(log_tail: float, log_level: float) -> float:
    """How far a tail is above its level: the sign of the difference, but nearly linear.

    The logarithm of a tail falls with the square of the distance from the mean, so its square root
    is nearly linear, and a secant method needs few steps: √(−level) − √(−tail), written so that
    its sign is exact. The level is below 1.
    """
    if log_tail == -math.inf:
        return log_tail
    return (log_tail - log_level) / (math.sqrt(-log_level) + math.sqrt(max(-log_tail, 0.0)))


def last_within(
    excess: Callable[[float], float], inside: float, outside: float, *, slack: float = 1e-12
) -> float:
    """The point furthest from ``inside`` towards ``outside`` with ``excess <= 0``, from within.

    ``excess`` (of a log-probability above the log of its level) is monotone, and at most 0 at
    ``inside``, where it is not evaluated. At the result ``excess`` was evaluated and lies in
    [−slack, 0], or the result is within 1e-16 of the crossing: it errs towards ``inside`` only.
    Regula falsi (Illinois), with a bisection in every fourth step and next to infinite values.
    """
    at_outside = excess(outside)
    if at_outside <= 0.0:
        return outside
    at_inside, replaced_inside = -math.inf, False
    for step in range(400):
        if abs(outside - inside) <= 1e-16:
            break
        point = 0.5 * (inside + outside)
        if step % 4 and math.isfinite(at_inside) and math.isfinite(at_outside):
            point = inside + (outside - inside) * (at_inside / (at_inside - at_outside))
        if not min(inside, outside) < point < max(inside, outside):
            point = 0.5 * (inside + outside)
            if point in (inside, outside):
                break
        value = excess(point)
        if value <= 0.0:
            if value >= -slack:
                return point
            at_outside = at_outside / 2.0 if replaced_inside else at_outside
            inside, at_inside, replaced_inside = point, value, True
        else:
            at_inside = at_inside if replaced_inside else at_inside / 2.0
            outside, at_outside, replaced_inside = point, value, False
    return inside
