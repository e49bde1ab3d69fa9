"""Laws of outcomes for any score: what plans and simulations assume where n, o and d don't tell.

A law over the five cells says how often each model is right. A clause such as recall(fraud) also
looks at classes. So a law is *lifted* to its outcomes by three assumptions:

* The label does not depend on the cell. Its classes have the shares that the script expects.
* A wrong prediction on a named class y is another named class z with probability p_z / (1 − p_y).
* A wrong prediction on any other label is the named class z with probability p_z / (1 − p_z).

With one named class, a model then predicts the class as often as it occurs, and its precision, its
recall and its F1 are all equal to its accuracy.

The difference of two of them is then 0, whatever the accuracy is. Where a difference must have
another value, mistakes of one kind become more frequent and those of another kind rarer
(:mod:`easeci.plan.tilted_laws`).

AUC is about ranks. There the ranks of the two classes are normal with equal variances. Where the
truth is an accuracy, the AUC is taken to be equal to it.

Scores of outputs are taken to be 0 or 1, and all outputs to differ. No other scores vary more, so
most testsets take fewer labels. The truth is again how often each model has the score 1.

These laws only decide sizes and forecasts, and what `easeci simulate` draws. No verdict depends on
them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from easeci.evidence.bets import Floats
from easeci.plan.tilted_laws import tilted, value_of_means
from easeci.script import Script
from easeci.script.lattice import Lattice
from easeci.script.outcomes import Cell, ExampleAlphabet
from easeci.script.score import Blocks, Score

RARE = 0.1
"""The share of a class if the script neither expects one nor declares its classes."""
EVEN = 0.5
"""The share of the class of an AUC that the script says nothing about."""
USUAL_ACCURACY = 0.8
"""What two models that are compared reach, as a rule."""
HARDLY = 0.1
"""A difference of ratios that accuracies change by less than this part of both is not theirs."""
SHUFFLED = 0.2
"""Of the predictions that change, so many are wrong before and after, as in the mix of commits."""
RANK_CORRELATION = 0.8
"""With this probability two models rank a block alike; otherwise independently of each other."""
BISECTIONS = 60
NODES = 96
"""So many points on a side stand for a normal law."""

Shares = tuple[float, ...]
"""The share of each class that a score names, in the order of its alphabet."""


def class_share(script: Script, name: str, *, usual: float = RARE) -> float:
    """The share of a class: as expected, or the same for all declared classes, or the usual one."""
    expected = script.expected_share(name)
    if expected is not None:
        return float(expected)
    return 1.0 / len(script.classes) if len(script.classes) > 1 else usual


def shares_of(script: Script, score: Score) -> Shares:
    """The shares of the classes that a score names, scaled if they leave nothing for others."""
    usual = EVEN if score.blocks is not None else RARE
    shares = [class_share(script, name, usual=usual) for name in score.classes]
    total = sum(shares)
    everything = len(script.classes) == len(shares)
    if total > 1.0 or (total == 1.0 and not everything):
        shares = [share / total for share in shares]
    return tuple(shares)


# -- from cells to outcomes


@lru_cache(maxsize=256)
def lift(alphabet: ExampleAlphabet, shares: Shares) -> Floats:
    """The probability of each outcome given the cell, shape (5, outcomes)."""
    other = len(alphabet.classes)
    named = np.array([*shares, max(1.0 - sum(shares), 0.0)])
    places = {
        (one.new_right, one.old_right, one.differ, one.new, one.old, one.label): number
        for number, one in enumerate(alphabet.shown)
    }
    matrix = np.zeros((len(Cell), alphabet.outcomes))
    for row, cell in enumerate(Cell):
        for label in range(other + 1):
            for (new, old), chance in _predictions(cell, label, named).items():
                matrix[row, places[(*cell.value, new, old, label)]] += named[label] * chance
    return matrix


def lift_of(score: Score, shares: Shares) -> Floats:
    """The probability of each outcome of a score given the cell, shape (5, outcomes)."""
    if score.lattice is not None:
        return _lattice_lift(score.lattice)
    assert isinstance(score.alphabet, ExampleAlphabet)
    return lift(score.alphabet, shares)


@lru_cache(maxsize=64)
def _lattice_lift(lattice: Lattice) -> Floats:
    """All outputs differ, and each has the score 1 where its model is right, otherwise 0."""
    group = lattice.alphabet.groups[-1]
    matrix = np.zeros((len(Cell), lattice.alphabet.outcomes))
    for row, cell in enumerate(Cell):
        new, old, _ = cell.value
        of_model = {"n": new, "o": old}
        combined = sum(
            (weight * of_model[term.model] for term, weight in lattice.terms), lattice.difference
        )
        nearest = min(group, key=lambda outcome: abs(lattice.values[outcome] - combined))
        matrix[row, nearest] = 1.0
    return matrix


def _predictions(cell: Cell, label: int, named: Floats) -> dict[tuple[int, int], float]:
    """The predictions of new and old on a label, as classes, with their probabilities."""
    wrong = dict(enumerate(_wrong(label, named)))
    if cell is Cell.AGREE_RIGHT:
        return {(label, label): 1.0}
    if cell is Cell.AGREE_WRONG:
        return {(z, z): chance for z, chance in wrong.items() if chance}
    if cell is Cell.NEW_RIGHT:
        return {(label, z): chance for z, chance in wrong.items() if chance}
    if cell is Cell.OLD_RIGHT:
        return {(z, label): chance for z, chance in wrong.items() if chance}
    # Two different mistakes. Two classes that the clause does not name may differ too.
    other = len(named) - 1
    pairs = {
        (y, z): wrong[y] * wrong[z]
        for y in wrong
        for z in wrong
        if (y != z or y == other) and wrong[y] * wrong[z] > 0.0
    }
    total = sum(pairs.values())
    return {pair: chance / total for pair, chance in pairs.items()} or {(other, other): 1.0}


def _wrong(label: int, named: Floats) -> Floats:
    """The probabilities of the classes of a wrong prediction; the last is any other class."""
    other = len(named) - 1
    chances = np.zeros(len(named))
    for z in range(other):
        if z != label:
            left = 1.0 - named[label] if label < other else 1.0 - named[z]
            chances[z] = named[z] / left if left > 0.0 else 1.0
    total = chances.sum()
    if total > 1.0:
        chances /= total
    chances[other] = max(1.0 - chances.sum(), 0.0)
    return chances


def cells_law(new: float, old: float, difference: float) -> Floats:
    """A law over the five cells: two accuracies, and on how many examples the models differ.

    They differ on more if the accuracies need it, and on less if few predictions are wrong.
    """
    gain = new - old
    wished = (1.0 - SHUFFLED) * difference
    changed = max(min(wished, 2.0 * (1.0 - old) - gain, 2.0 * old + gain), abs(gain))
    gained, lost = (changed + gain) / 2.0, (changed - gain) / 2.0
    both = min(max(difference - changed, 0.0), max(1.0 - old - gained, 0.0))
    law = np.array([old - lost, 1.0 - old - gained - both, gained, lost, both])
    law = np.maximum(law, 0.0)
    return np.asarray(law / law.sum())


# -- laws at which a score has a value


def value_of(score: Score, law: Floats) -> float:
    """The score under a law over its outcomes; 0/0 counts as 0."""
    return value_of_means(tables_of(score) @ law)


def law_at(score: Score, value: float, shares: Shares, difference: float) -> Floats:
    """A law over the outcomes of a score at which it has this value, or the nearest possible one.

    A score that compares two models: both have about the usual accuracy. Any other score: both
    models are equally good, so only the value decides. Where accuracies don't decide the score,
    both have about the usual one, and their mistakes are of other kinds
    (:mod:`easeci.plan.tilted_laws`).
    """
    if score.blocks is not None:
        chances = block_law(score.blocks, *aucs_at(score.blocks, value))
        by_value = dict(zip(score.blocks.values, chances, strict=True))
        return np.array([by_value[entry] for entry in score.ratio.numerator])
    near = [
        lifted(score, accuracies, shares, difference)
        for accuracies in _accuracies_at(score, value, shares, difference)
    ]
    misses = [abs(value_of(score, law) - value) for law in near]
    possible = float(score.lowest) <= value <= float(score.highest)
    if not near or (possible and min(misses) > 1e-9 * max(1.0, abs(value))):
        near.append(_tilted_law(score, value, shares, difference))
    return min(near, key=lambda law: abs(value_of(score, law) - value))


Accuracies = tuple[float, float]


def lifted(score: Score, accuracies: Accuracies, shares: Shares, difference: float) -> Floats:
    """The law of a score's outcomes, for two models of these accuracies."""
    return np.asarray(cells_law(*accuracies, difference) @ lift_of(score, shares))


