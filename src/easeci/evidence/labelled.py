"""The codes of a testset while labels come in, with the figures that tests need, kept up to date.

Tests need the number of examples with each code, and how far labels are known without a gap, along
all examples or along those on which the models differ. Scanning a million codes for that takes many
milliseconds, and one more label changes almost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from easeci.evidence.cells import Code, Codes, Counts, differs, unlabelled

WINDOW = 4096


@dataclass
class Track:
    """Some examples of a testset in its order: ``positions`` and ``codes``.

    ``gap`` is the index of the first missing label, or the length of the track.
    """

    positions: npt.NDArray[np.intp]
    codes: Codes
    gap: int = 0

    def __post_init__(self) -> None:
        self._move_gap()

    @property
    def known(self) -> Codes:
        """The codes up to the first missing label."""
        return self.codes[: self.gap]

    @property
    def complete(self) -> bool:
        """Whether no label of the track is missing."""
        return self.gap == len(self.codes)

    def put(self, position: int, code: Code) -> None:
        """Change the code of one example, if it is on this track."""
        index = int(np.searchsorted(self.positions, position))
        if index == len(self.positions) or self.positions[index] != position:
            return
        self.codes[index] = code
        if _is_missing(code):
            self.gap = min(self.gap, index)
        elif index == self.gap:
            self._move_gap()

    def _move_gap(self) -> None:
        while self.gap < len(self.codes):
            missing = unlabelled(self.codes[self.gap : self.gap + WINDOW])
            if missing.any():
                self.gap += int(missing.argmax())
                return
            self.gap += len(missing)


class LabelledCodes:
    """The codes of a testset, in its order; a label may come in or be taken back."""

    def __init__(self, codes: Codes) -> None:
        self.codes = codes.copy()
        self._counts = list(Counts.of(codes).by_code)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def counts(self) -> Counts:
        """How many examples have each code now."""
        return Counts(tuple(self._counts))

    @cached_property
    def everything(self) -> Track:
        """The track of all examples."""
        return Track(np.arange(len(self.codes)), self.codes.copy())

    @cached_property
    def differing(self) -> Track:
        """The track of the examples on which the models differ."""
        positions = np.flatnonzero(differs(self.codes))
        return Track(positions, self.codes[positions])

    def put(self, position: int, code: Code) -> None:
        """Change the code of one example. Whether the models differ on it can't change."""
        before = Code(int(self.codes[position]))
        if differs(np.array([before, code], np.uint8)).sum() == 1:
            raise ValueError("a label does not change whether the models differ")
        self._counts[before] -= 1
        self._counts[code] += 1
        self.codes[position] = code
        for name in ("everything", "differing"):
            if name in self.__dict__:  # the others are made when a test asks for them
                self.__dict__[name].put(position, code)


def _is_missing(code: Code) -> bool:
    return code in (Code.AGREE_UNLABELLED, Code.DIFFER_UNLABELLED)
