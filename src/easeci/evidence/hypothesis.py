"""Evidence against "Φ is at most c", for any score, from the outcomes of a testset.

There are three ways. The score decides which one is used, never the data:

* **Every example counts.** Bets on the score itself. The only assumption: examples are i.i.d.

* **A ratio of means** is at most c if the mean of numerator − c · denominator is at most 0. Bets on
  that table; examples on which it is 0 change nothing, so nobody has to know how many there are.

* **Only examples of some groups count**, for means of scores that are 0 on all others, such as
  n − o where the models agree. Let d be the true share of examples that count. Given which ones
  count, their scores are i.i.d. with mean Φ/d. So if Φ ≤ c and d is in [l, u], the bets
  Π (1 + λ (s − m)) over them, m = max(c/l, c/u), are a supermartingale given the pattern. Its start
  may be any e-value of the pattern under d, because the expectation of the product is the
  expectation of the start: e(D), D the number of examples that count among all N, known without a
  single label. The evidence is the least over a partition of [0, 1] into intervals of d, that is,
  over all values that d can have.

For c > 0 a small d makes the hypothesis hard to reject (m = c/l is large). So e must grow if more
examples count than d explains: with tilts θ > 0

    e(D) = w₀ + Σ w_k exp(θ_k D − N ln(1 + u (e^θ_k − 1))),   Σ w = 1

E_d[e^(θD)] = (1 + d (e^θ − 1))^N grows with d, so this has expectation at most 1 for all d ≤ u. For
c < 0 it is the mirror image, with θ < 0 and l. For c = 0, d does not matter at all. Each bet has
its own start: how fast a bet falls as d moves away is known beforehand, and the best tilt matches
it. So bets that end soon lose almost nothing by not knowing d exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from easeci.evidence.bets import (
    GRADED_AIMS,
    PROOF_AIMS,
    RATIO_AIMS,
    SPACED_AIMS,
    SPREAD,
    Aims,
    Floats,
    aimed,
    log_factors,
)
from easeci.evidence.codes import Codes, at_worst
from easeci.evidence.wealth import Evidence
from easeci.script.outcomes import Alphabet, ExampleAlphabet
from easeci.script.score import Entries, Ratio, Score

TILTS = (1.2, 2.5)
"""Tilts of e, as multiples of the slope that a bet is expected to have at its target."""
TILT_WEIGHTS = (0.45, 0.3)
FAR_TILT = 6.0
"""One more tilt, in standard deviations of D: it rules out values of d that are far away."""
FAR_WEIGHT = 0.03
NO_TILT = 1.0 - sum(TILT_WEIGHTS) - FAR_WEIGHT

RESOLUTION = 0.25
"""Width of the finest intervals of d, in standard deviations of D/N."""
FINEST = 25_000_000
"""How many examples have the finest intervals. More of them don't make the intervals narrower, so
that the work stays the same. Every partition of [0, 1] is valid; a coarse one needs more labels."""

LARGEST_DENOMINATOR = 10**12
"""Constants of a script are decimal numbers; this finds them again from floating-point ones."""

LARGEST_BET = 0.9
"""Of the largest bet whose factor is never negative, where bets are chosen for another mean."""
LEAST_GROUND = 1e-6

MARGIN = 1e-12
"""Hypotheses are widened by this share of the score's range: more than any rounding error."""


ROWS_A_TOLERANCE = 8
"""A difference of two ratios is tested for each value that the second may have, in intervals. Their
width is the tolerance divided by this: narrower ones hardly save labels."""
MOST_ROWS = 1024
MIRRORED_WEIGHTS = ((1, 1), (1, 0), (0, 1))
"""The weights of two tables for a difference between models. The tables by themselves reject rows
that are far from the truth sooner, with a quarter of the labels fewer in all."""
WEIGHTS = ((1, 1), (4, 1), (1, 4), (16, 1), (1, 16), (1, 0), (0, 1))
"""The weights of two tables whose denominators may have quite different means, such as the shares
of two classes. Which are good depends on these means, so each has its own bets."""