def _accuracies_at(
    score: Score, value: float, shares: Shares, difference: float
) -> list[Accuracies]:
    """The accuracies of the two models at which a score has a value, or nearly so.

    None if the score hardly depends on them.
    """
    by_cell = lift_of(score, shares) @ tables_of(score).T
    families = deciding_families(by_cell, difference)
    if score.needs_old_model:
        families.reverse()
    found: list[Accuracies] = []
    for family, low, high in families:

        def at(place: float, family: Callable[[float], Accuracies] = family) -> float:
            return value_of_means(cells_law(*family(place), difference) @ by_cell)

        place = _solve(at, value, low, high)
        found.append(family(place))
        if abs(at(place) - value) <= 1e-9 * max(1.0, abs(value)):
            break
    return found


Family = tuple[Callable[[float], Accuracies], float, float]
"""Accuracies by one number, and the least and the greatest such number."""


def deciding_families(by_cell: Floats, difference: float) -> list[Family]:
    """The families of accuracies that change a score: equal ones, and such that move apart.

    ``by_cell`` has the means of the score's tables given the cell, of shape (5, 2 or 4).
    """

    def value(accuracies: Accuracies) -> float:
        return value_of_means(cells_law(*accuracies, difference) @ by_cell)

    families: list[Family] = [(_alike, 0.0, 1.0), (_apart, -1.0, 1.0)]
    least = _least_move(cells_law(*_alike(USUAL_ACCURACY), difference) @ by_cell)
    return [
        (family, low, high)
        for family, low, high in families
        if abs(value(family(high)) - value(family(low))) > least
    ]


