"""The codes of a testset while labels come in, with the figures that tests need, kept up to date.

Tests need the number of examples with each code, and how far labels are known without a gap, along
all examples or along those that count for a score. Scanning a million codes for that takes many
milliseconds, and one more label changes almost nothing.

A label is *at hand* if it was known when the commit's turn came. Using it costs nothing. Any other
label of a track has to be asked for, before the walk can go on.

Evidence is about *units*. A unit is mostly one example. For AUC it is a block of several, which is
complete with the last of its labels. The labels of a prefix are no units at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from easeci.evidence.codes import Codes, Counts, Flags, in_groups, unlabelled
from easeci.evidence.facts import LABELS, Facts, Known, Positions, RankColumns
from easeci.script.outcomes import CELLS, Alphabet
from easeci.script.score import Blocks, Score

WINDOW = 4096


@dataclass
class Track:
    """Some examples of a testset in its order: ``positions`` and ``codes``.

    ``gap`` is the index of the first missing label, or the length of the track. ``at_hand`` says
    of each example whether its label was at hand; None if none was. A label that is missing now is
    not at hand, whatever ``at_hand`` says. The first ``prefix`` examples are no units.
    """

    positions: Positions
    codes: Codes
    at_hand: Flags | None = None
    gap: int = 0
    alphabet: Alphabet = CELLS
    prefix: int = 0
    places: Positions | None = None
    """The places of the examples among those that the clause is about; None: its positions."""

    def __post_init__(self) -> None:
        self._move_gap()

    def place(self, index: int, end: int) -> int:
        """The place of an example of the track; ``end`` behind the last of them."""
        if index >= len(self.positions):
            return end
        return int((self.positions if self.places is None else self.places)[index])

    @property
    def known(self) -> Codes:
        """The codes of the units up to the first missing label."""
        return self.codes[self.prefix : self.gap]

    @property
    def complete(self) -> bool:
        """Whether no label of the track is missing."""
        return self.gap == len(self.codes)

    # -- labels and units

    def units_within(self, labels: int) -> int:
        """How many units are complete after so many labels."""
        return max(labels - self.prefix, 0)

    def labels_for(self, units: int) -> int:
        """How many labels so many units need."""
        return self.prefix + units

    def fewest_labels(self, units: int) -> int:
        """At least so many more labels are needed for so many more units."""
        return units

    def unit_moments(self) -> Flags | None:
        """After which numbers of units the next label has to be asked for; None if after each."""
        moments = self.moments()
        return None if moments is None else moments[self.prefix :]

    def first_moment(self, units: int) -> int:
        """After how many labels the next one has to be asked for, from so many units on."""
        return self.labels_for(units)

    # -- labels

    def put(self, position: int, code: int) -> None:
        """Change the code of one example, if it is on this track."""
        index = self._index(position)
        if index is None:
            return
        if self.at_hand is not None and self.at_hand[index]:
            self.__dict__.pop("_asked_at", None)  # it may be missing now, or no longer
        self.codes[index] = code
        if self.missing(self.codes[index : index + 1])[0]:
            self.gap = min(self.gap, index)
        elif index == self.gap:
            self._move_gap()

    def _index(self, position: int) -> int | None:
        index = int(np.searchsorted(self.positions, position))
        found = index < len(self.positions) and self.positions[index] == position
        return index if found else None

    def missing(self, codes: Codes) -> Flags:
        """Which of these codes stop the walk."""
        return unlabelled(codes, self.alphabet)

    def _move_gap(self) -> None:
        while self.gap < len(self.codes):
            missing = self.missing(self.codes[self.gap : self.gap + WINDOW])
            if missing.any():
                self.gap += int(missing.argmax())
                return
            self.gap += len(missing)

    @cached_property
    def _asked_at(self) -> npt.NDArray[np.intp] | None:
        """The indices of the labels that have to be asked for; None if that is all of them."""
        if self.at_hand is None:
            return None
        return np.flatnonzero(~self.at_hand | self.missing(self.codes))

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


@dataclass
class BlockTrack(Track):
    """A track whose units are blocks: examples of the positive class with some of all others.

    Block j has the j-th few positive examples along the order and the j-th few negative ones. Given
    the labels, the scores of the positive examples are i.i.d., and so are those of the negative
    ones. So blocks are i.i.d., and their mean score is the AUC. An unsettled label stops the walk,
    because all later blocks depend on it.
    """

    blocks: Blocks = field(kw_only=True)
    ranks: RankColumns = field(kw_only=True)

    def missing(self, codes: Codes) -> Flags:
        """Which of these codes stop the walk."""
        return np.asarray(codes >= LABELS.outcomes)

    @property
    def known(self) -> Codes:
        """The codes of the blocks that are complete before the first missing label."""
        return self._complete[0]

    @property
    def _complete(self) -> tuple[Codes, Positions]:
        """The codes of the complete blocks, and after how many labels each is complete."""
        cached = self.__dict__.get("_blocks_up_to")
        if cached is None or cached[0] != self.gap:
            cached = (self.gap, self._make_blocks())
            self.__dict__["_blocks_up_to"] = cached
        found: tuple[Codes, Positions] = cached[1]
        return found

    def _make_blocks(self) -> tuple[Codes, Positions]:
        blocks, labels = self.blocks, self.codes[: self.gap]
        sides = [
            (np.flatnonzero(labels == outcome), size)
            for outcome, size in enumerate((blocks.positives, blocks.negatives))
        ]
        count = min(len(places) // size for places, size in sides)
        positive, negative = (places[: count * size].reshape(count, size) for places, size in sides)
        ends = np.maximum(positive[:, -1], negative[:, -1]) + 1
        halves = [
            np.zeros(count, np.intp)
            if not factor or ranks is None
            else _halves(ranks[positive], ranks[negative])
            for factor, ranks in ((blocks.new, self.ranks.new), (blocks.old, self.ranks.old))
        ]
        return _block_codes(blocks)[halves[0], halves[1]], ends

    def put(self, position: int, code: int) -> None:
        """Change the code of one example, if it is on this track."""
        self.__dict__.pop("_blocks_up_to", None)
        super().put(position, code)

    def units_within(self, labels: int) -> int:
        """How many blocks are complete after so many labels."""
        return int(np.searchsorted(self._complete[1], labels, side="right"))

    def labels_for(self, units: int) -> int:
        """How many labels so many blocks need."""
        return int(self._complete[1][units - 1]) if units else 0

    def fewest_labels(self, units: int) -> int:
        """At least so many more labels are needed for so many more blocks."""
        size = self.blocks.positives + self.blocks.negatives
        return max((len(self.known) + units) * size - self.gap, 1)

    def unit_moments(self) -> Flags | None:
        """After which numbers of blocks the next label has to be asked for; None if after each."""
        moments = self.moments()
        if moments is None:
            return None
        flags = np.zeros(len(self.known) + 1, bool)
        flags[np.searchsorted(self._complete[1], np.flatnonzero(moments), side="right")] = True
        return flags

    def first_moment(self, units: int) -> int:
        """After how many labels the next one has to be asked for, from so many blocks on."""
        moments, start = self.moments(), self.labels_for(units)
        return start if moments is None else start + int(moments[start:].argmax())


def _halves(
    positive: npt.NDArray[np.float64], negative: npt.NDArray[np.float64]
) -> npt.NDArray[np.intp]:
    """For each block, twice the number of pairs that are ranked rightly; a tie counts half."""
    higher = positive[:, :, None] > negative[:, None, :]
    equal = positive[:, :, None] == negative[:, None, :]
    return np.asarray((2 * higher + equal).sum(axis=(1, 2)))


def _block_codes(blocks: Blocks) -> Codes:
    """The outcome of a block, by the halves of the new and of the old model."""
    place = {value: number for number, value in enumerate(blocks.values)}
    steps = blocks.halves + 1
    codes = np.zeros((steps, steps), np.uint16)
    for i in range(steps if blocks.new else 1):
        for j in range(steps if blocks.old else 1):
            codes[i, j] = place[(blocks.new * i + blocks.old * j) / blocks.halves]
    return codes


class LabelledCodes:
    """The codes that a score reads from a testset, in its order; labels may come and go.

    ``at_hand`` says of each example whether its label was at hand; None if none was. ``positions``
    are those of the examples in the testset, None if it is all of them.
    """

    def __init__(
        self,
        codes: Codes,
        at_hand: Flags | None = None,
        alphabet: Alphabet = CELLS,
        positions: Positions | None = None,
    ) -> None:
        if at_hand is not None and len(at_hand) != len(codes):
            raise ValueError("at_hand must say of every example whether its label is at hand")
        self.codes, self.alphabet = codes.copy(), alphabet
        self.at_hand = None if at_hand is None or not at_hand.any() else at_hand.copy()
        self.positions = positions
        self._counts = list(Counts.of(codes, alphabet).by_code)
        self._tracks: dict[object, Track] = {}

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def counts(self) -> Counts:
        """How many examples have each code now."""
        return Counts(tuple(self._counts), self.alphabet)

    def track(self, groups: frozenset[int], prefix: int = 0) -> Track:
        """The track of the examples of some groups, after a prefix of all examples."""
        key = (groups, prefix)
        if key not in self._tracks:
            if len(groups) == len(self.alphabet.groups):
                places = np.arange(len(self.codes))
            else:
                inside = in_groups(self.codes, self.alphabet, groups)
                inside[:prefix] = True
                places = np.flatnonzero(inside)
            self._tracks[key] = Track(
                *self._columns(places), alphabet=self.alphabet, prefix=prefix, places=places
            )
        return self._tracks[key]

    def block_track(self, blocks: Blocks, ranks: RankColumns) -> BlockTrack:
        """The track of all examples, in blocks; the ranks are those of these examples."""
        if blocks not in self._tracks:
            columns = self._columns(np.arange(len(self.codes)))
            self._tracks[blocks] = BlockTrack(
                *columns, alphabet=self.alphabet, blocks=blocks, ranks=ranks
            )
        track = self._tracks[blocks]
        assert isinstance(track, BlockTrack)
        return track

    def _columns(self, places: Positions) -> tuple[Positions, Codes, Flags | None]:
        if len(places) == len(self.codes):  # all of them, in their order: nothing to gather
            positions = places if self.positions is None else self.positions
            return positions, self.codes.copy(), self.at_hand
        positions = places if self.positions is None else self.positions[places]
        at_hand = None if self.at_hand is None else self.at_hand[places]
        return positions, self.codes[places], at_hand

    def put(self, position: int, code: int) -> None:
        """Change the code of one example, if it is one of these. Its group can't change."""
        place: int | None = position
        if self.positions is not None:
            place = int(np.searchsorted(self.positions, position))
            if place == len(self.positions) or self.positions[place] != position:
                return
        before = int(self.codes[place])
        if self.alphabet.group_of[before] != self.alphabet.group_of[code]:
            raise ValueError("a label does not change the group of an example")
        self._counts[before] -= 1
        self._counts[code] += 1
        self.codes[place] = code
        for track in self._tracks.values():
            track.put(position, code)