@dataclass(frozen=True)
class Hypothesis:
    """The hypothesis "the means of some tables are at most ``bound``".

    Each of the ``rows`` has tables. The hypothesis holds for all tables of at least one row, and
    nobody knows of which. Bets are aimed at multiples of ``tolerance`` beyond the bound. ``groups``
    are those of the examples that count; tables are 0 on all others. If ``outright``, the bound is
    0 and an entry of 0 says nothing, and the tolerance is that of an example with another entry.
    ``spread`` is what bets on scores of more than two values assume of their variance, as a share
    of the largest possible one; it affects how many labels are needed, never safety.
    """

    alphabet: Alphabet
    rows: tuple[tuple[Entries, ...], ...]
    bound: float
    tolerance: float
    groups: frozenset[int]
    outright: bool = False
    weights: tuple[float, ...] = (1.0,)
    """By how much the tolerance is larger, for each table of a row."""
    aimed_at: float | None = None
    """Bets are chosen as if this were the bound, if the bound itself depends on labels."""
    spread: float = SPREAD
    graded: bool = False
    """Whether scores may lie anywhere between the ends: nothing is known of their variance."""

    @staticmethod
    @lru_cache(maxsize=24)
    def of(score: Score, bound: float, tolerance: float) -> Hypothesis:
        """The hypothesis that a score is at most ``bound``. Cached: exact tables take time.

        A ratio is at most b if the mean of numerator − b · denominator is at most 0. A difference
        A − B of two ratios is at most b only if this holds for one of the intervals [l, u] that B
        may be in: A is at most u + b, and B is at least l. Then every weighted sum of their two
        tables has a mean of at most 0.
        """
        if score.is_mean:
            rows: tuple[tuple[Entries, ...], ...] = ((score.ratio.numerator,),)
            graded = score.lattice is not None and score.lattice.graded
            return Hypothesis(score.alphabet, rows, bound, tolerance, score.relevant, graded=graded)
        exact = Fraction(bound).limit_denominator(LARGEST_DENOMINATOR)
        if score.subtracted is not None:
            rows = tuple(_difference_rows(score, exact, tolerance))
            return difference_hypothesis(score, rows, tolerance)
        table = score.ratio.table(exact)
        step = tolerance * denominator_where_not_zero(table, score.ratio.denominator)
        return Hypothesis(score.alphabet, ((table,),), 0.0, step, score.relevant, outright=True)

    @property
    def everywhere(self) -> bool:
        """Whether every example counts."""
        return len(self.groups) == len(self.alphabet.groups)

    @property
    def single(self) -> bool:
        """Whether there is one table."""
        return len(self.rows) == len(self.rows[0]) == 1

    @property
    def relevant(self) -> tuple[int, ...]:
        """The outcomes of the examples that count."""
        groups = self.alphabet.groups
        return tuple(outcome for number in sorted(self.groups) for outcome in groups[number])

    def entry(self, outcome: int) -> Fraction:
        """The score of an outcome, by the first table."""
        return self.rows[0][0][outcome]

    @cached_property
    def scores(self) -> tuple[float, ...]:
        """The distinct scores of the relevant outcomes, in rising order, by the first table."""
        found = {float(self.entry(outcome)) for outcome in self.relevant}
        return tuple(sorted(found - {0.0} if self.outright else found))

    def cautious(self, codes: Codes) -> Codes:
        """The codes with unsettled labels at their worst.

        With several tables, the worst differs between them: unsettled labels keep codes of their
        own, and the evidence knows their factors.
        """
        if not self.single:
            return codes
        return at_worst(codes, self.alphabet, self.rows[0][0])


def _difference_rows(
    score: Score, bound: Fraction, tolerance: float
) -> Iterator[tuple[Entries, ...]]:
    """For each interval [l, u] of the second ratio, the tables that have a mean of at most 0."""
    rows = difference_rows(score, tolerance)
    for row in range(rows):
        yield row_tables(score, bound, row, rows)


def difference_rows(score: Score, tolerance: float) -> int:
    """How many rows the evidence against a difference of two ratios has."""
    assert score.subtracted is not None
    low, high = score.subtracted.reach
    return min(max(math.ceil(float(high - low) * ROWS_A_TOLERANCE / tolerance), 1), MOST_ROWS)