def _least_move(means: Floats) -> float:
    """By how much accuracies must change a score at least, to decide it."""
    if len(means) == 2:
        return 1e-9
    return HARDLY * (abs(value_of_means(means[:2])) + abs(value_of_means(means[2:])))


def _tilted_law(score: Score, value: float, shares: Shares, difference: float) -> Floats:
    if score.lattice is not None:
        return _law_at_ends(score, value)
    assert isinstance(score.alphabet, ExampleAlphabet)
    usual = lifted(score, (USUAL_ACCURACY, USUAL_ACCURACY), shares, difference)
    labels = np.array([one.label for one in score.alphabet.shown], np.intp)
    return tilted(tables_of(score), usual, labels, value)


def _law_at_ends(score: Score, value: float) -> Floats:
    """A law for scores that no accuracies change, such as n.faithful − n: all are at the ends."""
    group = score.alphabet.groups[-1]
    low, high = (float(score.ratio.numerator[outcome]) for outcome in (group[0], group[-1]))
    share = min(max((value - low) / (high - low), 0.0), 1.0)
    law = np.zeros(score.alphabet.outcomes)
    law[[group[0], group[-1]]] = 1.0 - share, share
    return law


@lru_cache(maxsize=256)
def tables_of(score: Score) -> Floats:
    """The tables of a score, of shape (2 or 4, outcomes)."""
    ratios = (score.ratio,) if score.subtracted is None else (score.ratio, score.subtracted)
    tables = [entries for ratio in ratios for entries in (ratio.numerator, ratio.denominator)]
    return np.array([[float(x) for x in table] for table in tables])


def accuracy_of_both(score: Score, value: float, shares: Shares, difference: float) -> float:
    """The accuracy of two equally good models at which a score has a value.

    0 if the score has another value, or the same one, whatever the accuracy is.
    """
    blocks = score.blocks

    def at(both: float) -> float:
        if blocks is not None:
            return float(blocks.new + blocks.old) * both
        return value_of(score, lifted(score, (both, both), shares, difference))

    if abs(at(0.9) - at(0.5)) < 1e-9:
        return 0.0
    found = _solve(at, value, 1e-6, 1.0)
    return found if abs(at(found) - value) < 1e-6 else 0.0


def _alike(both: float) -> Accuracies:
    return both, both


def _apart(gain: float) -> Accuracies:
    """Two models around the usual accuracy, or as near to it as their difference allows."""
    half = abs(gain) / 2.0
    middle = min(max(USUAL_ACCURACY, half), 1.0 - half)
    return middle + gain / 2.0, middle - gain / 2.0


def _solve(at: Callable[[float], float], value: float, low: float, high: float) -> float:
    """Where a monotone function has a value; the nearer end if it has it nowhere."""
    first, last = at(low), at(high)
    if first > last:
        return _solve(lambda place: -at(place), -value, low, high)
    if not first < value < last:
        return low if value <= first else high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if at(middle) < value else (low, middle)
    return (low + high) / 2.0


# -- blocks


