"""A testset as a row of cell codes: all that statistics ever see of it.

The cells themselves are part of the language's meaning (:mod:`easeci.script.cells`). Here each
example is one small integer: one of the five cells, or one of two more that say only whether the
models agree, because the example has no label yet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from easeci.script.cells import AGREEING, DIFFERING, Cell, Score


class Code(IntEnum):
    """What is known of one example."""

    AGREE_RIGHT = 0
    AGREE_WRONG = 1
    NEW_RIGHT = 2
    OLD_RIGHT = 3
    BOTH_WRONG = 4
    AGREE_UNLABELLED = 5
    DIFFER_UNLABELLED = 6


CODE_OF = {cell: Code[cell.name] for cell in Cell}

Codes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Counts:
    """How many examples of a sample have each code."""

    by_code: tuple[int, ...]

    @staticmethod
    def of(codes: Codes) -> Counts:
        return Counts(tuple(int(c) for c in np.bincount(codes, minlength=len(Code))))

    def __getitem__(self, code: Code) -> int:
        return self.by_code[code]

    @property
    def examples(self) -> int:
        return sum(self.by_code)

    @property
    def differing(self) -> int:
        return sum(self[CODE_OF[cell]] for cell in DIFFERING) + self[Code.DIFFER_UNLABELLED]

    def missing_labels(self, score: Score) -> int:
        """How many examples lack a label that their score depends on."""
        missing = 0
        if score.label_matters_when_agreeing:
            missing += self[Code.AGREE_UNLABELLED]
        if score.label_matters_when_differing:
            missing += self[Code.DIFFER_UNLABELLED]
        return missing

    def extremes(self, score: Score) -> tuple[Counts, Counts]:
        """The counts with every missing label at its lowest, and at its highest score."""
        return self._completed(score, min), self._completed(score, max)

    def _completed(self, score: Score, pick: Callable[..., Cell]) -> Counts:
        counts = list(self.by_code)
        for code, cells in (
            (Code.AGREE_UNLABELLED, AGREEING),
            (Code.DIFFER_UNLABELLED, DIFFERING),
        ):
            counts[CODE_OF[pick(cells, key=score.of)]] += counts[code]
            counts[code] = 0
        return Counts(tuple(counts))

    def mean(self, score: Score) -> Fraction:
        """The mean score; every label that matters must be known."""
        total = sum((self[CODE_OF[cell]] * score.of(cell) for cell in Cell), Fraction(0))
        return total / self.examples

    def mean_range(self, score: Score) -> tuple[Fraction, Fraction]:
        """The least and the greatest mean score that the missing labels still allow.

        The two are equal where no label that matters is missing.
        """
        low, high = self.extremes(score)
        return low.mean(score), high.mean(score)