def row_tables(score: Score, bound: Fraction, row: int, rows: int) -> tuple[Entries, ...]:
    """The tables of one of the rows, each of which is for an interval of the second ratio."""
    first, second = score.ratio, score.subtracted
    assert second is not None
    low, high = second.reach
    width = (high - low) / rows
    at = low + row * width
    pairs = list(zip(first.table(at + width + bound), second.table(at), strict=True))
    return tuple(tuple(a * x - b * y for x, y in pairs) for a, b in _row_weights(score))


def difference_hypothesis(
    score: Score, rows: Sequence[tuple[Entries, ...]], tolerance: float
) -> Hypothesis:
    """The hypothesis of these rows about a difference of two ratios."""
    step = tolerance * denominator_where_not_zero(rows[0][0], score.ratio.denominator)
    weights = tuple(float(max(pair)) for pair in _row_weights(score))
    return Hypothesis(
        score.alphabet, tuple(rows), 0.0, step, score.relevant, outright=True, weights=weights
    )


def _row_weights(score: Score) -> tuple[tuple[int, int], ...]:
    assert score.subtracted is not None
    mirrored = _mirrored(score.alphabet, score.ratio, score.subtracted)
    return MIRRORED_WEIGHTS if mirrored else WEIGHTS


def _mirrored(alphabet: Alphabet, first: Ratio, second: Ratio) -> bool:
    """Whether one denominator is the other one with new and old exchanged."""
    assert isinstance(alphabet, ExampleAlphabet)
    places = {shown: place for place, shown in enumerate(alphabet.shown)}
    return all(
        second.denominator[place] == first.denominator[places[shown.mirrored]]
        for shown, place in places.items()
    )


def denominator_where_not_zero(table: Entries, denominator: Entries) -> float:
    """How large the denominator is on average where the score is not 0, if its mean is near 0.

    A score of two values has a law of mean 0. With more values, any size will do: bets are spread.
    """
    by_value: dict[Fraction, list[Fraction]] = {}
    for entry, weight in zip(table, denominator, strict=True):
        if entry:
            by_value.setdefault(entry, []).append(weight)
    averages = {entry: sum(w, Fraction(0)) / len(w) for entry, w in by_value.items()}
    if len(averages) == 2 and min(averages) < 0 < max(averages):
        low, high = min(averages), max(averages)
        return float((averages[low] * high - averages[high] * low) / (high - low))
    positive = [average for average in averages.values() if average]
    return float(sum(positive, Fraction(0)) / len(positive)) if positive else 1.0


def evidence_against(
    hypothesis: Hypothesis, aims: Aims, examples: int, relevant: int, log_target: float
) -> Evidence:
    """The evidence against a hypothesis, on a testset with so many examples, so many relevant.

    ``log_target`` is the largest target that the caller will use. Cases that the number of relevant
    examples alone excludes at that level are left out.
    """
    if hypothesis.outright:
        return _outright(hypothesis, aims)
    if hypothesis.graded:
        aims = GRADED_AIMS
    if not hypothesis.everywhere:
        return _from_relevant(hypothesis, aims, examples, relevant, log_target)
    scores = hypothesis.scores
    if len(scores) != 2 and not hypothesis.graded:
        aims = SPACED_AIMS
    means = np.array([hypothesis.bound + MARGIN * (scores[-1] - scores[0])])
    if means[0] <= scores[0]:
        return _infinite_evidence(hypothesis, aims)
    start = np.zeros((1, len(aims.multiples)))
    return _evidence_of_bets(hypothesis, aims, np.minimum(means, scores[-1]), np.ones(1), start)