def aucs_at(blocks: Blocks, value: float) -> Accuracies:
    """The AUC of the new and of the old model at which a score of blocks has a value."""
    new, old = float(blocks.new), float(blocks.old)
    if not old:
        return min(max(value / new, 0.0), 1.0), EVEN
    if not new:
        return EVEN, min(max(value / old, 0.0), 1.0)
    place = _solve(lambda gain: new * _apart(gain)[0] + old * _apart(gain)[1], value, -1.0, 1.0)
    first = _apart(place)
    both = _solve(lambda auc: (new + old) * auc, value, 0.0, 1.0) if new + old else EVEN
    missed = (abs(new * x + old * y - value) for x, y in (first, (both, both)))
    return first if next(missed) <= next(missed) + 1e-12 else (both, both)


@lru_cache(maxsize=256)
def block_law(blocks: Blocks, new_auc: float, old_auc: float) -> Floats:
    """The law of a block's score, in the order of its outcomes, for models of these AUCs.

    Exact, by quadrature, for one model. Two models rank a block alike with a fixed probability,
    and otherwise independently, which is rough.
    """
    halves = blocks.halves
    laws = [
        _pairs_law(blocks.positives, blocks.negatives, auc) if factor else _never(halves)
        for factor, auc in ((blocks.new, new_auc), (blocks.old, old_auc))
    ]
    alike = RANK_CORRELATION * _coupled(*laws)
    joint = alike + (1.0 - RANK_CORRELATION) * np.outer(*laws)
    place = {value: number for number, value in enumerate(blocks.values)}
    law = np.zeros(len(place))
    for i, j in zip(*np.nonzero(joint), strict=True):
        law[place[(blocks.new * int(i) + blocks.old * int(j)) / halves]] += joint[i, j]
    return np.asarray(law / law.sum())


def _never(halves: int) -> Floats:
    law = np.zeros(halves + 1)
    law[0] = 1.0
    return law


def _coupled(first: Floats, second: Floats) -> Floats:
    """The joint law of two numbers that rise together."""
    ends = [np.concatenate([[0.0], np.cumsum(law)]) for law in (first, second)]
    low = np.maximum(ends[0][:-1, None], ends[1][None, :-1])
    high = np.minimum(ends[0][1:, None], ends[1][None, 1:])
    return np.asarray(np.maximum(high - low, 0.0))


@lru_cache(maxsize=256)
def _pairs_law(positives: int, negatives: int, auc: float) -> Floats:
    """The law of twice the number of pairs that a model ranks rightly."""
    if positives > negatives:
        return _pairs_law(negatives, positives, auc)  # by symmetry
    apart = math.sqrt(2.0) * normal_quantile(min(max(auc, 1e-9), 1.0 - 1e-9))
    nodes, weights = _normal_nodes()
    below = np.array([0.5 * math.erfc(-(x + apart) / math.sqrt(2.0)) for x in nodes])
    # Given the scores of the few positive examples, the negative ones are independent: each adds
    # the number of positives that it is below.
    if positives == 1:
        single, chances = np.stack([1.0 - below, below], axis=1), weights
    else:
        first, second = np.meshgrid(below, below, indexing="ij")
        low, high = np.minimum(first, second).ravel(), np.maximum(first, second).ravel()
        single = np.stack([1.0 - high, high - low, low], axis=1)
        chances = np.outer(weights, weights).ravel()
    law = np.zeros(2 * positives * negatives + 1)
    law[::2] = chances @ _sums(single, negatives)
    return law


def _sums(single: Floats, count: int) -> Floats:
    """For each row, the law of the sum of so many independent numbers of the row's law."""
    found = np.ones((len(single), 1))
    for _ in range(count):
        grown = np.zeros((len(single), found.shape[1] + single.shape[1] - 1))
        for step in range(single.shape[1]):
            grown[:, step : step + found.shape[1]] += found * single[:, step, None]
        found = grown
    return found


@lru_cache(maxsize=1)
def _normal_nodes() -> tuple[Floats, Floats]:
    """Points and weights that stand for the standard normal law."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    return np.asarray(nodes), np.asarray(weights / weights.sum())


def normal_quantile(chance: float) -> float:
    """The quantile of the standard normal law, by bisection."""
    low, high = -8.0, 8.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2.0
        below = 0.5 * math.erfc(-middle / math.sqrt(2.0)) < chance
        low, high = (middle, high) if below else (low, middle)
    return (low + high) / 2.0


def examples_a_block(blocks: Blocks, share: float) -> float:
    """How many examples a block takes on average, if the class has this share."""
    share = min(max(share, 1e-6), 1.0 - 1e-6)
    return max(blocks.positives / share, blocks.negatives / (1.0 - share))
