"""A testset as a row of codes: all that the statistics see of it.

The codes of an alphabet are defined with the language (:mod:`easeci.script.outcomes`). Each example
is one small integer: an outcome, or a code that only says which group it is in. There are two such
codes for a group. One is for examples without a label yet, the other for examples whose label is
unsettled.

**Unsettled labels.** A label that was skipped, or that labellers dispute, is *unsettled*. A verdict
does not wait for it. Every test counts it at its worst for that test: a test rejects "the mean of
this table is at most m", so it wants large entries, and takes the lowest entry that the predictions
allow (:func:`at_worst`). Futility and claim are tests of the negative table.

*Claim.* This makes no error that a test bounds more probable, no matter who chose which labels are
unsettled, and what they knew when they chose.

*Proof.* Let s be the scores with the true labels and s' ≤ s those that the test sees. Each bet's
factor 1 + λ(s − m) has λ > 0, so it does not fall as s grows, and no factor is negative; so at
every moment and whatever happens the wealth on s' is at most the wealth on s. If the former ever
reaches 1/α, so does the latter, which under the hypothesis happens with probability at most α.
The argument compares two numbers in each case by itself. It assumes nothing about how s' came
about, so it holds even if somebody skipped exactly the labels that would hurt. The group of an
example, and with it every start e(D), needs no label and is the same for both. Limits for a mean do
not fall as any score grows, so the lower limit of s' is at most that of s. ∎

Only the sensitivity suffers: a proof may take more labels, or more than there are.

**Gaps.** A combined score of outputs may lie between two points of its lattice
(:mod:`easeci.script.lattice`). It is counted in the same way, at the worse of the two points, and
the same proof holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from easeci.script.outcomes import CELLS, Alphabet
from easeci.script.score import Entries, Ratio, Score

Codes = npt.NDArray[np.unsignedinteger[Any]]
Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]


def unlabelled(codes: Codes, alphabet: Alphabet = CELLS) -> Flags:
    """Where a label may still be asked for."""
    first = alphabet.outcomes
    return np.asarray((codes >= first) & (codes < first + len(alphabet.sizes)))


def in_groups(codes: Codes, alphabet: Alphabet, groups: Iterable[int]) -> Flags:
    """Which examples are in some of the groups, with or without a label."""
    return np.asarray(np.isin(np.array(alphabet.group_of), list(groups))[codes])


def at_worst(codes: Codes, alphabet: Alphabet, table: Entries) -> Codes:
    """The codes with every unsettled label and every gap at its lowest entry of the table."""
    if not len(codes) or codes.max() < alphabet.unsettled(0):
        return codes
    outcome = np.arange(alphabet.codes, dtype=codes.dtype)
    for number, group in enumerate(alphabet.groups):
        # The points of a lattice rise or fall within a group, so its ends are enough.
        possible = (group[0], group[-1]) if alphabet.gaps else group
        outcome[alphabet.unsettled(number)] = min(possible, key=table.__getitem__)
    if alphabet.gaps:
        low, high, groups = _gap_ends(alphabet)
        rising = np.array([table[group[0]] <= table[group[-1]] for group in alphabet.groups])
        outcome[alphabet.gap(0) :] = np.where(rising[groups], low, high)
    return np.asarray(outcome[codes])


@lru_cache(maxsize=64)
def _gap_ends(alphabet: Alphabet) -> tuple[Places, Places, Places]:
    """The two outcomes around each gap, and its group."""
    ends = np.array(alphabet.gaps, np.intp)
    return ends[:, 0], ends[:, 1], np.array(alphabet.group_of, np.intp)[ends[:, 0]]


def _between(alphabet: Alphabet) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The codes of unsettled labels and of gaps, with the outcomes that each may stand for."""
    for number, group in enumerate(alphabet.groups):
        yield alphabet.unsettled(number), group
    for number, pair in enumerate(alphabet.gaps):
        yield alphabet.gap(number), pair


