"""A testset as a row of cell codes: all that the statistics see of it.

The cells are defined with the language (:mod:`easeci.script.cells`). Here each example is one small
integer: one of the five cells, or one of four codes that only say whether the models agree. Two of
those are for examples without a label yet, two for examples whose label is unsettled.

**Unsettled labels.** A label that was skipped, or that labellers dispute, is *unsettled*. A verdict
does not wait for it. Every test counts it at its worst for that test: a proof wants Φ to be large
and takes the lowest score that the predictions allow (:func:`lowest`); futility and claim want Φ to
be small and take the highest (:func:`highest`).

*Claim.* This makes no error that a test bounds more probable, no matter who chose which labels are
unsettled, and what they knew when they chose.

*Proof.* Let s be the scores with the true labels and s' ≤ s those that the proof sees. Each bet's
factor 1 + λ(s − m) has λ > 0, so it does not fall as s grows, and no factor is negative; so at
every moment and for every outcome the wealth on s' is at most the wealth on s. If the former ever
reaches 1/α, so does the latter, which under the hypothesis happens with probability at most α.
The argument compares two numbers for each outcome by itself. It assumes nothing about how s' came
about, so it holds even if somebody skipped exactly the labels that would hurt. Which examples
differ, and with it every start e(D), needs no label and is the same for both. Futility and claim
are the same test of −Φ. Limits for a mean do not fall as any score grows, so the lower limit of s'
is at most that of s. ∎

Only the sensitivity suffers: a proof may take more labels, or more than there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from fractions import Fraction
from itertools import product

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
    AGREE_UNSETTLED = 7
    DIFFER_UNSETTLED = 8


class LabelState(StrEnum):
    """What is known of a label. The first two are known; the others are unsettled."""

    LABEL = "label"
    CANNOT_TELL = "cannot tell"
    SKIPPED = "skipped"
    DISPUTED = "disputed"


def code_of(state: LabelState | None, *, differ: bool, new_right: bool, old_right: bool) -> Code:
    """The rule that turns two predictions and a label into the code of an example.

    ``state`` is None while the label is missing. Where labellers cannot tell what is right, neither
    model is. Models that agree are right or wrong together, so there only ``new_right`` counts.
    """
    if state is None:
        return Code.DIFFER_UNLABELLED if differ else Code.AGREE_UNLABELLED
    if state in (LabelState.SKIPPED, LabelState.DISPUTED):
        return Code.DIFFER_UNSETTLED if differ else Code.AGREE_UNSETTLED
    if state is LabelState.CANNOT_TELL:
        return Code.BOTH_WRONG if differ else Code.AGREE_WRONG
    if not differ:
        return Code.AGREE_RIGHT if new_right else Code.AGREE_WRONG
    if new_right:
        return Code.NEW_RIGHT
    return Code.OLD_RIGHT if old_right else Code.BOTH_WRONG


STATES = (None, *LabelState)
"""What a label can be. In columns, a state is a number: its place here."""

CODE_OF = {cell: Code[cell.name] for cell in Cell}

Codes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]

_CASES = product(STATES, (False, True), (False, True), (False, True))
_RULE = np.array(
    [code_of(s, differ=d, new_right=n, old_right=o) for s, d, n, o in _CASES], np.uint8
)
"""The rule as a table, for columns: state, differ, new_right and old_right make up the index."""

_UNLABELLED = ((Code.AGREE_UNLABELLED, AGREEING), (Code.DIFFER_UNLABELLED, DIFFERING))
_UNSETTLED = ((Code.AGREE_UNSETTLED, AGREEING), (Code.DIFFER_UNSETTLED, DIFFERING))
_DIFFERS = np.isin(
    np.arange(len(Code)),
    [*(CODE_OF[cell] for cell in DIFFERING), Code.DIFFER_UNLABELLED, Code.DIFFER_UNSETTLED],
)


def codes_of(
    states: npt.NDArray[np.uint8],
    *,
    differ: Flags | bool,
    new_right: Flags | bool,
    old_right: Flags | bool,
) -> Codes:
    """The codes of many examples, each by :func:`code_of`. States are places in ``STATES``."""
    return np.asarray(_RULE[((states * 2 + differ) * 2 + new_right) * 2 + old_right])


def differs(codes: Codes) -> Flags:
    """Where the models differ, with or without a label."""
    return np.asarray(_DIFFERS[codes])


def unlabelled(codes: Codes) -> Flags:
    """Where a label may still be asked for."""
    return np.asarray((codes == Code.AGREE_UNLABELLED) | (codes == Code.DIFFER_UNLABELLED))


def lowest(codes: Codes, score: Score) -> Codes:
    """The codes with every unsettled label at the lowest score that it can have."""
    return _at_extreme(codes, score, min)


def highest(codes: Codes, score: Score) -> Codes:
    """The codes with every unsettled label at the highest score that it can have."""
    return _at_extreme(codes, score, max)


def _at_extreme(codes: Codes, score: Score, pick: Callable[..., Cell]) -> Codes:
    if not len(codes) or codes.max() < Code.AGREE_UNSETTLED:
        return codes
    table = np.arange(len(Code), dtype=np.uint8)
    for code, cells in _UNSETTLED:
        table[code] = CODE_OF[pick(cells, key=score.of)]
    return np.asarray(table[codes])


@dataclass(frozen=True)
class Counts:
    """How many examples of a sample have each code."""

    by_code: tuple[int, ...]

    @staticmethod
    def of(codes: Codes) -> Counts:
        """Count the codes of a sample."""
        return Counts(tuple(int(c) for c in np.bincount(codes, minlength=len(Code))))

    def __getitem__(self, code: Code) -> int:
        return self.by_code[code]

    @property
    def examples(self) -> int:
        """How many examples the sample has."""
        return sum(self.by_code)

    @property
    def differing(self) -> int:
        """On how many examples the models differ."""
        return sum(count for count, differ in zip(self.by_code, _DIFFERS, strict=True) if differ)

    @property
    def unsettled(self) -> int:
        """How many examples have an unsettled label."""
        return self[Code.AGREE_UNSETTLED] + self[Code.DIFFER_UNSETTLED]

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
        return self._completed(score, min, _UNLABELLED), self._completed(score, max, _UNLABELLED)

    def worst_cases(self, score: Score) -> tuple[Counts, ...]:
        """The counts with every unsettled label at its lowest, and at its highest score.

        If no label is unsettled, just the counts themselves.
        """
        if not self.unsettled:
            return (self,)
        return self._completed(score, min, _UNSETTLED), self._completed(score, max, _UNSETTLED)

    def _completed(
        self,
        score: Score,
        pick: Callable[..., Cell],
        unknown: tuple[tuple[Code, tuple[Cell, ...]], ...],
    ) -> Counts:
        counts = list(self.by_code)
        for code, cells in unknown:
            counts[CODE_OF[pick(cells, key=score.of)]] += counts[code]
            counts[code] = 0
        return Counts(tuple(counts))

    def mean(self, score: Score) -> Fraction:
        """The mean score; every label that matters must be known."""
        total = sum((self[CODE_OF[cell]] * score.of(cell) for cell in Cell), Fraction(0))
        return total / self.examples

    def mean_range(self, score: Score) -> tuple[Fraction, Fraction]:
        """The least and the greatest mean score that missing and unsettled labels still allow.

        The two are equal if no label that matters is missing or unsettled.
        """
        low, high = self.extremes(score)
        return low.worst_cases(score)[0].mean(score), high.worst_cases(score)[-1].mean(score)
