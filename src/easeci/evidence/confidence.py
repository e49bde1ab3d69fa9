"""Confidence sequences: where the mean of a score lies, at every label at once.

A table gives each outcome of an example its score. The scores along the order are i.i.d. with mean
Φ. Against "Φ ≤ m" the wealth of bets λ is

    W(m) = Σ_j w_j Π_i (1 + λ_j (s_i − m)),      Σ w = 1, a bet only where λ_j (m − least s) < 1

*Claim.* With probability at least 1 − α, at every label at once, Φ is above every m with
W(m) ≥ 1/α. Sides: one; the upper limit is the same on −s, so an interval of error 2α has α a side.

*Proof.* At m = Φ each bet is a non-negative martingale that starts at its weight, or is left out,
so W(Φ) ever reaches 1/α with probability at most α (Ville). The bets do not depend on m, so every
factor falls as m grows, and a bet that is left out has wealth 0 from there on: W falls in m. So if
Φ is not rejected, no m ≥ Φ is, and the limit is below Φ. "At every label" includes the label at
which a verdict stopped, whatever made it stop there. ∎

*Scores that are known without a label* are all there: no walk is needed, and the limits of d are
exact. *Scores that are 0 where the models agree* need labels only where they differ. There are two
ways to use that, each at half of the level, and the interval is what both leave:

* **Zeros count.** Every example before the next label that is asked for has a known score: those
  without a label score 0.
* **The share is known.** Given the pattern of disagreement, the scores of the D differing examples
  are i.i.d. with mean μ = Φ/d, and d has exact binomial limits from all N examples, at a fifth of
  this half. Φ = d·μ: for μ > 0 the lower limit of μ goes with the lower limit of d, else with the
  upper one, so for the true μ only one end of d matters.

The first is better when most labels are there, the second when few are and the gain is a large part
of d. Unsettled labels count at their lowest score for the lower limit and at their highest for the
upper one. That only widens the interval (:mod:`easeci.evidence.codes` has the argument).

**Ratios of means.** The ratio of the means of x and y ≥ 0 is at most m if the mean of x − m·y is at
most 0. So the factors are 1 + λ_j (x_i − m·y_i), which also fall as m grows, and everything above
holds as it stands. Where x and y are 0 the factor is 1: how many such examples there are does not
matter. An unsettled label counts, at every m, at the least of x − m·y that its group allows.

**Differences, products and ranks** of what has its own interval combine those intervals: they hold
together, so the result holds whenever all of them do.

Rounding: limits are rounded outwards. Source: Waudby-Smith and Ramdas (2023), with fixed bets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from easeci.bounds import binomial
from easeci.evidence.bets import Floats
from easeci.evidence.wealth import ROUNDING
from easeci.script.score import LARGEST

BOLDEST = 4.0
"""The largest bet, as a multiple of 1 / (range of the scores). It counts only for small m."""
SPACING = 2.0
"""Each bet is this much smaller than the one before; the least suits a walk to the end."""
SHARE_FOR_DISAGREEMENT = 0.2
"""The part of the second way's level that goes to the limits of d."""
PARTS = 8
"""Into how many parts a search cuts the interval that holds a limit."""
MOST_VALUES = 512
"""With more different scores, limits are computed from fewer, rounded to their disadvantage."""
MARGIN = 1e-12
"""Limits are moved outwards by this share of the score's range: more than any rounding error."""


@dataclass(frozen=True)
class Table:
    """The score of each outcome, and whether a label is needed to know that it is this outcome.

    Where no label is needed the score must be 0. If none is needed at all, the scores are 0 and one
    other value. ``per`` are the denominators of a ratio; None for a mean. ``unsettled`` has, for a
    ratio, the outcomes that each group of unsettled labels may have: counts of these come behind
    those of the outcomes.
    """

    scores: tuple[float, ...]
    needs_label: tuple[bool, ...]
    per: tuple[float, ...] | None = None
    unsettled: tuple[tuple[int, ...], ...] = ()

    def __neg__(self) -> Table:
        return replace(self, scores=tuple(-score for score in self.scores))


