"""Two things timed in turn, and the ratio of their medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """How long ``what`` takes, in units of ``against``."""

    what: str
    against: str
    value: float
    promised: float | None


def ratio(
    what: str,
    run: Callable[[], object],
    against: str,
    baseline: Callable[[], object],
    promised: float | None,
    rounds: int = 7,
) -> Ratio:
    """Medians over rounds that take turns, so that a busy moment hits both."""
    times: tuple[list[float], list[float]] = ([], [])
    for measured, function in zip(times, (run, baseline), strict=True):
        function()  # warm the page cache
        measured.clear()
    for _ in range(rounds):
        for measured, function in zip(times, (run, baseline), strict=True):
            start = time.perf_counter()
            function()
            measured.append(time.perf_counter() - start)
    first, second = (statistics.median(measured) for measured in times)
    return Ratio(what, against, first / second, promised)


def table(ratios: list[Ratio]) -> str:
    lines = ["| what | measured against | ratio | at most |", "|---|---|---:|---:|"]
    for row in ratios:
        promised = "" if row.promised is None else f"{row.promised:g}"
        lines.append(f"| {row.what} | {row.against} | {row.value:.2f} | {promised} |")
    return "\n".join(lines) + "\n"
