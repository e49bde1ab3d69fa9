"""``make paper``: run the simulations, compute the rest, and write docs/paper/."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from paper import digits, labels, page, semeval
from paper.measured import Measured, MonthLabels

RECONSTRUCTIONS = 20
Item = TypeVar("Item")


class Steps:
    """A progress bar for each step, because a step may take a minute."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    def all_of(self, name: str, items: Iterator[Item], total: int) -> list[Item]:
        """Collect all items, with a progress bar."""
        task = self.progress.add_task(name, total=total)
        found = []
        for item in items:
            found.append(item)
            self.progress.advance(task)
        return found


def measure(steps: Steps) -> Measured:
    """Run every simulation."""
    blocks = steps.all_of("test digits", digits.blocks(), digits.BLOCKS)
    months = []
    for sensitivity in labels.SENSITIVITIES:
        name = f"months at sensitivity {sensitivity}"
        found = steps.all_of(name, labels.simulate(sensitivity), labels.MONTHS)
        taken, differing = zip(*found, strict=True)
        months.append(MonthLabels(sensitivity, taken, differing))
    again = steps.all_of("SemEval traces", semeval.again(RECONSTRUCTIONS), len(semeval.QUERIES))
    return Measured(digits.summary(blocks), tuple(months), tuple(again))


def main() -> None:
    columns = (TextColumn("{task.description:<32}"), BarColumn(), MofNCompleteColumn(),
               TimeElapsedColumn())  # fmt: skip
    with Progress(*columns) as progress:
        steps = Steps(progress)
        measured = measure(steps)
        steps.all_of("tables, charts and the page", page.write(measured), page.FILES)
    print(f"{page.PAGE.relative_to(page.ROOT)} is written")


if __name__ == "__main__":
    main()
