"""Labels by method for a month of commits: the table and the picture that the README shows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from bench.month import STEPS, simulate_month
from bench.month_page import CEILING, DIFFERENCE, OURS, PUBLISHED
from bench.page import table
from bench.progress import as_done
from bench.published import planned, published

from easeci.charts import Axis, Bar, Colour, bar_chart
from easeci.script import Adaptivity, Estimator
from paper.measured import MonthLabels

SENSITIVITIES = ("0.9999", "0.95")
MONTHS = 400
OPENING = """\
## Labels by method

A month of commits: `n - o > 0.02 +/- 0.01`, reliability 0.9999, {steps} fully adaptive steps, each
commit changing 8% of the predictions. The published sizes are planned with p = 0.1; active
labelling and sequential are counted in {months} simulated months with the same commits (see the
[benchmarks](../benchmarks.md), which measure the same), ± the standard error of their mean.

![Labels for a month of commits, by method](labels.svg)

"""


@dataclass(frozen=True)
class Method:
    """One way to decide 32 commits, and the labels it takes in all."""

    name: str
    labels: float
    group: str
    error: float | None = None

    @property
    def shown(self) -> str:
        return f"{self.labels:,.0f}" + ("" if self.error is None else f" ± {self.error:,.0f}")


def simulate(sensitivity: str) -> Iterator[tuple[int, int]]:
    """Labels of each month, and of active labelling on the same commits."""
    work = partial(simulate_month, sensitivity=Fraction(sensitivity))
    return ((month.labels, month.differing) for month in as_done(work, range(MONTHS)))


def _measured(name: str, counts: tuple[int, ...], group: str) -> Method:
    mean = sum(counts) / len(counts)
    variance = sum((count - mean) ** 2 for count in counts) / (len(counts) - 1)
    return Method(name, mean, group, math.sqrt(variance / len(counts)))


def methods(months: tuple[MonthLabels, ...]) -> list[Method]:
    sizes = published(CEILING, Adaptivity.FULL)
    exact = planned(DIFFERENCE, Adaptivity.FULL).estimate(Estimator.EXACT).labels
    assert exact is not None
    return [
        Method("Hoeffding (the paper's baseline)", sizes.hoeffding, PUBLISHED),
        Method("Pattern 1", sizes.pattern1, PUBLISHED),
        _measured("Pattern 1, active labelling", months[0].differing, PUBLISHED),
        Method("exact, labelled beforehand", exact, OURS),
        *(_measured(f"sequential, sensitivity {m.sensitivity}", m.labels, OURS) for m in months),
    ]


def labels_table(months: tuple[MonthLabels, ...]) -> str:
    found = methods(months)
    rows = (
        [m.name, m.shown, f"{m.labels / STEPS:,.0f}", f"{found[0].labels / m.labels:,.0f}×"]
        for m in found
    )
    headings = [f"method, for {STEPS} adaptive commits", "labels", "a commit", "fewer"]
    return table(headings, rows)


def chart(months: tuple[MonthLabels, ...]) -> str:
    bars = [Bar(m.name, m.labels, m.group) for m in methods(months)]
    axis = Axis(f"labels for {STEPS} commits", 100, 1e6, (100, 1e3, 1e4, 1e5, 1e6), True)
    return bar_chart(bars, {PUBLISHED: Colour.ORANGE, OURS: Colour.BLUE}, axis, width=480)


def section(months: tuple[MonthLabels, ...]) -> str:
    return OPENING.format(steps=STEPS, months=len(months[0].labels)) + labels_table(months)
