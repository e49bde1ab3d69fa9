"""Which models of a sequence passed, and how long each was active."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from easeci.charts.drawing import Spec, chart_of, in_rows, layered, load_altair, svg_text
from easeci.charts.style import CIRCLE, EDGE, FILLED_CROSS, INK, SMALL, SYMBOL_SIZE, Colour

_PASSED, _FAILED = "passed", "failed"


@dataclass(frozen=True)
class Decisions:
    """Whether each model of a sequence passed. Model 1 is the first baseline, and not tested."""

    name: str
    passed: tuple[bool, ...]

    @property
    def active(self) -> list[tuple[int, int]]:
        """For each active model, its number and the number of the next model that passed."""
        starts = [1, *(number for number, passed in enumerate(self.passed, start=2) if passed)]
        return list(zip(starts, [*starts[1:], len(self.passed) + 2], strict=True))


def decision_chart(
    panels: Sequence[tuple[str, Sequence[Decisions]]], across: str, width: int
) -> str:
    """Which models passed and which failed, above a bar for each active model."""
    altair = load_altair()
    drawn = [
        _decision_panel(altair, rows, across if position == len(panels) - 1 else "")
        | {"width": width, "height": 46 * len(rows), "title": title}
        for position, (title, rows) in enumerate(panels)
    ]
    return svg_text(in_rows(drawn, spacing=14) if len(drawn) > 1 else drawn[0])


def _decision_panel(altair: Any, rows: Sequence[Decisions], across: str) -> Spec:
    count = max(len(row.passed) for row in rows) + 1
    names = altair.Axis(title=None, labelPadding=8, ticks=False, domain=False, labelLimit=320)
    numbers = altair.Axis(
        title=across or None,
        values=list(range(1, count + 1)),
        grid=False,
        domain=False,
        ticks=False,
    )
    scale = altair.Scale(domain=[0.5, count + 0.9], nice=False)
    x = altair.X("x:Q", scale=scale, axis=numbers)
    y = altair.Y("row:N", sort=None, axis=names)
    spans = [
        {"row": row.name, "x": start - 0.4, "end": end - 0.6, "note": f"model {start}"}
        for row in rows
        for start, end in row.active
    ]
    bars = chart_of(altair, spans).encode(x=x, y=y)
    answers = [
        {"row": row.name, "x": number, "answer": _PASSED if passed else _FAILED}
        for row in rows
        for number, passed in enumerate(row.passed, start=2)
    ]
    marks = chart_of(altair, answers).encode(x=x, y=y)
    return layered(
        bars.mark_bar(height=18, yOffset=9, cornerRadius=3, color=EDGE).encode(x2="end"),
        bars.mark_text(align="left", dx=5, yOffset=10, fontSize=SMALL, color=INK).encode(
            text="note:N"
        ),
        _answers(altair, marks),
    )


def _answers(altair: Any, chart: Any) -> Any:
    """The answers above the bars; they differ by shape as well as by colour."""
    look = {
        "legend": altair.Legend(
            title=None, orient="bottom", symbolSize=SYMBOL_SIZE, symbolOpacity=1
        )
    }
    domain = [_PASSED, _FAILED]
    colours = altair.Scale(domain=domain, range=[Colour.BLUE.value, Colour.VERMILION.value])
    shapes = altair.Scale(domain=domain, range=[CIRCLE, FILLED_CROSS])
    return chart.mark_point(filled=True, size=SYMBOL_SIZE, opacity=1, yOffset=-10).encode(
        color=altair.Color("answer:N", scale=colours, **look),
        shape=altair.Shape("answer:N", scale=shapes, **look),
    )
