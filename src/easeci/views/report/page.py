"""The report as a page: the words of each testset, its charts, and the template."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from easeci.charts import has_charts
from easeci.html import render
from easeci.ledger.signals import Signal
from easeci.views.figures import Figure, history_figures, tested_clauses
from easeci.views.report.contents import Report, TestsetFindings, TestsetReport
from easeci.views.status import promise


@dataclass(frozen=True)
class _Section:
    """One testset as the template shows it; ``found`` is None in the developers' version."""

    testset: TestsetReport
    found: TestsetFindings | None
    promise: tuple[str, ...]
    scores: tuple[str, ...]
    figures: tuple[Figure, ...]

    @property
    def budget(self) -> str:
        """How many steps are used, and how many are left of a testset that is in use."""
        used, steps = self.testset.steps_used, self.testset.steps
        left = f", {steps - used:,} left" if self.testset.retired is None else ""
        return f"{used:,} of {steps:,} steps used{left}"

    @property
    def counts(self) -> list[tuple[Signal, int]]:
        """How often each signal was given, in the order of the vocabulary."""
        counts = Counter(row.signal for row in self.testset.rows)
        return [(signal, counts[signal]) for signal in Signal if counts[signal]]

    @property
    def summary(self) -> str:
        """What the strip of symbols shows."""
        words = ", ".join(f"{count:,} {signal.word}" for signal, count in self.counts)
        commits = f"{len(self.testset.rows):,} commits"
        return f"Signals of {commits} in the order of submission: {words}"


def page(report: Report) -> str:
    """The report as one HTML document that needs no other file."""
    return render(
        "report.html",
        ("easeci.views",),
        report=report,
        signals=Signal,
        sections=[_section(report, testset) for testset in report.testsets],
        until=max((row.at for t in report.testsets for row in t.rows), default=None),
    )


NO_CHARTS = Figure(
    "Charts",
    "Charts need the extra: pip install 'easeci[charts]'. The table of commits has the numbers.",
    {},
)


def _section(report: Report, testset: TestsetReport) -> _Section:
    found = None if report.owner is None else report.owner.testsets[testset.number]
    clauses = tested_clauses(testset.script, () if found is None else found.steps)
    return _Section(
        testset=testset,
        found=found,
        promise=promise(testset.script),
        scores=tuple(str(clause.score) for clause in clauses),
        figures=() if found is None else _figures(testset, found),
    )


def _figures(testset: TestsetReport, found: TestsetFindings) -> tuple[Figure, ...]:
    """The charts of a testset, or how to get them."""
    if found.steps and not has_charts():
        return (NO_CHARTS,)
    return history_figures(testset.script, found.steps)
