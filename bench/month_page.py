"""A month of commits: table and charts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from bench.month import STEPS, Month, simulate_month
from bench.page import Figure, Section, broken_promises, table
from bench.progress import on_both_cores, tell
from bench.published import planned, published
from easeci.charts import Axis, Bar, Colour, Mark, Panel, Series, bar_chart, line_chart
from easeci.script import Adaptivity, Estimator

SEEDS = 40
DIFFERENCE, CEILING = 0.08, 0.1
AT_MOST = {"0.9999": 3_400, "0.99": None, "0.95": 2_100}
LOOKS = {
    "0.9999": (Colour.BLUE, Mark.LINE),
    "0.99": (Colour.GREEN, Mark.DASHED),
    "0.95": (Colour.VERMILION, Mark.DOTTED),
}
PUBLISHED, OURS = "as published", "easeci"
OPENING = """\
## A month of commits

32 fully adaptive commits on one testset of 67,706 examples and 4 classes, first accuracy 0.70. Each
commit changes 8% of the baseline's predictions, with a true gain drawn from N(0, 0.02); a pass
becomes the baseline. Condition `n - o > 0.02 +/- 0.01`, fp-free, reliability 0.9999; labels are
bought only when needed, and kept. Sensitivity is the probability that no clear gain (0.04 or more)
fails. {seeds} months with the same commits at every sensitivity; means ± their standard errors:
"""
CHARTS = """
![Labels in a month by method](images/month.svg)

Hoeffding and Pattern 1 (`d < 0.1`, with p = 0.1 as the paper prints it) are planned sizes. Active
labelling asks for every example on which a model differs from its baseline: counted on the same
commits. Exact is the plan of a testset that is labelled beforehand.

![Labels over the month](images/month-labels.svg)

Means of {seeds} months; the band holds the middle 80% of them at sensitivity 0.9999.
"""


@dataclass(frozen=True)
class Months:
    """The months of all seeds at one sensitivity."""

    sensitivity: str
    months: tuple[Month, ...]

    @property
    def totals(self) -> npt.NDArray[np.int64]:
        return np.array([month.labels for month in self.months])

    @property
    def new_labels(self) -> npt.NDArray[np.int64]:
        """A row for each month, a column for each commit."""
        return np.array([month.new_labels for month in self.months])

    @property
    def error(self) -> float:
        return float(self.totals.std(ddof=1)) / math.sqrt(len(self.months))

    @property
    def wrong_passes(self) -> int:
        return sum(month.wrong_passes for month in self.months)

    @property
    def labels(self) -> Figure:
        what = f"labels in a month at sensitivity {self.sensitivity}"
        return Figure(what, float(self.totals.mean()), AT_MOST[self.sensitivity])

    @property
    def wrong(self) -> Figure:
        return Figure(f"wrong passes at sensitivity {self.sensitivity}", self.wrong_passes, 0)


def section() -> Section:
    found = [_measured(sensitivity) for sensitivity in AT_MOST]
    seeds = {"seeds": SEEDS}
    text = OPENING.format(**seeds) + "\n" + month_table(found) + CHARTS.format(**seeds)
    pictures = {"month.svg": totals_chart(found), "month-labels.svg": growth_chart(found)}
    figures = [figure for months in found for figure in (months.labels, months.wrong)]
    return Section(text, pictures, broken_promises(figures))


def _measured(sensitivity: str) -> Months:
    work = partial(simulate_month, sensitivity=Fraction(sensitivity))
    months = Months(sensitivity, tuple(on_both_cores(work, range(SEEDS))))
    tell(f"  sensitivity {sensitivity}: {months.totals.mean():,.0f} labels in a month")
    return months


def month_table(found: list[Months]) -> str:
    headings = ["sensitivity", "labels in a month", "at most", "a commit", "dearest commit",
                "wrong passes", "missed clear gains"]  # fmt: skip
    return table(headings, (_row(months) for months in found), left=0)


def _row(months: Months) -> list[str]:
    missed = sum(month.missed for month in months.months)
    clear = sum(month.clear_gains for month in months.months)
    return [
        months.sensitivity,
        f"{months.labels.shown(',.0f')} ± {months.error:,.0f}",
        months.labels.promise,
        f"{months.new_labels.mean():,.0f}",
        f"{months.new_labels.max():,}",
        months.wrong.shown("d"),
        f"{missed} of {clear}",
    ]


def totals_chart(found: list[Months]) -> str:
    sizes = published(CEILING, Adaptivity.FULL)
    exact = planned(DIFFERENCE, Adaptivity.FULL).estimate(Estimator.EXACT).labels
    assert exact is not None
    active = float(np.mean([month.differing for month in found[0].months]))
    bars = [
        Bar("Hoeffding", sizes.hoeffding, PUBLISHED),
        Bar("Pattern 1", sizes.pattern1, PUBLISHED),
        Bar("Pattern 1, active labelling", active, PUBLISHED),
        Bar("exact, labelled beforehand", exact, OURS),
        *(
            Bar(f"sequential, sensitivity {m.sensitivity}", float(m.totals.mean()), OURS)
            for m in found
        ),
    ]
    axis = Axis(f"labels for {STEPS} commits", 100, 1e6, (100, 1e3, 1e4, 1e5, 1e6), True)
    return bar_chart(bars, {PUBLISHED: Colour.ORANGE, OURS: Colour.BLUE}, axis, width=480)


def growth_chart(found: list[Months]) -> str:
    series = tuple(_labels_so_far(months, band=months is found[0]) for months in found)
    highest = max(high for each in series for _, high in (*each.points, *each.spread))
    top = math.ceil(highest / 1_000) * 1_000
    return line_chart(
        [Panel("Labels bought so far", series)],
        Axis("commit", 0, STEPS, tuple(range(0, STEPS + 1, 4))),
        Axis("labels", 0, top, tuple(range(0, top + 1, 1_000))),
        width=620,
        height=280,
    )


def _labels_so_far(months: Months, *, band: bool) -> Series:
    bought = np.cumsum(np.pad(months.new_labels, ((0, 0), (1, 0))), axis=1)
    low, high = np.quantile(bought, (0.1, 0.9), axis=0)
    return Series(
        f"sensitivity {months.sensitivity}",
        *LOOKS[months.sensitivity],
        points=tuple((float(step), float(mean)) for step, mean in enumerate(bought.mean(axis=0))),
        spread=tuple(zip(low.tolist(), high.tolist(), strict=True)) if band else (),
    )
