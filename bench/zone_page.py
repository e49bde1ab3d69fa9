"""Labels per commit over the zone: tables and chart."""

from __future__ import annotations

from functools import partial

from bench.month import CLEAR, THRESHOLD
from bench.page import Figure, Section, broken_promises, table
from bench.progress import on_both_cores, tell
from bench.published import Published, published
from bench.zone import DIFFERENCES, GAINS, ZonePoint, limit, measure
from easeci.charts import Axis, Colour, Mark, Panel, Series, line_chart
from easeci.script import Adaptivity

REPETITIONS, AT_EDGES = 100, 400
CHARTED = (0.05, 0.1, 0.2)
EDGE_RATIO = 1.35
LOOKS = {
    "Hoeffding": (Colour.PURPLE, Mark.LINE),
    "Pattern 1": (Colour.VERMILION, Mark.DOT_DASHED),
    "Pattern 1, active labelling": (Colour.ORANGE, Mark.DASHED),
    "Pattern 2, active labelling": (Colour.GREEN, Mark.DOTTED),
}
LOWEST = "Pattern 1, active labelling"
OPENING = """\
## Labels per commit

`n - o > 0.02 +/- 0.01`, fp-free: a model that is no more than 0.02 better must not pass, one that
is 0.04 better must; between the two lies the zone. Levels are those of 32 steps without adaptivity,
α = β = 0.0001 / 32, the testset has 67,706 examples and no labels yet, and *d* is the share of
examples on which the models differ. Mean labels of {repetitions} commits ({at_edges} at the edges
of the zone), ± its standard error:
"""
CHART = """
![Labels per commit over the true gain](images/zone.svg)

Models that differ on 2% cannot be more than 0.02 apart: it takes no label to know that. Published
estimators take as many labels whatever the truth is. For one commit on a testset without labels
(later commits reuse them: see the month below), with *d* known, as favourably as in the paper:
"""
EDGES = """
At the edges of the zone no test with these levels that knows *d* takes fewer labels on average than
Wald's limit:
"""
ANSWERS = """
Wrong answers: {passed} of {low:,} commits at or below 0.02 passed, {failed} of {high:,} at 0.04 or
above failed.
"""


def section() -> Section:
    points = _measured()
    sizes = {d: published(d, Adaptivity.NONE) for d in DIFFERENCES}
    edges = edge_figures(points)
    text = (
        OPENING.format(repetitions=REPETITIONS, at_edges=AT_EDGES)
        + "\n" + zone_table(points)
        + CHART + "\n" + published_table(points, sizes)
        + EDGES + "\n" + edge_table(points)
        + answers(points)
    )  # fmt: skip
    return Section(text, {"zone.svg": zone_chart(points, sizes)}, broken_promises(edges))


def _measured() -> list[ZonePoint]:
    found = []
    for difference in DIFFERENCES:
        gains = [gain for gain in GAINS if abs(gain) <= difference]
        found += on_both_cores(partial(_point, difference), gains)
        tell(f"  d = {difference}: {len(gains)} gains")
    return found


def _point(difference: float, gain: float) -> ZonePoint:
    at_edge = limit(difference, gain) is not None
    return measure(difference, gain, AT_EDGES if at_edge else REPETITIONS)


def zone_table(points: list[ZonePoint]) -> str:
    """A row for each gain, a column for each d."""
    cells = {(p.difference, p.gain): f"{p.labels:,.0f} ± {p.error:,.0f}" for p in points}
    rows = (
        [f"{gain:.3f}", *(cells.get((difference, gain), "") for difference in DIFFERENCES)]
        for gain in GAINS
    )
    return table(["true gain", *(f"*d* = {d}" for d in DIFFERENCES)], rows, left=0)


def published_table(points: list[ZonePoint], sizes: dict[float, Published]) -> str:
    rows = [[name, *(f"{sizes[d].by_name[name]:,}" for d in DIFFERENCES)] for name in LOOKS]
    worst = {d: max(p.labels for p in points if p.difference == d) for d in DIFFERENCES}
    level = {p.difference: p.labels for p in points if p.gain == 0.0}
    for name, labels in (("at the worst gain", worst), ("at no gain", level)):
        rows.append([f"sequential, {name}", *(f"{labels[d]:,.0f}" for d in DIFFERENCES)])
    return table(["estimator", *(f"*d* = {d}" for d in DIFFERENCES)], rows)


def edge_figures(points: list[ZonePoint]) -> list[Figure]:
    return [
        Figure(f"labels at d = {p.difference}, gain {p.gain}, in limits", p.ratio, EDGE_RATIO)
        for p in points
        if p.ratio is not None
    ]


def edge_table(points: list[ZonePoint]) -> str:
    edges = [p for p in points if p.limit is not None]
    rows = (
        [f"{p.difference}", f"{p.gain}", f"{p.labels:,.0f} ± {p.error:,.0f}", f"{p.limit:,.0f}",
         figure.shown(".2f"), figure.promise]
        for p, figure in zip(edges, edge_figures(edges), strict=True)
    )  # fmt: skip
    return table(["*d*", "true gain", "labels", "limit", "ratio", "at most"], rows, left=0)


def answers(points: list[ZonePoint]) -> str:
    low = [p for p in points if p.gain <= THRESHOLD]
    high = [p for p in points if p.gain >= CLEAR]
    return ANSWERS.format(
        passed=sum(p.passed for p in low),
        low=sum(p.commits for p in low),
        failed=sum(p.commits - p.passed for p in high),
        high=sum(p.commits for p in high),
    )


def zone_chart(points: list[ZonePoint], sizes: dict[float, Published]) -> str:
    return line_chart(
        [
            _panel([p for p in points if p.difference == difference], sizes[difference])
            for difference in CHARTED
        ],
        Axis("true gain n − o (percentage points)", -2.4, 8.4, (-2, 0, 2, 4, 6, 8)),
        Axis("labels per commit", 10, 500_000, (10, 100, 1_000, 10_000, 100_000), True),
        width=225,
        height=360,
    )


def _panel(points: list[ZonePoint], sizes: Published) -> Panel:
    measured = tuple((100.0 * p.gain, p.labels) for p in points)
    limits = tuple((100.0 * p.gain, p.limit) for p in points if p.limit is not None)
    lines = tuple(
        Series(
            name,
            *LOOKS[name],
            ((-2.4, labels), (8.4, labels)),
            note=f"{labels:,}",
            note_below=name == LOWEST,
        )
        for name, labels in sizes.by_name.items()
    )
    ours = Series("sequential, measured", Colour.BLUE, Mark.MEASURED, measured)
    limit = Series("limit at the zone's edges", Colour.BLACK, Mark.DIAMONDS, limits)
    shade = (100.0 * THRESHOLD, 100.0 * CLEAR)
    return Panel(f"models differ on {points[0].difference:.0%}", (*lines, ours, limit), shade)
