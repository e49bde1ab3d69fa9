"""``make bench``: run every measurement and write docs/benchmarks.md."""

from __future__ import annotations

from pathlib import Path

from bench import large_check, start
from bench.ratio import Ratio, table

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
OPENING = """\
# Benchmarks

Written by `make bench`. Every figure is a ratio of two things measured in one run on one machine;
"at most" is what the project promises.

"""


def main() -> None:
    ratios: list[Ratio] = []
    for module in (start, large_check):
        print(f"{module.__name__} …", flush=True)
        ratios += module.measure()
    text = table(ratios)
    print(text)
    PAGE.write_text(OPENING + text, encoding="utf-8")


if __name__ == "__main__":
    main()
