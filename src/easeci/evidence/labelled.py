"""The codes of a testset while labels come in, with the figures that tests need, kept up to date.

Tests need the number of examples with each code, and how far labels are known without a gap, along
all examples or along those on which the models differ. Scanning a million codes for that takes many
milliseconds, and one more label changes almost nothing.

A label is *at hand* if it was known when the commit's turn came. Using it costs nothing. Any other
label of a track has to be asked for, before the walk can go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from easeci.evidence.cells import Code, Codes, Counts, Flags, differs, unlabelled

WINDOW = 4096


@dataclass
class Track:
    """Some examples of a testset in its order: ``positions`` and ``codes``.

    ``gap`` is the index of the first missing label, or the length of the track. ``at_hand`` says
    of each example whether its label was at hand; None if none was. A label that is missing now is
    not at hand, whatever ``at_hand`` says.
    """

    positions: npt.NDArray[np.intp]
    codes: Codes
    at_hand: Flags | None = None
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
        if self.at_hand is not None and self.at_hand[index]:
            self.__dict__.pop("_asked_at", None)  # it may be missing now, or no longer
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

    @cached_property
    def _asked_at(self) -> npt.NDArray[np.intp] | None:
        """The indices of the labels that have to be asked for; None if that is all of them."""
        if self.at_hand is None:
            return None
        return np.flatnonzero(~self.at_hand | unlabelled(self.codes))

    def asked(self, labels: int) -> int:
        """How many of the first labels had to be asked for."""
        asked_at = self._asked_at
        return labels if asked_at is None else int(np.searchsorted(asked_at, labels))

    def free(self, asked: int) -> int:
        """How many labels can be used if no more than ``asked`` of them are asked for."""
        asked_at = self._asked_at
        if asked_at is None:
            return min(asked, len(self.codes))
        return int(asked_at[asked]) if asked < len(asked_at) else len(self.codes)

    def up_to(self, asked: int) -> int:
        """How many labels there are up to the one that is asked for as number ``asked``."""
        asked_at = self._asked_at
        if asked_at is None:
            return min(asked, len(self.codes))
        asked = min(asked, len(asked_at))
        return int(asked_at[asked - 1]) + 1 if asked > 0 else 0

    def moments(self) -> Flags | None:
        """At which numbers of known labels the next one has to be asked for; None if at all.

        The last moment counts too: there the track ends, or a label is missing.
        """
        asked_at = self._asked_at
        if asked_at is None:
            return None
        flags = np.zeros(self.gap + 1, bool)
        flags[asked_at[: np.searchsorted(asked_at, self.gap)]] = True
        flags[-1] = True
        return flags


class LabelledCodes:
    """The codes of a testset, in its order; a label may come in or be taken back.

    ``at_hand`` says of each example whether its label was at hand; None if none was.
    """

    def __init__(self, codes: Codes, at_hand: Flags | None = None) -> None:
        if at_hand is not None and len(at_hand) != len(codes):
            raise ValueError("at_hand must say of every example whether its label is at hand")
        self.codes = codes.copy()
        self.at_hand = None if at_hand is None or not at_hand.any() else at_hand.copy()
        self._counts = list(Counts.of(codes).by_code)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def counts(self) -> Counts:
        """How many examples have each code now."""
        return Counts(tuple(self._counts))

    def at_hand_among(self, used: Flags) -> int:
        """How many of these labels were at hand; the flags start at the first example."""
        return (
            0 if self.at_hand is None else int(np.count_nonzero(self.at_hand[: len(used)] & used))
        )

    @cached_property
    def everything(self) -> Track:
        """The track of all examples."""
        return Track(np.arange(len(self.codes)), self.codes.copy(), self.at_hand)

    @cached_property
    def differing(self) -> Track:
        """The track of the examples on which the models differ."""
        positions = np.flatnonzero(differs(self.codes))
        at_hand = None if self.at_hand is None else self.at_hand[positions]
        return Track(positions, self.codes[positions], at_hand)

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
