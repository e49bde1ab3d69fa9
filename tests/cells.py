"""Laws over the five cells, and testsets drawn from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from easeci.evidence.cells import Code
from easeci.evidence.codes import Codes


@dataclass(frozen=True)
class Law:
    """Probabilities of the cells; what is left over is AGREE_WRONG."""

    agree_right: float = 0.0
    new_right: float = 0.0
    old_right: float = 0.0
    both_wrong: float = 0.0

    @property
    def probabilities(self) -> npt.NDArray[np.float64]:
        """In the order of the codes."""
        known = [self.agree_right, self.new_right, self.old_right, self.both_wrong]
        rest = 1.0 - sum(known)
        assert rest > -1e-9
        return np.array([known[0], max(0.0, rest), *known[1:]])

    @property
    def n(self) -> float:
        """Accuracy of the new model."""
        return self.agree_right + self.new_right

    @property
    def o(self) -> float:
        """Accuracy of the old model."""
        return self.agree_right + self.old_right

    @property
    def d(self) -> float:
        """Share of predictions that differ."""
        return self.new_right + self.old_right + self.both_wrong


def codes_of(**counts: int) -> Codes:
    """A testset with so many examples of each code, named in lower case."""
    parts = [np.full(count, Code[name.upper()], dtype=np.uint8) for name, count in counts.items()]
    return np.concatenate(parts)


def codes_from_counts(counts: npt.NDArray[np.int64]) -> Codes:
    """A testset with so many examples of each code, in the order of the codes."""
    return np.repeat(np.arange(len(counts), dtype=np.uint8), counts)
