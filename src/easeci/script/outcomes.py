"""Outcomes: all that one example can show about the measures of a clause.

An *alphabet* has K outcomes. Its *groups* say which outcomes the predictions leave possible: the
predictions choose the group of an example, its label chooses the outcome.

For n, o and d alone there are five outcomes, the *cells*. n is 1 if the new model is right, o is 1
if the old model is right, and d is 1 if they predict differently. Two equal predictions are both
right or both wrong, and two different ones are never both right, so only five of the eight
combinations exist, in two groups: the models agree, or they differ.

A clause that names classes, such as ``recall(fraud)``, also needs to know which of these classes
was predicted and which one is the label. Every class that it does not name is *another* one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache


@dataclass(frozen=True)
class Outcome:
    """What one example shows: who is right, and which of the named classes occur.

    A class is its place among those that the clause names; the number of them stands for another
    class.
    """

    new_right: int
    old_right: int
    differ: int
    new: int = 0
    old: int = 0
    label: int = 0

    @property
    def mirrored(self) -> Outcome:
        """The same example with the two models exchanged."""
        return Outcome(self.old_right, self.new_right, self.differ, self.old, self.new, self.label)


class Cell(Enum):
    """An outcome of n, o and d, with its values of (n, o, d)."""

    AGREE_RIGHT = (1, 1, 0)
    AGREE_WRONG = (0, 0, 0)
    NEW_RIGHT = (1, 0, 1)
    OLD_RIGHT = (0, 1, 1)
    BOTH_WRONG = (0, 0, 1)


AGREEING = (Cell.AGREE_RIGHT, Cell.AGREE_WRONG)
DIFFERING = (Cell.NEW_RIGHT, Cell.OLD_RIGHT, Cell.BOTH_WRONG)


@dataclass(frozen=True)
class Alphabet:
    """K outcomes, numbered from 0, in groups of consecutive numbers.

    A testset is a row of codes. The codes 0 to K−1 are outcomes. Then come two codes for each
    group: first all groups for examples without a label yet, then all groups for examples whose
    label is unsettled. Last come ``gaps``: examples that are known to be between two outcomes.
    """

    sizes: tuple[int, ...]
    """How many outcomes each group has."""

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The outcomes of each group."""
        ends = [sum(self.sizes[: i + 1]) for i in range(len(self.sizes))]
        return tuple(tuple(range(e - s, e)) for s, e in zip(self.sizes, ends, strict=True))

    @cached_property
    def outcomes(self) -> int:
        """K, the number of outcomes."""
        return sum(self.sizes)

    @property
    def gaps(self) -> tuple[tuple[int, int], ...]:
        """The two outcomes around each gap. Only scores on a lattice have gaps."""
        return ()

    @cached_property
    def codes(self) -> int:
        """How many codes there are."""
        return self.gap(len(self.gaps))

    def unlabelled(self, group: int) -> int:
        """The code of an example of this group without a label."""
        return self.outcomes + group

    def unsettled(self, group: int) -> int:
        """The code of an example of this group whose label is unsettled."""
        return self.outcomes + len(self.sizes) + group

    def gap(self, number: int) -> int:
        """The code of an example in this gap."""
        return self.outcomes + 2 * len(self.sizes) + number

    @cached_property
    def group_of(self) -> tuple[int, ...]:
        """The group of each code."""
        everywhere = tuple(range(len(self.sizes)))
        groups = tuple(g for g, group in enumerate(self.groups) for _ in group)
        return (*groups, *everywhere * 2, *(groups[low] for low, _ in self.gaps))


@dataclass(frozen=True)
class ExampleAlphabet(Alphabet):
    """The outcomes of one example for a clause that names these ``classes``."""

    classes: tuple[str, ...] = ()

    @staticmethod
    @lru_cache(maxsize=1024)
    def of(classes: tuple[str, ...] = ()) -> ExampleAlphabet:
        """The alphabet of the classes: without any, the five cells."""
        return ExampleAlphabet(tuple(len(group) for group in _groups(len(classes))), classes)

    @cached_property
    def shown(self) -> tuple[Outcome, ...]:
        """What each outcome shows."""
        return tuple(outcome for group in _groups(len(self.classes)) for outcome in group)

    @cached_property
    def group_at(self) -> dict[tuple[int, int, int], int]:
        """The group of two predictions: its key is (new class, old class, whether they differ)."""
        firsts = (group[0] for group in _groups(len(self.classes)))
        return {(one.new, one.old, one.differ): number for number, one in enumerate(firsts)}


@lru_cache(maxsize=64)
def _groups(classes: int) -> tuple[tuple[Outcome, ...], ...]:
    return tuple(
        tuple(_outcomes(new, old, differ, classes))
        for new in range(classes + 1)
        for old in range(classes + 1)
        for differ in ((0, 1) if new == old == classes else (int(new != old),))
    )


def _outcomes(new: int, old: int, differ: int, other: int) -> Iterator[Outcome]:
    """The outcomes of two predictions: one for each named label, then those of another label."""
    for label in range(other):
        yield Outcome(int(new == label), int(old == label), differ, new, old, label)
    if not differ:
        # Equal predictions of another class may both be right.
        for right in (1, 0) if new == other else (0,):
            yield Outcome(right, right, differ, new, old, other)
        return
    if new == other:
        yield Outcome(1, 0, differ, new, old, other)
    if old == other:
        yield Outcome(0, 1, differ, new, old, other)
    yield Outcome(0, 0, differ, new, old, other)


CELLS = ExampleAlphabet.of()
"""The alphabet of n, o and d: the five cells in the order of :class:`Cell`."""
