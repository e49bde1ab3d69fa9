"""Two things timed in turn, and the ratio of their medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from bench.page import Figure, Section, broken_promises, table


@dataclass(frozen=True)
class Ratio(Figure):
    """How long ``what`` takes, in units of ``against``."""

    against: str


def ratio(
    what: str,
    run: Callable[[], object],
    against: str,
    baseline: Callable[[], object],
    promised: float | None,
    rounds: int = 7,
    clock: Callable[[], float] = time.perf_counter,
) -> Ratio:
    """Medians over rounds that take turns, so that a busy moment hits both, by ``clock``."""
    times: tuple[list[float], list[float]] = ([], [])
    for measured, function in zip(times, (run, baseline), strict=True):
        function()  # warm the page cache
        measured.clear()
    for _ in range(rounds):
        for measured, function in zip(times, (run, baseline), strict=True):
            start = clock()
            function()
            measured.append(clock() - start)
    first, second = (statistics.median(measured) for measured in times)
    return Ratio(what, first / second, promised, against)


def ratio_section(opening: str, ratios: list[Ratio]) -> Section:
    rows = ([row.what, row.against, row.shown(".2f"), row.promise] for row in ratios)
    shown = table(["what", "measured against", "ratio", "at most"], rows, left=2)
    return Section(f"{opening}\n\n{shown}", broken=broken_promises(ratios))
