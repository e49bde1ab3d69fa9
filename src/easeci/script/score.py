"""Scores: what a clause compares with its constant.

Nearly every measure is a mean of one bounded score per example, or a ratio of two such means:

    n − o                    the mean of [new right] − [old right]
    recall(k)                the mean of [new predicts k][label is k] / the mean of [label is k]

So a score is two tables over the outcomes of an alphabet: a numerator and a denominator. For a mean
the denominator is 1 everywhere. Differences of ratios with another denominator, such as those of
two precisions, have a second ratio that is subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from easeci.script.lattice import Lattice
from easeci.script.outcomes import CELLS, Alphabet, Cell, ExampleAlphabet
from easeci.script.syntax import Slice

Entries = tuple[Fraction, ...]
"""One exact number for each outcome of an alphabet."""

LARGEST = Fraction(10**9)
"""Ratios are unbounded if their denominator can be 0; this stands for infinity."""

_SINGLE = Fraction(1)


@dataclass(frozen=True)
class Ratio:
    """The mean of one table divided by the mean of another, whose entries are never negative."""

    numerator: Entries
    denominator: Entries

    @cached_property
    def is_mean(self) -> bool:
        """Whether the denominator is 1 everywhere."""
        return all(entry == 1 for entry in self.denominator)

    def table(self, bound: Fraction) -> Entries:
        """numerator − bound · denominator: its mean is above 0 if the ratio is above the bound."""
        return tuple(x - bound * y for x, y in zip(self.numerator, self.denominator, strict=True))

    @cached_property
    def reach(self) -> tuple[Fraction, Fraction]:
        """The least and the greatest value under any mixture of outcomes."""
        pairs = list(zip(self.numerator, self.denominator, strict=True))
        values = [x / y for x, y in pairs if y]
        beyond = [x for x, y in pairs if not y]
        low = -LARGEST if any(x < 0 for x in beyond) else min(values)
        high = LARGEST if any(x > 0 for x in beyond) else max(values)
        return low, high

    def __neg__(self) -> Ratio:
        return Ratio(tuple(-x for x in self.numerator), self.denominator)


@dataclass(frozen=True)
class Blocks:
    """The unit of a score for AUC: a block of some examples of a class and some of all others.

    A block counts the pairs of one of each that a model ranks rightly; a tie counts half. ``new``
    and ``old`` are what the clause multiplies the models' shares of such pairs by.
    """

    positive: str
    positives: int
    negatives: int
    new: Fraction
    old: Fraction

    @property
    def halves(self) -> int:
        """In how many equal steps a model's share goes from 0 to 1: half a pair each."""
        return 2 * self.positives * self.negatives

    @cached_property
    def values(self) -> Entries:
        """The possible scores of a block: the outcomes of its alphabet.

        They rise if the first factor that is not 0 is positive, and fall if it is negative. So an
        outcome of the negative blocks has the negative score.
        """
        shares = [Fraction(i, self.halves) for i in range(self.halves + 1)]
        new, old = (shares if factor else shares[:1] for factor in (self.new, self.old))
        found = {self.new * i + self.old * j for i in new for j in old}
        return tuple(sorted(found, reverse=(self.new or self.old) < 0))

    def __neg__(self) -> Blocks:
        return replace(self, new=-self.new, old=-self.old)