def _outright(hypothesis: Hypothesis, aims: Aims) -> Evidence:
    """Bets on tables whose mean is at most 0: each row is a mixture over its tables.

    Examples with a score of 0 change no bet. An unsettled label has the worst factor of its group.
    """
    if not hypothesis.single or len(hypothesis.scores) != 2:
        aims = SPACED_AIMS
    elif aims is PROOF_AIMS:
        aims = RATIO_AIMS
    rows, tables = len(hypothesis.rows), len(hypothesis.rows[0])
    entries = np.array([[float(x) for x in table] for row in hypothesis.rows for table in row])
    scale = np.abs(entries).max(axis=1)
    # A table without a negative entry contradicts the hypothesis: any other entry refutes it.
    least, most = np.minimum(entries.min(axis=1), -MARGIN * scale), entries.max(axis=1)
    means = np.minimum(MARGIN * scale, most)
    spread = 1.0 if aims is not SPACED_AIMS else SPREAD
    step = hypothesis.tolerance * np.tile(np.array(hypothesis.weights), rows)
    sizes = aimed(means, step, aims, (least, most), spread)
    if not hypothesis.single:
        worst = [entries[:, group].min(axis=1) for group in hypothesis.alphabet.groups]
        missing = np.zeros((len(entries), len(worst)))
        entries = np.column_stack([entries, missing, *worst])
    factors = np.log1p(sizes[:, :, None] * (entries - means[:, None])[:, None, :])
    factors[np.broadcast_to(entries[:, None, :] == 0.0, factors.shape)] = 0.0
    weights = np.tile(aims.log_weights - math.log(tables), tables)
    return Evidence(
        np.broadcast_to(weights, (rows, len(weights))),
        factors.reshape(rows, len(weights), entries.shape[1]),
    )


def _from_relevant(
    hypothesis: Hypothesis, aims: Aims, examples: int, relevant: int, log_target: float
) -> Evidence:
    least, most = hypothesis.scores[0], hypothesis.scores[-1]
    planned = hypothesis
    if hypothesis.aimed_at is not None:
        planned = replace(hypothesis, bound=hypothesis.aimed_at)
    cases = disagreement_cases(planned, aims, examples, relevant, log_target)
    means, aimed_means = (_means(one, cases) for one in (hypothesis, planned))
    # If even the least score is above m, the case contradicts the hypothesis.
    kept = means > least
    if not kept.any():
        return _infinite_evidence(hypothesis, aims)
    scale = 1.0 / np.maximum(cases.at[kept], 1e-300)
    chosen = None
    if planned is not hypothesis:
        chosen = np.maximum(aimed_means[kept], least + LEAST_GROUND * (most - least))
    return _evidence_of_bets(hypothesis, aims, means[kept], scale, cases.log_start[kept], chosen)


def _means(hypothesis: Hypothesis, cases: DisagreementCases) -> Floats:
    """The largest mean score of the examples that count, in each case."""
    least, most = hypothesis.scores[0], hypothesis.scores[-1]
    with np.errstate(divide="ignore"):
        means = np.where(cases.at > 0.0, hypothesis.bound / cases.at, math.inf)
    return np.asarray(np.minimum(means + MARGIN * (most - least), most))


@dataclass(frozen=True)
class DisagreementCases:
    """The intervals that d may be in: ``at`` is the hard end of each, ``log_start`` its ln e(D).

    Each bet has its own start: ``log_start`` has the shape (intervals, bets).
    """

    at: Floats
    log_start: Floats


def disagreement_cases(
    hypothesis: Hypothesis, aims: Aims, examples: int, differing: int, log_target: float
) -> DisagreementCases:
    """The intervals of d that matter, with their e-values.

    The partition depends on the number of examples alone, and so does the e-value as a function of
    D. Neighbours far from D/N share bets that are fair for the hardest of them, and start at the
    least of their starts; given the pattern of disagreement, bets may be chosen freely. Intervals
    whose start is above the target are already excluded and are left out.
    """
    if hypothesis.bound == 0.0:
        seen = max(differing, 1) / max(examples, 1)
        return DisagreementCases(np.array([seen]), np.zeros((1, len(aims.multiples))))
    upwards = hypothesis.bound > 0.0
    # A slice is empty if all of its examples are in the public sample.
    width = RESOLUTION / (2.0 * math.sqrt(min(max(examples, 1), FINEST)))
    edges = np.arange(math.ceil(math.pi / 2.0 / width) + 1) * width
    shares = np.sin(np.minimum(edges, math.pi / 2.0)) ** 2
    hard, easy = (shares[:-1], shares[1:]) if upwards else (shares[1:], shares[:-1])
    slopes = expected_slopes(hypothesis, aims, examples, hard, log_target)
    log_start = log_start_values(examples, differing, easy, slopes, 1.0 if upwards else -1.0)
    centre = int(math.asin(math.sqrt(differing / max(examples, 1))) / width)
    groups = _groups(centre, len(hard))
    hardest = (np.minimum if upwards else np.maximum).reduceat(hard, groups)
    start = np.minimum.reduceat(log_start, groups, axis=0)
    open_cases = start.min(axis=1) < log_target + 1.0
    return DisagreementCases(hardest[open_cases], start[open_cases])