@dataclass(frozen=True)
class Walked:
    """What a walk has seen after each of some numbers of labels; each array has a row for each.

    ``lowest`` and ``highest`` count the outcomes of the labels that were used, unsettled ones at
    their lowest or highest score. ``zeros`` is the number of examples that need no label and come
    before the first label that was not used. ``examples`` is the size of the testset, ``relevant``
    the number of its examples that need a label.
    """

    table: Table
    lowest: Floats
    highest: Floats
    zeros: Floats
    examples: int
    relevant: int

    def limits(self, log_side: float) -> tuple[Floats, Floats]:
        """Lower and upper limits, each side with an error of at most exp(``log_side``).

        The error is for all rows together.
        """
        low = self._lower(self.table, self.lowest, log_side)
        high = -self._lower(-self.table, self.highest, log_side)
        # The two ways may contradict each other, as improbable as that is.
        return low, np.maximum(low, high)

    def _lower(self, table: Table, counts: Floats, log_side: float) -> Floats:
        if table.per is not None:
            return ratio_limits(table, counts, log_side, self.examples)
        scores = np.array(table.scores)
        if all(table.needs_label):
            return mean_limits(scores, counts, log_side, self.examples)
        if not any(table.needs_label):
            return self._known_without_labels(scores, log_side)
        half = log_side - math.log(2.0)
        labelled = np.flatnonzero(table.needs_label)
        counts, scores = counts[:, labelled], scores[labelled]
        with_zeros = np.column_stack([counts, self.zeros])
        first = mean_limits(np.append(scores, 0.0), with_zeros, half, self.examples)
        share = SHARE_FOR_DISAGREEMENT
        mean = mean_limits(scores, counts, half + math.log1p(-share), max(self.relevant, 1))
        least, most = share_limits(self.relevant, self.examples, half + math.log(share))
        return np.maximum(first, np.where(mean > 0.0, mean * least, mean * most))

    def _known_without_labels(self, scores: Floats, log_side: float) -> Floats:
        """For scores e·d: ``relevant`` examples differ, and score e."""
        factor = float(scores[np.abs(scores).argmax()])
        least, most = share_limits(self.relevant, self.examples, log_side)
        return np.full(len(self.zeros), factor * (least if factor > 0.0 else most))


@dataclass(frozen=True)
class Seen:
    """One row of :class:`Walked` in plain numbers, and the level: all that an interval depends on.

    Most intervals are never asked for, so the limits are computed when they are.
    """

    table: Table
    lowest: tuple[int, ...]
    highest: tuple[int, ...]
    zeros: int
    examples: int
    relevant: int
    log_side: float

    @property
    def error(self) -> float:
        """The interval misses Φ at some label of its walk with at most this probability."""
        return 2.0 * math.exp(self.log_side)

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The lower and the upper limit."""
        rows = [np.array([counts], np.float64) for counts in (self.lowest, self.highest)]
        zeros = np.array([self.zeros], np.float64)
        walked = Walked(self.table, rows[0], rows[1], zeros, self.examples, self.relevant)
        low, high = walked.limits(self.log_side)
        return float(low[0]), float(high[0])


@dataclass(frozen=True)
class SeenDifference:
    """An interval for the difference of two scores, from one for each."""

    first: Seen
    second: Seen

    @property
    def error(self) -> float:
        """The interval misses the difference with at most this probability."""
        return self.first.error + self.second.error

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The lower and the upper limit."""
        (low, high), (least, most) = self.first.interval, self.second.interval
        return low - most, high - least


@dataclass(frozen=True)
class SeenQuotient:
    """An interval for a mean divided by a share, from an interval for each; ``share`` is above 0.

    That the share is in its interval has been paid for elsewhere.
    """

    mean: Seen
    share: tuple[float, float]
    reach: tuple[float, float]

    @property
    def error(self) -> float:
        """The interval misses the quotient with at most this probability."""
        return self.mean.error

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The lower and the upper limit."""
        low, high = self.mean.interval
        least, most = (max(end, 1e-12) for end in self.share)
        return (
            max(low / (most if low > 0.0 else least), self.reach[0]),
            min(high / (least if high > 0.0 else most), self.reach[1]),
        )


@dataclass(frozen=True)
class SeenRank:
    """An interval for the value of a rank (from 1, rising) among several, from one for each."""

    each: tuple[Seen, ...]
    rank: int

    @property
    def error(self) -> float:
        """The interval misses the value with at most this probability."""
        return math.fsum(seen.error for seen in self.each)

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The lower and the upper limit."""
        lows, highs = zip(*(seen.interval for seen in self.each), strict=True)
        return sorted(lows)[self.rank - 1], sorted(highs)[self.rank - 1]


Shown = Seen | SeenDifference | SeenQuotient | SeenRank
"""What was shown of a score, as an interval that is computed when it is asked for."""


@lru_cache(maxsize=64)
def share_limits(count: int, examples: int, log_alpha: float) -> tuple[float, float]:
    """Exact limits of a probability, each with this error (Clopper and Pearson)."""
    if not examples:
        return 0.0, 1.0
    return (
        binomial.lower_limit(count, examples, log_alpha),
        binomial.upper_limit(count, examples, log_alpha),
    )


def mean_limits(scores: Floats, counts: Floats, log_alpha: float, longest: int) -> Floats:
    """Lower limits of the mean of a table, after each row of counts, at all rows at once.

    The error is at most exp(``log_alpha``) for the rows together if they are moments of one walk.
    ``longest`` is the most examples that the walk can have; it only chooses the bets.
    """
    least, most = float(scores.min()), float(scores.max())
    span = most - least
    if span == 0.0:
        return np.full(len(counts), least)
    scores, counts = _fewer_values(scores, counts)
    sizes = _bet_sizes(log_alpha, longest) / span
    target = -log_alpha + ROUNDING + math.log(len(sizes))
    # Each round cuts the interval that holds the limit into equal parts.
    parts = 64 if len(counts) == 1 else 8
    low, width = np.full(len(counts), least), np.full(len(counts), span)
    grid = np.arange(parts) / parts
    while width[0] > MARGIN * span:
        means = low[:, None] + width[:, None] * grid
        rejected = _log_wealth(scores - least, counts, sizes, means - least) >= target
        # Wealth falls with m, so the rejected ones come first.
        last = np.maximum(rejected.sum(axis=1) - 1, 0)
        low, width = means[np.arange(len(low)), last], width / parts
    return np.maximum(low - MARGIN * span, least)


