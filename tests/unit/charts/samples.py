"""A small chart of every kind, and the texts that a chart shows."""

from __future__ import annotations

from xml.etree import ElementTree

from easeci.charts import (
    Axis,
    Bar,
    Colour,
    Decisions,
    LabelsBar,
    Mark,
    Panel,
    Series,
    StepPoint,
    bar_chart,
    count_chart,
    decision_chart,
    evidence_chart,
    history_chart,
    interval_chart,
    labels_chart,
    line_chart,
)
from easeci.evidence.endings import Ending
from easeci.verdict.curves import ClauseCurves, Curve

SVG = "{http://www.w3.org/2000/svg}"
ACROSS = Axis("true gain (percentage points)", -2, 8, (-2, 0, 2, 4))
UP = Axis("labels per commit", 10, 1e6, (10, 1e3, 1e5), logarithmic=True)
MEASURED = Series("measured", Colour.BLUE, Mark.MEASURED, ((-2.0, 20.0), (3.0, 900.0), (8.0, 30.0)))
LIMIT = Series("limit", Colour.BLACK, Mark.DIAMONDS, ((2.0, 500.0),))
BASELINE = Series(
    "baseline", Colour.PURPLE, Mark.DASHED, ((-2.0, 267_385.0), (8.0, 267_385.0)), note="267,385"
)
BAND = Series("grown", Colour.GREEN, Mark.LINE, ((0.0, 20.0), (4.0, 90.0)), ((10, 30), (50, 200)))


def lines() -> str:
    panels = [Panel(f"d = {d}", (MEASURED, LIMIT, BASELINE), (2, 4)) for d in (0.05, 0.1)]
    return line_chart(panels, ACROSS, UP, width=200, height=200)


def band() -> str:
    return line_chart([Panel("one", (BAND,))], ACROSS, UP, width=200, height=200)


def bars() -> str:
    drawn = [Bar("Hoeffding", 641_684, "published"), Bar("sequential", 2_880.4, "ours")]
    colours = {"published": Colour.ORANGE, "ours": Colour.BLUE}
    return bar_chart(drawn, colours, Axis("labels", 100, 1e6, (100, 1e6), True), width=300)


ANSWERS = Decisions("(I) fp-free", (False, True, False))


def decisions() -> str:
    return decision_chart([("one", [ANSWERS]), ("two", [ANSWERS])], "iteration", width=300)


LABELS = (
    LabelsBar("hoeffding", 655_547, ours=False),
    LabelsBar("pattern1-active", 80_822, ours=False),
    LabelsBar("sequential", 46_368, ours=True, recommended=True),
)


def labels() -> str:
    return labels_chart(LABELS, slim=True)


def points(count: int = 6) -> list[StepPoint]:
    """Steps of every outcome; those shown True passed, and the third became the baseline."""
    outcomes = ("False", "Unknown", "True")
    return [
        StepPoint(
            step=step,
            estimate=0.03,
            low=-1.0,
            high=0.05,
            outcome=outcomes[step % 3 - 1],
            passed=step % 3 == 0,
            baseline=step == 3,
        )
        for step in range(1, count + 1)
    ]


def history() -> str:
    return history_chart(points(), "n - o", 0.02, (0.02, 0.04))


def counts() -> str:
    return count_chart([(1, 90), (2, 1_200)], "labels")


def slim_history() -> str:
    return history_chart(points(), "n - o", 0.02, (0.02, 0.04), steps=8, slim=True)


def slim_counts() -> str:
    return count_chart([(step, 90 * step) for step in range(1, 313)], "labels", slim=True)


def curves(ending: Ending, labels: int, proof: float, futility: float) -> ClauseCurves:
    """Curves that go straight from 1 to their ends."""
    after = tuple(range(labels + 1))
    ends = (proof, futility)
    courses = [tuple(end * x / max(labels, 1) if labels else end for x in after) for end in ends]
    reach = tuple(1.0 / (1.0 + x) ** 0.5 for x in after)
    return ClauseCurves(
        clause="c",
        ending=ending,
        labels=after,
        proof=Curve(courses[0], 14.0),
        futility=Curve(courses[1], 9.0),
        low=tuple(max(0.03 - r, -1.0) for r in reach),
        high=tuple(min(0.03 + r, 1.0) for r in reach),
        threshold=0.02,
    )


def evidence() -> str:
    return evidence_chart(curves(Ending.PROVEN, 60, 14.2, -40.0))


def slim_evidence() -> str:
    return evidence_chart(curves(Ending.EXHAUSTED, 5_000, 7.0, 7.0), slim=True)


def interval() -> str:
    return interval_chart(curves(Ending.PROVEN, 60, 14.2, -40.0))


def slim_interval() -> str:
    return interval_chart(curves(Ending.EXHAUSTED, 5_000, 7.0, 7.0), slim=True)


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]
