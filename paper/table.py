"""The table of 64 sample sizes: the baseline's, for 32 steps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from bench.page import table

from easeci.plan import plan
from easeci.script import Estimator
from easeci.service.scripts import make_script
from paper.published import COLUMNS, TABLE, Cell

OPENING = """\
## The table of sample sizes

Examples that the baseline needs for 32 steps, all of them with a label for F1, F2 and F3. Bold is
impractical, printed in red in the paper: more than 60,000 labels for 32 evaluations.
"""
AGREEMENT = """
{same} of {all} sizes are the printed ones, and {red} of {printed_red} cells that are printed in red
are impractical by our rule, as is no other.
"""


@dataclass(frozen=True)
class Computed:
    """A cell of the table as computed."""

    printed: Cell
    size: int
    impractical: bool

    @property
    def agrees(self) -> bool:
        return self.size == self.printed.size and self.impractical == self.printed.red

    @property
    def shown(self) -> str:
        text = f"**{self.size:,}**" if self.impractical else f"{self.size:,}"
        return text if self.agrees else f"{text} (printed: {self.printed.size:,})"


def compute(cell: Cell) -> Computed:
    made = plan(
        make_script(
            f"{cell.condition} +/- {cell.tolerance}",
            reliability=cell.reliability,
            adaptivity=cell.adaptivity,
        )
    )
    estimate = made.estimate(Estimator.HOEFFDING)
    assert estimate.examples is not None
    return Computed(cell, estimate.examples, not made.row(Estimator.HOEFFDING).practical)


@cache
def computed_table() -> tuple[Computed, ...]:
    return tuple(compute(cell) for cell in TABLE)


def section() -> str:
    cells = computed_table()
    width = len(COLUMNS)
    rows = [cells[start : start + width] for start in range(0, len(cells), width)]
    headings = ["reliability", "ε", "F1, F4: none", "F1, F4: full", "F2, F3: none", "F2, F3: full"]
    shown = table(
        headings,
        ([row[0].printed.reliability, row[0].printed.tolerance, *(c.shown for c in row)]
         for row in rows),
        left=0,
    )  # fmt: skip
    agreement = AGREEMENT.format(
        same=sum(cell.size == cell.printed.size for cell in cells),
        all=len(cells),
        red=sum(cell.impractical and cell.printed.red for cell in cells),
        printed_red=sum(cell.printed.red for cell in cells),
    )
    return OPENING + "\n" + shown + agreement
