"""The five cells: all that one example can show about the variables n, o and d.

For one example, n is 1 if the new model is right, o is 1 if the old model is right, and d is 1 if
they predict differently. Two equal predictions are both right or both wrong, and two different
ones are never both right, so only five of the eight combinations exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property


class Cell(Enum):
    """A cell, with its values of (n, o, d)."""

    AGREE_RIGHT = (1, 1, 0)
    AGREE_WRONG = (0, 0, 0)
    NEW_RIGHT = (1, 0, 1)
    OLD_RIGHT = (0, 1, 1)
    BOTH_WRONG = (0, 0, 1)


AGREEING = (Cell.AGREE_RIGHT, Cell.AGREE_WRONG)
DIFFERING = (Cell.NEW_RIGHT, Cell.OLD_RIGHT, Cell.BOTH_WRONG)


@dataclass(frozen=True)
class Score:
    """The linear form Φ = new·n + old·o + difference·d; on one example, its score."""

    new: Fraction
    old: Fraction
    difference: Fraction

    def of(self, cell: Cell) -> Fraction:
        """The score of one example in this cell."""
        return self._by_cell[cell]

    @cached_property
    def _by_cell(self) -> dict[Cell, Fraction]:
        """Computed once: exact fractions are slow, and every verdict asks many times."""
        return {
            cell: self.new * n + self.old * o + self.difference * d
            for cell in Cell
            for n, o, d in [cell.value]
        }

    @property
    def lowest(self) -> Fraction:
        """The least value that Φ can have under any mixture of cells."""
        return min(self.of(cell) for cell in Cell)

    @property
    def highest(self) -> Fraction:
        """The greatest value that Φ can have under any mixture of cells."""
        return max(self.of(cell) for cell in Cell)

    @property
    def variables(self) -> int:
        """How many of n, o and d have a coefficient that is not 0."""
        return sum(1 for c in (self.new, self.old, self.difference) if c != 0)

    @property
    def weight(self) -> Fraction:
        """The sum of the absolute coefficients."""
        return abs(self.new) + abs(self.old) + abs(self.difference)

    @property
    def label_matters_when_agreeing(self) -> bool:
        """Whether the score of an example depends on its label if the models agree on it."""
        return self.new + self.old != 0

    @property
    def label_matters_when_differing(self) -> bool:
        """Whether the score of an example depends on its label if the models differ on it."""
        return self.new != 0 or self.old != 0

    @property
    def needs_labels(self) -> bool:
        """Whether any example needs a label; a score of d alone does not."""
        return self.label_matters_when_differing

    @property
    def needs_old_model(self) -> bool:
        """Whether the score depends on the predictions of the old model."""
        return self.old != 0 or self.difference != 0

    def __neg__(self) -> Score:
        return Score(-self.new, -self.old, -self.difference)

    def __str__(self) -> str:
        terms = []
        for coefficient, name in ((self.new, "n"), (self.old, "o"), (self.difference, "d")):
            if coefficient != 0:
                factor = "" if abs(coefficient) == 1 else f"{float(abs(coefficient)):g} * "
                terms.append(("-" if coefficient < 0 else "+", f"{factor}{name}"))
        if not terms:
            return "0"
        (sign, first), rest = terms[0], terms[1:]
        return ("-" if sign == "-" else "") + first + "".join(f" {s} {t}" for s, t in rest)