def _fewer_values(scores: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """The same table, or one with at most ``MOST_VALUES`` scores, none of them larger than before.

    Neighbouring scores that occur are taken together at the least of them. Every wealth on lower
    scores is at most the wealth on the true ones, so the limits stay valid, whatever is taken
    together.
    """
    occurring = np.flatnonzero(counts.any(axis=0))
    if len(occurring) <= MOST_VALUES:
        return scores, counts
    rising = occurring[np.argsort(scores[occurring], kind="stable")]
    places = np.linspace(scores[rising[0]], scores[rising[-1]], MOST_VALUES + 1)[:-1]
    starts = np.unique(np.searchsorted(scores[rising], places))
    return scores[rising][starts], np.add.reduceat(counts[:, rising], starts, axis=1)


WIDEST = 64.0
"""Limits of a ratio that can be infinite are looked for up to here."""


def ratio_limits(table: Table, counts: Floats, log_alpha: float, longest: int) -> Floats:
    """Lower limits of a ratio of means, after each row of counts; like :func:`mean_limits`."""
    assert table.per is not None
    above, below = np.array(table.scores), np.array(table.per)
    values = [x / y for x, y in zip(above, below, strict=True) if y > 0.0]
    least, most = min(values, default=0.0), max(values, default=0.0)
    beyond = above[below == 0.0]
    open_below, open_above = bool((beyond < 0.0).any()), bool((beyond > 0.0).any())
    first, last = (-WIDEST if open_below else least), (WIDEST if open_above else most)
    if first == last:
        return np.full(len(counts), first)
    columns = [(o,) for o in range(len(above))] + list(table.unsettled)
    used = [c for c in range(len(columns)) if counts[:, c].any()]
    sizes = _bet_sizes(log_alpha, longest) / max(float(np.ptp(above)), float(below.max()))
    target = -log_alpha + ROUNDING + math.log(len(sizes))

    def log_wealth(means: Floats) -> Floats:
        total = np.zeros((*means.shape, len(sizes)))
        worst = np.min([x - means * y for x, y in zip(above, below, strict=True)], axis=0)
        allowed = sizes * worst[..., None] > -1.0
        for column in used:
            entries = np.min([above[o] - means * below[o] for o in columns[column]], axis=0)
            gain = np.where(allowed, sizes * entries[..., None], 0.0)
            total += counts[:, column, None, None] * np.log1p(gain)
        total = np.where(allowed, total, -np.inf)
        top = np.maximum(total.max(axis=-1, keepdims=True), -1e300)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.exp(total - top).sum(axis=-1)) + top[..., 0])

    low, width = np.full(len(counts), first), np.full(len(counts), last - first)
    grid = np.arange(PARTS) / PARTS
    never = log_wealth(low[:, None])[:, 0] < target
    while width[0] > MARGIN * (last - first):
        means = low[:, None] + width[:, None] * grid
        rejected = log_wealth(means) >= target
        chosen = np.maximum(rejected.sum(axis=1) - 1, 0)
        low, width = means[np.arange(len(low)), chosen], width / PARTS
    limits = np.maximum(low - MARGIN * (last - first), first)
    return np.where(never, -float(LARGEST) if open_below else least, limits)


def _bet_sizes(log_alpha: float, longest: int) -> Floats:
    """Bets for scores of range 1, from the boldest to the one for the longest walk."""
    smallest = math.sqrt(8.0 * -log_alpha / max(longest, 1))
    steps = max(math.ceil(math.log(BOLDEST / smallest, SPACING)), 0)
    return np.asarray(BOLDEST * SPACING ** -np.arange(steps + 1.0))


def _log_wealth(above: Floats, counts: Floats, sizes: Floats, means: Floats) -> Floats:
    """ln Σ_j Π (1 + λ_j (s − m)) for each moment and each mean, both above the least score."""
    risk = sizes[None, None, :] * means[:, :, None]
    allowed = risk < 1.0
    total = np.zeros(risk.shape)
    for outcome in np.flatnonzero(counts.any(axis=0)):
        gain = np.where(allowed, sizes * above[outcome] - risk, 0.0)
        total += counts[:, outcome, None, None] * np.log1p(gain)
    total = np.where(allowed, total, -np.inf)
    top = np.maximum(total.max(axis=2, keepdims=True), -1e300)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(total - top).sum(axis=2)) + top[:, :, 0])
