"""``make bench``: measure every part, or those named, and write docs/benchmarks.md."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench import (
    evidence,
    forecast,
    history,
    large_check,
    logs,
    measures,
    month_page,
    pages,
    scores,
    slices,
    speed,
    start,
    zone_page,
)
from bench.page import Section, write_page
from bench.progress import tell

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "benchmarks.md"
PARTS: dict[str, Callable[[], Section]] = {
    "zone": zone_page.section,
    "measures": measures.section,
    "scores": scores.section,
    "month": month_page.section,
    "forecast": forecast.section,
    "start": start.section,
    "check": large_check.section,
    "slices": slices.section,
    "logs": logs.section,
    "speed": speed.section,
    "evidence": evidence.section,
    "history": history.section,
    "pages": pages.section,
}
GROUPS = {"labels": ("zone", "measures", "scores", "month", "forecast", "speed")}


def chosen(arguments: list[str]) -> list[str]:
    """The parts to run, in the order of the page; all of them if none is named."""
    named = {part for name in arguments for part in GROUPS.get(name, (name,))}
    unknown = named - set(PARTS)
    if unknown:
        known = ", ".join([*PARTS, *GROUPS])
        sys.exit(f"no such part: {', '.join(sorted(unknown))}; there are {known}")
    return [part for part in PARTS if not named or part in named]


def measure(part: str) -> Section:
    """Run one part and print how long it took."""
    tell(f"{part} …")
    begun = time.perf_counter()
    section = PARTS[part]()
    tell(f"{part}: {time.perf_counter() - begun:.0f} s")
    return section


def main(arguments: list[str]) -> int:
    """Measure the parts, write the page, and return 1 if a promise is broken."""
    broken: list[str] = []
    for part in chosen(arguments):
        section = measure(part)
        page = PAGE.read_text("utf-8") if PAGE.exists() else ""
        PAGE.write_text(write_page(page, PARTS, {part: section}), encoding="utf-8")
        for name, svg in section.pictures.items():
            (DOCS / "images" / name).write_text(svg, encoding="utf-8")
        broken += section.broken
    for promise in broken:
        tell(f"broken promise: {promise}")
    tell(f"{PAGE.name} is written" + ("" if broken else ", every promise is kept"))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