def _groups(centre: int, intervals: int) -> npt.NDArray[np.intp]:
    """The first interval of each group: groups get wider with the distance from the centre."""
    fine = round(4.0 / RESOLUTION)
    steps = np.concatenate(
        [np.arange(fine), fine + 4 * np.arange(fine), 5 * fine + 16 * np.arange(fine)]
    )
    starts = np.unique(np.concatenate([[0], centre - steps, centre + steps]))
    return starts[(starts >= 0) & (starts < intervals)].astype(np.intp)


def expected_slopes(
    hypothesis: Hypothesis, aims: Aims, examples: int, share: Floats, log_target: float
) -> Floats:
    """How fast a bet at its target falls as d moves away, in nats per standard deviation of D/N.

    A bet λ aimed k·ε beyond c grows by about λ·k·ε/(2d) a label, so it needs 2·L·d/(λ·k·ε) of them
    to reach L, and a relative change of d by 1 moves the hypothesis by c/d: 2·L·c/(k·ε) nats.
    """
    relative = np.sqrt((1.0 - share) / np.maximum(share * examples, 0.25))
    reach = np.array(aims.multiples) * hypothesis.tolerance
    slopes = 2.0 * log_target * abs(hypothesis.bound) / reach[None, :] * relative[:, None]
    return np.asarray(np.minimum(slopes, FAR_TILT))


def log_start_values(
    examples: int, differing: int, share: Floats, slopes: Floats, sign: float
) -> Floats:
    """ln e(D), valid for all d ≤ ``share`` (sign 1) or for all d ≥ ``share`` (sign −1)."""
    deviation = np.sqrt(np.maximum(share * (1.0 - share) * examples, 1.0))[:, None]
    tilts = [(weight, tilt * slopes) for weight, tilt in zip(TILT_WEIGHTS, TILTS, strict=True)]
    far = np.full(slopes.shape, FAR_TILT)
    total = np.full(slopes.shape, math.log(NO_TILT))
    for weight, tilt in [*tilts, (FAR_WEIGHT, far)]:
        theta = sign * tilt / deviation
        log_mean = examples * np.log1p(share[:, None] * np.expm1(theta))
        total = np.logaddexp(total, math.log(weight) + theta * differing - log_mean)
    return total


def _evidence_of_bets(
    hypothesis: Hypothesis,
    aims: Aims,
    means: Floats,
    scale: Floats,
    log_start: Floats,
    aimed_means: Floats | None = None,
) -> Evidence:
    """Bets against "the mean is at most ``means``", chosen for ``aimed_means`` if these are given.

    A bet that is too large for its mean is cut down to a fixed share of the largest possible. So
    every factor falls as the mean grows.
    """
    scores = hypothesis.scores
    spread = 1.0 if len(scores) == 2 else hypothesis.spread
    ends = (scores[0], scores[-1])
    step = hypothesis.tolerance * scale
    if aimed_means is None:
        sizes = aimed(means, step, aims, ends, spread)
    else:
        sizes = aimed(aimed_means, step, aims, ends, spread)
        sizes = np.minimum(sizes, LARGEST_BET / (means - ends[0])[:, None])
    factors = np.zeros((*sizes.shape, hypothesis.alphabet.outcomes))
    if hypothesis.graded:  # thousands of outcomes, and all at once is quicker
        chosen = list(hypothesis.relevant)
        entries = np.array([float(hypothesis.entry(outcome)) for outcome in chosen])
        gains = sizes[:, :, None] * (entries[None, :] - means[:, None])[:, None, :]
        factors[:, :, chosen] = np.log1p(gains)
        return Evidence(aims.log_weights[None, :] + log_start, factors)
    for outcome in hypothesis.relevant:
        factors[:, :, outcome] = log_factors(sizes, means, float(hypothesis.entry(outcome)))
    return Evidence(aims.log_weights[None, :] + log_start, factors)


def _infinite_evidence(hypothesis: Hypothesis, aims: Aims) -> Evidence:
    bets = len(aims.multiples)
    return Evidence(np.zeros((0, bets)), np.zeros((0, bets, hypothesis.alphabet.outcomes)))
