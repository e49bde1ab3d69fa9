"""Worlds in which a measure has a given value, and testsets drawn from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from easeci.evidence.bets import Floats
from easeci.evidence.cells import CODE_OF, Code
from easeci.evidence.codes import Codes, Flags
from easeci.evidence.facts import ClassColumns, Facts
from easeci.script import Cell, NormalClause, Score, compile_condition, parse_condition
from easeci.script.outcomes import ExampleAlphabet, Outcome
from easeci.script.score import Ratio

CLASSES = ("k", "b")
"""The classes that the conditions of these tests may name."""


def clause_of(condition: str) -> NormalClause:
    """The only clause of a condition."""
    (clause,) = compile_condition(parse_condition(condition), CLASSES)
    return clause


def alphabet_of(score: Score) -> ExampleAlphabet:
    assert isinstance(score.alphabet, ExampleAlphabet)
    return score.alphabet


def most_errors(runs: int, level: float, trust: float = 0.999) -> int:
    """A right test makes more errors than this with a probability of at most 1 − ``trust``."""
    return int(binom.ppf(trust, runs, level))


# -- laws


Value = Callable[[Floats], float]
"""The value of a score, as a function of the law of its outcomes."""


def values(score: Score) -> Value:
    """The value of a score under any law."""
    first = _ratio(score.ratio)
    if score.subtracted is None:
        return first
    second = _ratio(score.subtracted)
    return lambda law: first(law) - second(law)


def _ratio(ratio: Ratio) -> Value:
    above, below = (
        np.array([float(x) for x in table]) for table in (ratio.numerator, ratio.denominator)
    )
    return lambda law: float(above @ law) / float(below @ law)


def value_of(score: Score, law: Floats) -> float:
    """The value of a score under a law of its outcomes."""
    return values(score)(law)


def law_of(score: Score, chance: Callable[[Outcome], float]) -> Floats:
    """The law in which each outcome has the chance that it is given; they are scaled to 1."""
    law = np.array([chance(outcome) for outcome in alphabet_of(score).shown])
    return np.asarray(law / law.sum())


def law_at(score: Score, value: float, low: Floats, high: Floats) -> Floats:
    """The mixture of two laws in which a score has this value."""
    return mixture(values(score), value, low, high)


def mixture(found: Value, value: float, low: Floats, high: Floats) -> Floats:
    """The mixture of two laws in which something has a value that lies between theirs."""
    assert found(low) < value < found(high)
    share = brentq(lambda t: found((1 - t) * low + t * high) - value, 0.0, 1.0, xtol=1e-15)
    law: Floats = (1 - share) * low + share * high
    assert abs(found(law) - value) < 1e-10
    return law


def detector(
    score: Score,
    prevalence: float,
    new: tuple[float, float],
    old: tuple[float, float] = (0.5, 0.05),
) -> Floats:
    """Two models that find class k: each has a rate of hits and a rate of false alarms.

    Apart from k there is one class, so a model that does not predict k predicts that one.
    """

    def chance(outcome: Outcome) -> float:
        if outcome.label == outcome.new == 1 and not outcome.new_right:
            return 0.0
        if outcome.label == outcome.old == 1 and not outcome.old_right:
            return 0.0
        if outcome.new == outcome.old == 1 and outcome.differ:
            return 0.0
        side = 0 if outcome.label == 0 else 1
        found = [rates[side] for rates in (new, old)]
        rate = prevalence if outcome.label == 0 else 1.0 - prevalence
        for predicted, hit in zip((outcome.new, outcome.old), found, strict=True):
            rate *= hit if predicted == 0 else 1.0 - hit
        return rate

    return law_of(score, chance)


# -- testsets


def unsettled_code(outcomes: Codes, skipped: Flags) -> Codes:
    """The codes of n, o and d of outcomes that are cells, with some labels skipped."""
    hidden = np.where(outcomes >= Code.NEW_RIGHT, Code.DIFFER_UNSETTLED, Code.AGREE_UNSETTLED)
    return np.where(skipped, hidden, outcomes).astype(np.uint8)


@dataclass(frozen=True)
class Shown:
    """The columns of a testset, by the outcomes of an alphabet."""

    alphabet: ExampleAlphabet

    @cached_property
    def _columns(self) -> tuple[Codes, Codes, Codes, Codes]:
        shown = self.alphabet.shown
        cells = {cell.value: CODE_OF[cell] for cell in Cell}
        return (
            np.array([cells[(o.new_right, o.old_right, o.differ)] for o in shown], np.uint8),
            np.array([o.new for o in shown], np.uint16),
            np.array([o.old for o in shown], np.uint16),
            np.array([o.label for o in shown], np.uint16),
        )

    def facts(self, outcomes: Codes, skipped: Flags | None = None) -> Facts:
        """A testset of these outcomes, where some labels are skipped."""
        cells, new, old, label = (column[outcomes] for column in self._columns)
        if skipped is not None:
            cells = unsettled_code(cells, skipped)
            label = np.where(skipped, 0, label).astype(np.uint16)
        classes = ClassColumns(self.alphabet.classes, new, old, label)
        return Facts(cells, classes if self.alphabet.classes else None)


def hurting(score: Score, value: float) -> Flags:
    """Of each outcome: whether it is the worst of its group for a proof that Φ is above a value.

    Whoever skips exactly these labels does not change how an unsettled label counts.
    """
    table = score.ratio.table(Fraction(value).limit_denominator(10**6))
    if score.subtracted is not None:
        second = score.subtracted.table(Fraction(0))
        table = tuple(x - y for x, y in zip(table, second, strict=True))
    worst = [o in _worst(group, table) for group in score.alphabet.groups for o in group]
    return np.array(worst)


def _worst(group: tuple[int, ...], table: tuple[Fraction, ...]) -> set[int]:
    least = min(table[outcome] for outcome in group)
    alone = len({table[outcome] for outcome in group}) == 1
    return set() if alone else {outcome for outcome in group if table[outcome] == least}