@dataclass(frozen=True)
class Counts:
    """How many examples of a sample have each code."""

    by_code: tuple[int, ...]
    alphabet: Alphabet = field(default=CELLS)

    @staticmethod
    def of(codes: Codes, alphabet: Alphabet = CELLS) -> Counts:
        """Count the codes of a sample."""
        found = np.bincount(codes, minlength=alphabet.codes)
        return Counts(tuple(int(c) for c in found), alphabet)

    def __getitem__(self, code: int) -> int:
        return self.by_code[code]

    @property
    def examples(self) -> int:
        """How many examples the sample has."""
        return sum(self.by_code)

    def in_groups(self, groups: Iterable[int]) -> int:
        """How many examples are in some of the groups."""
        chosen, group_of = set(groups), self.alphabet.group_of
        return sum(n for n, group in zip(self.by_code, group_of, strict=True) if group in chosen)

    @property
    def differing(self) -> int:
        """On how many examples the models differ, for the codes of n, o and d."""
        return self.in_groups([1])

    @property
    def unsettled(self) -> int:
        """How many examples have an unsettled label."""
        return sum(self.by_code[self.alphabet.unsettled(0) : self.alphabet.gap(0)])

    def missing_labels(self, score: Score) -> int:
        """How many examples lack a label that their score depends on."""
        if not score.needs_labels:
            return 0
        return sum(self[self.alphabet.unlabelled(group)] for group in score.relevant)

    def extremes(self, score: Score) -> tuple[Counts, Counts]:
        """The counts with every missing label at its lowest, and at its highest score."""
        return self._completed(score, min, missing=True), self._completed(score, max, missing=True)

    def worst_cases(self, score: Score) -> tuple[Counts, ...]:
        """The counts with every unsettled label and every gap at its lowest, and at its highest.

        If there are none, just the counts themselves.
        """
        if not any(self.by_code[self.alphabet.unsettled(0) :]):
            return (self,)
        return (
            self._completed(score, min, missing=False),
            self._completed(score, max, missing=False),
        )

    def _completed(self, score: Score, pick: Callable[..., int], *, missing: bool) -> Counts:
        table = self._ranking(score)
        counts, alphabet = list(self.by_code), self.alphabet
        labels = ((alphabet.unlabelled(n), group) for n, group in enumerate(alphabet.groups))
        for code, possible in labels if missing else _between(alphabet):
            if counts[code]:
                counts[pick(possible, key=table.__getitem__)] += counts[code]
                counts[code] = 0
        return Counts(tuple(counts), alphabet)

    def _ranking(self, score: Score) -> Entries:
        """By what the outcomes of a group are ranked: for a ratio, at a value inside its range."""
        if score.is_mean:
            return score.ratio.numerator
        if score.subtracted is not None:
            raise ValueError(f"{score} has no lowest and highest outcome")
        low, high = score.ratio.reach
        return score.ratio.table((max(low, Fraction(-1)) + min(high, Fraction(1))) / 2)

    def mean(self, score: Score) -> Fraction:
        """The mean score; every label that matters must be known."""
        total = sum(
            (n * x for n, x in zip(self.by_code, score.ratio.numerator, strict=False) if n),
            Fraction(0),
        )
        return total / self.examples

    def value(self, score: Score) -> Fraction | None:
        """The score as it is in the sample; None if a denominator is 0."""
        value = self._value(score.ratio)
        if score.subtracted is None or value is None:
            return value
        other = self._value(score.subtracted)
        return None if other is None else value - other

    def _value(self, ratio: Ratio) -> Fraction | None:
        above, below = (
            sum((n * x for n, x in zip(self.by_code, table, strict=False) if n), Fraction(0))
            for table in (ratio.numerator, ratio.denominator)
        )
        return above / below if below else None

    def mean_range(self, score: Score) -> tuple[Fraction, Fraction]:
        """The least and the greatest mean score that missing and unsettled labels still allow.

        The two are equal if no label that matters is missing or unsettled.
        """
        low, high = self.extremes(score)
        return low.worst_cases(score)[0].mean(score), high.worst_cases(score)[-1].mean(score)

    def value_range(self, score: Score) -> tuple[Fraction | None, Fraction | None]:
        """Like :meth:`mean_range`, also for a ratio; None where a denominator is 0."""
        low, high = self.extremes(score)
        return low.worst_cases(score)[0].value(score), high.worst_cases(score)[-1].value(score)