class LabelledTestset:
    """The facts of a testset while labels come in, as every clause reads them."""

    def __init__(self, facts: Facts | Codes, at_hand: Flags | None = None) -> None:
        self.facts = Facts.of(facts).copied()
        if at_hand is not None and len(at_hand) != len(self.facts):
            raise ValueError("at_hand must say of every example whether its label is at hand")
        self.at_hand = None if at_hand is None or not at_hand.any() else at_hand.copy()
        self._readings: dict[object, tuple[Score, LabelledCodes]] = {}
        self._rivals: dict[object, tuple[LabelledCodes, ...]] = {}

    def __len__(self) -> int:
        return len(self.facts)

    @cached_property
    def cells(self) -> LabelledCodes:
        """All examples by n, o and d."""
        return self.reading(_ANY_CELL)

    def reading(self, score: Score) -> LabelledCodes:
        """The testset as a score reads it. Scores of the same examples and classes share one."""
        key = (score.classes, score.slice, score.blocks is not None, score.lattice)
        if key not in self._readings:
            positions = self.facts.positions(score)
            alphabet = score.alphabet if score.blocks is None else LABELS
            reading = LabelledCodes(
                self.facts.codes(score), self._at_hand(positions), alphabet, positions
            )
            self._readings[key] = (score, reading)
        return self._readings[key][1]

    def rivals(self, score: Score) -> tuple[LabelledCodes, ...]:
        """The testset as a score reads it with each of the earlier models as the old one."""
        if score.slice not in self._rivals:
            positions = self.facts.positions(score)
            self._rivals[score.slice] = tuple(
                LabelledCodes(
                    codes if positions is None else codes[positions],
                    self._at_hand(positions),
                    positions=positions,
                )
                for codes in self.facts.rivals
            )
        return self._rivals[score.slice]

    def ranks(self, score: Score) -> RankColumns:
        """The models' scores, for the examples that a score is about."""
        assert score.blocks is not None
        ranks, positions = self.facts.ranks[score.blocks.positive], self.facts.positions(score)
        return ranks if positions is None else ranks.taken(positions)

    def _at_hand(self, positions: Positions | None) -> Flags | None:
        if self.at_hand is None or positions is None:
            return self.at_hand
        return self.at_hand[positions]

    def at_hand_among(self, used: Flags) -> int:
        """How many of these labels were at hand; the flags start at the first example."""
        return (
            0 if self.at_hand is None else int(np.count_nonzero(self.at_hand[: len(used)] & used))
        )

    def missing_labels(self, scores: Iterable[Score]) -> int:
        """How many missing labels matter to some of the scores."""
        missing = np.zeros(len(self), bool)
        for score in scores:
            if score.needs_labels:
                for reading in self.rivals(score) if score.top else (self.reading(score),):
                    groups = frozenset(range(len(reading.alphabet.groups)))
                    counted = groups if score.blocks or score.class_share else score.relevant
                    inside = in_groups(reading.codes, reading.alphabet, counted)
                    inside &= unlabelled(reading.codes, reading.alphabet)
                    missing[slice(None) if reading.positions is None else reading.positions] |= (
                        inside
                    )
        return int(np.count_nonzero(missing))

    def put(self, position: int, known: Known) -> None:
        """Change what is known of one example: a label came in, or was taken back."""
        for score, reading in self._readings.values():
            reading.put(position, self.facts.code_at(position, known, score))
        for readings in self._rivals.values():
            for reading, code in zip(readings, known.rivals, strict=True):
                reading.put(position, code)
        self.facts.put(position, known)


_ANY_CELL = Score.linear(*(Fraction(0),) * 3)