@dataclass(frozen=True)
class Score:
    """What a clause compares with its constant, as it is ``named``.

    ``subtracted`` is a second ratio, with another denominator. ``slice`` says which examples count,
    and ``blocks`` what a unit is, if it is not one example. With ``top``, the old model stands for
    the one of this rank among the models that were tested on the testset. ``coefficients`` are
    those of n, o and d, if the score is linear in them. ``lattice`` says how the scores of outputs
    are combined; it is the same for the negative score.
    """

    named: str
    alphabet: Alphabet
    ratio: Ratio
    subtracted: Ratio | None = None
    slice: Slice | None = None
    blocks: Blocks | None = None
    top: int | None = None
    coefficients: tuple[Fraction, Fraction, Fraction] | None = None
    lattice: Lattice | None = None

    @staticmethod
    def linear(
        new: Fraction,
        old: Fraction,
        difference: Fraction,
        *,
        named: str | None = None,
        where: Slice | None = None,
        top: int | None = None,
    ) -> Score:
        """The mean of new·n + old·o + difference·d."""
        entries = tuple(
            new * n + old * o + difference * d for cell in Cell for n, o, d in [cell.value]
        )
        coefficients = (new, old, difference)
        return Score(
            _linear_name(coefficients) if named is None else named,
            CELLS,
            Ratio(entries, (_SINGLE,) * len(entries)),
            slice=where,
            top=top,
            coefficients=coefficients,
        )

    @staticmethod
    def of_blocks(blocks: Blocks, named: str, where: Slice | None = None) -> Score:
        """The mean over blocks."""
        values = blocks.values
        ratio = Ratio(values, (_SINGLE,) * len(values))
        return Score(named, Alphabet((len(values),)), ratio, slice=where, blocks=blocks)

    @staticmethod
    def on_lattice(lattice: Lattice, named: str, where: Slice | None = None) -> Score:
        """The mean of the combined scores of outputs."""
        ratio = Ratio(lattice.values, (_SINGLE,) * len(lattice.values))
        return Score(named, lattice.alphabet, ratio, slice=where, lattice=lattice)

    # -- what it is

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Computed once: exact fractions are slow, and every verdict asks many times."""
        if self.lattice is not None:  # it has thousands of entries, which follow from it
            lattice = self.lattice
            return hash((self.named, lattice.terms, lattice.parts, self.slice))
        return hash((self.named, self.ratio, self.subtracted, self.slice, self.blocks, self.top))

    def __str__(self) -> str:
        return self.named

    def of(self, cell: Cell) -> Fraction:
        """The score of one example in this cell, for a score linear in n, o and d."""
        return self.ratio.numerator[list(Cell).index(cell)]

    @property
    def is_linear(self) -> bool:
        """Whether it is the mean of a linear function of n, o and d over all examples.

        The published estimators know no others.
        """
        return self.coefficients is not None and self.slice is None and self.top is None

    @property
    def is_mean(self) -> bool:
        """Whether it is one mean, not a ratio of means or a difference of ratios."""
        return self.subtracted is None and self.ratio.is_mean

    @property
    def new(self) -> Fraction:
        """The coefficient of n."""
        return self._coefficients[0]

    @property
    def old(self) -> Fraction:
        """The coefficient of o."""
        return self._coefficients[1]

    @property
    def difference(self) -> Fraction:
        """The coefficient of d."""
        return self._coefficients[2]

    @property
    def _coefficients(self) -> tuple[Fraction, Fraction, Fraction]:
        if self.coefficients is None:
            raise ValueError(f"{self} is not linear in n, o and d")
        return self.coefficients

    @property
    def variables(self) -> int:
        """How many of n, o and d have a coefficient that is not 0."""
        return sum(1 for c in self._coefficients if c != 0)

    @property
    def weight(self) -> Fraction:
        """The sum of the absolute coefficients."""
        return sum((abs(c) for c in self._coefficients), Fraction(0))

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that it names."""
        if self.blocks is not None:
            return (self.blocks.positive,)
        return self.alphabet.classes if isinstance(self.alphabet, ExampleAlphabet) else ()

    @property
    def score_names(self) -> tuple[str, ...]:
        """The names of the scores of outputs that it is about."""
        terms = () if self.lattice is None else self.lattice.terms
        return tuple(dict.fromkeys(term.name for term, _ in terms))

    # -- where it can lie

    @cached_property
    def lowest(self) -> Fraction:
        """The least value that it can have under any mixture of outcomes."""
        low = self.ratio.reach[0]
        return low if self.subtracted is None else low - self.subtracted.reach[1]

    @cached_property
    def highest(self) -> Fraction:
        """The greatest value that it can have under any mixture of outcomes."""
        high = self.ratio.reach[1]
        return high if self.subtracted is None else high - self.subtracted.reach[0]

    def __neg__(self) -> Score:
        negated: tuple[Fraction, Fraction, Fraction] | None = None
        if self.coefficients is not None:
            new, old, difference = self.coefficients
            negated = (-new, -old, -difference)
        return Score(
            _linear_name(negated) if negated and self.is_linear else _negative_name(self.named),
            self.alphabet,
            -self.ratio,
            None if self.subtracted is None else -self.subtracted,
            self.slice,
            None if self.blocks is None else -self.blocks,
            self.top,
            negated,
            self.lattice,
        )

    # -- what it needs

    @cached_property
    def _tables(self) -> tuple[Entries, ...]:
        """The tables that it depends on. For a single mean, the denominator of 1 says nothing.

        In a difference it does: the test bets on numerator − bound · denominator, on every example.
        """
        if self.is_mean:
            return (self.ratio.numerator,)
        ratios = (self.ratio,) if self.subtracted is None else (self.ratio, self.subtracted)
        return tuple(table for ratio in ratios for table in (ratio.numerator, ratio.denominator))

    @cached_property
    def needs_labels(self) -> bool:
        """Whether any example needs a label; a score of d alone does not."""
        if self.blocks is not None:
            return True
        return any(
            len({table[outcome] for outcome in group}) > 1
            for table in self._tables
            for group in self.alphabet.groups
        )

    @cached_property
    def relevant(self) -> frozenset[int]:
        """The groups of the examples that count: the score is not 0 on all of their outcomes.

        For n − o these are the examples on which the models differ, for precision(k) those for
        which k was predicted. Only these ever need a label.
        """
        return frozenset(
            number
            for number, group in enumerate(self.alphabet.groups)
            if any(table[outcome] for table in self._tables for outcome in group)
        )

    @property
    def counts_everywhere(self) -> bool:
        """Whether every example counts."""
        return len(self.relevant) == len(self.alphabet.groups)

    @cached_property
    def needs_old_model(self) -> bool:
        """Whether it depends on the predictions of the old model."""
        if self.blocks is not None:
            return self.blocks.old != 0
        if self.lattice is not None:
            return self.lattice.needs_old_model
        assert isinstance(self.alphabet, ExampleAlphabet)
        seen: dict[tuple[int, int, int], tuple[Fraction, ...]] = {}
        for number, shown in enumerate(self.alphabet.shown):
            entries = tuple(table[number] for table in self._tables)
            key = (shown.new, shown.label, shown.new_right)
            if seen.setdefault(key, entries) != entries:
                return True
        return False

    @cached_property
    def class_share(self) -> str | None:
        """The class whose share is the denominator, if the denominator depends on labels alone.

        Then the share is the same for all models, and one labelled part of the testset serves all
        commits. None if there is no such class, or if every example counts in the numerator.
        """
        if self.subtracted is not None or not isinstance(self.alphabet, ExampleAlphabet):
            return None
        shown, entries = self.alphabet.shown, self.ratio.denominator
        zero_groups = any(
            not any(self.ratio.numerator[outcome] for outcome in group)
            for group in self.alphabet.groups
        )
        for place, name in enumerate(self.alphabet.classes):
            if zero_groups and all(
                entry == int(one.label == place) for entry, one in zip(entries, shown, strict=True)
            ):
                return name
        return None

    def without_share(self) -> Score:
        """The mean of the numerator alone: the score times the share of its class."""
        ones = (_SINGLE,) * self.alphabet.outcomes
        return replace(self, ratio=Ratio(self.ratio.numerator, ones))


def _linear_name(coefficients: tuple[Fraction, ...]) -> str:
    terms = []
    for coefficient, name in zip(coefficients, ("n", "o", "d"), strict=True):
        if coefficient != 0:
            factor = "" if abs(coefficient) == 1 else f"{float(abs(coefficient)):g} * "
            terms.append(("-" if coefficient < 0 else "+", f"{factor}{name}"))
    if not terms:
        return "0"
    (sign, first), rest = terms[0], terms[1:]
    return ("-" if sign == "-" else "") + first + "".join(f" {s} {t}" for s, t in rest)


def _negative_name(name: str) -> str:
    return name[2:-1] if name.startswith("-(") and name.endswith(")") else f"-({name})"
