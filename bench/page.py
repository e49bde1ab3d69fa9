"""docs/benchmarks.md: one section per part, each between two marks, so a part can run alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

OPENING = """\
# Benchmarks

Written by `make bench`; `python -m bench PART` measures one part again. Labels are counted in
seeded simulations of the real engine and are the same in every run. Times are ratios of two things
measured in one run on one machine. "At most" is what the project promises: a figure that breaks its
promise is in bold, and `make bench` then fails.
"""


@dataclass(frozen=True)
class Section:
    """The result of one part: its text, its pictures by file name, and broken promises."""

    text: str
    pictures: Mapping[str, str] = field(default_factory=dict)
    broken: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """A measured figure, and the most that the project promises."""

    what: str
    value: float
    at_most: float | None

    @property
    def broken(self) -> bool:
        return self.at_most is not None and self.value > self.at_most

    def shown(self, form: str) -> str:
        text = format(self.value, form)
        return f"**{text}**" if self.broken else text

    @property
    def promise(self) -> str:
        return "" if self.at_most is None else f"{self.at_most:,g}"


def broken_promises(figures: Iterable[Figure]) -> tuple[str, ...]:
    return tuple(
        f"{figure.what}: {figure.value:,.2f} instead of at most {figure.promise}"
        for figure in figures
        if figure.broken
    )


def table(headings: list[str], rows: Iterable[Iterable[str]], left: int = 1) -> str:
    """A table whose first ``left`` columns are words and whose others are numbers."""
    rule = ["---" if position < left else "---:" for position in range(len(headings))]
    lines = [f"| {' | '.join(line)} |" for line in (headings, *rows)]
    lines.insert(1, f"|{'|'.join(rule)}|")
    return "\n".join(lines) + "\n"


def write_page(page: str, names: Iterable[str], measured: Mapping[str, Section]) -> str:
    """The page with the sections measured now; the others stay as they are."""
    sections = []
    for name in names:
        start, end = f"<!-- {name}: written by make bench -->", f"<!-- end of {name} -->"
        if name in measured:
            text = measured[name].text.strip()
        else:
            kept = re.search(f"{re.escape(start)}(.*?){re.escape(end)}", page, re.DOTALL)
            text = f"Not measured yet: `python -m bench {name}`." if kept is None else kept[1]
        sections.append(f"\n{start}\n\n{text.strip()}\n\n{end}\n")
    return OPENING + "".join(sections)
