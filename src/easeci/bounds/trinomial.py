"""Exact tests for a paired difference, ``n − o``: a score of −1, 0 or +1 per example.

The score's mean is Φ. The other unknown is q = P(score ≠ 0): at least |Φ|, and at most the share of
examples on which the two models differ (less, if both are wrong on some). The statistic is the sum
S of the scores. Every probability here is the supremum over q, computed and not guessed.

``contract_sample_size`` and ``cutoff``   when q is known to be at most ``largest_difference``;
``lower_limit``                           for Φ, with the same knowledge;
``lower_limit_free``                      with no such knowledge: q is bounded from the same data.

For upper limits, negate the scores: the total, or the counts by ``mirrored``.
Probabilities are natural logarithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from easeci.bounds import binomial
from easeci.bounds.arrays import BoolArray, FloatArray, IntArray
from easeci.bounds.bennett import Bennett
from easeci.bounds.bound import require_level
from easeci.bounds.contract import contract_target
from easeci.bounds.hoeffding import Hoeffding
from easeci.bounds.lattice import LatticeWalk, log_envelope, log_tail, tail_between
from easeci.bounds.search import excess, first_lasting, last_within

SUPREMUM_SLACK = 1e-8
"""How far, relative to it, a supremum over q may be overstated."""

BERGER_BOOS_SHARE = 0.05
"""The share of the level that pays for the confidence set for q. Near the best for levels of 1e-3
to 1e-15 and some thousand differing examples: 0.1 or 0.01 would change the limits very little."""


@dataclass(frozen=True)
class PairedCounts:
    """Of ``sample_size`` examples, on how many the score was +1 and on how many −1."""

    gains: int
    losses: int
    sample_size: int

    def __post_init__(self) -> None:
        if min(self.gains, self.losses) < 0 or self.changed > self.sample_size:
            raise ValueError(f"no such counts: {self}")

    @property
    def total(self) -> int:
        """The sum S of the scores."""
        return self.gains - self.losses

    @property
    def changed(self) -> int:
        """The number of scores that are not 0."""
        return self.gains + self.losses

    def mirrored(self) -> PairedCounts:
        """The counts of the scores with the opposite sign."""
        return PairedCounts(self.losses, self.gains, self.sample_size)


# --- tails -------------------------------------------------------------------------------------


def tail(sample_size: int, total: int, mean: float, nonzero: float) -> float:
    """ln P(S >= total) for N independent scores with this mean and this P(score ≠ 0).

    Exact. Sides: one. Rounding: none but the arithmetic's, about 1e-11 of the probability.
    Source: inversion of the generating function, see :mod:`easeci.bounds.lattice`.
    """
    if not abs(mean) <= nonzero <= 1.0:
        raise ValueError(f"need |mean| <= P(score ≠ 0) <= 1, got {mean} and {nonzero}")
    return float(log_tail(_walks(sample_size, total, mean), np.array([nonzero]))[0])


def worst_tail(sample_size: int, total: int, mean: float, largest_difference: float) -> float:
    """ln sup P(S >= total) over all laws of the score with Φ <= mean and q <= the largest.

    Claim: an upper bound of that supremum, larger by at most ``SUPREMUM_SLACK`` of it; but 0
    (that is, 1) for totals up to N·mean, where the supremum is at least one half.
    Assumptions: independent scores in {−1, 0, +1}.
    Sides: one; for P(S <= total) use −total and −mean. Rounding: up.
    Source: own proof, as follows.

    Smaller means are dominated: at the same q, or at q = mean > 0 where q is less. At the mean
    itself, the derivative in q is N/2 · [f(k−1) − f(k)], f the probabilities of the sum of N−1
    scores. While q <= (1 + Φ²)/2 the generating function of the score has real roots, f is that
    of a sum of independent Bernoulli variables, and its mode is next to its mean (J. Darroch,
    1964): for k > ⌈(N−1)Φ⌉ the tail grows with q. Beyond, the range of q is cut into cells on
    which the slope at both ends and a bound on the curvature either prove the tail monotone or
    bound it; cells that might exceed the best value found are split.
    """
    require_difference(largest_difference)
    if not -largest_difference <= mean <= 1.0:
        raise ValueError(f"no score has a mean of at most {mean}")
    walk = _walks(sample_size, total, mean)
    return float(_worst(walk, largest_difference)[0])


def _walks(sample_size: npt.ArrayLike, total: npt.ArrayLike, mean: float) -> LatticeWalk:
    n, k = np.atleast_1d(np.asarray(sample_size, float), np.asarray(total, float))
    n, k = np.broadcast_arrays(n, k)
    return LatticeWalk(n, k, np.full(n.shape, mean))


def _worst(walk: LatticeWalk, largest: float, level: float | None = None) -> FloatArray:
    """``worst_tail`` for several sample sizes and totals at one mean.

    With a ``level``, the result only tells on which side of it the supremum lies: that is cheaper.
    """
    n, k, mean = walk
    phi = float(mean[0]) if mean.size else 0.0
    if phi >= largest:
        # The hypothesis excludes nothing; the sum is largest if all non-zero scores are +1.
        return binomial.log_sf(k - 1.0, n, largest)
    result = np.where(k > n, -np.inf, 0.0)
    asked = (k > n * phi) & (k <= n)
    real_rooted = max(abs(phi), min(largest, _real_rooted(phi)))
    rises = k > np.ceil((n - 1.0) * phi)
    easy = asked & ((rises & (largest <= real_rooted)) | (k == n))
    result[easy] = log_tail(
        LatticeWalk(n[easy], k[easy], mean[easy]), np.full(int(easy.sum()), largest)
    )
    for start, group in ((real_rooted, rises), (abs(phi), ~rises)):
        hard = asked & ~easy & group
        if hard.any():
            result[hard] = _search(LatticeWalk(n[hard], k[hard], mean[hard]), start, largest, level)
    return result


def _real_rooted(mean: float) -> float:
    """The q up to which the generating function of a score with this mean has real roots."""
    return (1.0 + mean * mean) / 2.0


_PARTS = 8
"""How many parts a cell is split into: few rounds of many cells are cheaper than the reverse."""


def _search(walk: LatticeWalk, lowest: float, highest: float, level: float | None) -> FloatArray:
    """ln sup of the tail over q in [lowest, highest], by cells that are split where needed."""
    first_cells = max(1, math.ceil((highest - lowest) * 16.0))
    edges = np.linspace(lowest, highest, first_cells + 1)
    count = walk.total.size
    owner = np.repeat(np.arange(count), first_cells)
    low, high = np.tile(edges[:-1], count), np.tile(edges[1:], count)
    best = np.maximum(*(log_tail(walk, np.full(count, q)) for q in (lowest, highest)))
    finished = best.copy()
    for _ in range(60):
        at_ends, most = _cell_bounds(LatticeWalk(*(values[owner] for values in walk)), low, high)
        np.maximum.at(best, owner, at_ends)
        target = best + SUPREMUM_SLACK
        if level is not None:
            target = np.where(best > level, np.inf, np.maximum(target, level))
        done = most <= target[owner]
        np.maximum.at(finished, owner[done], most[done])
        owner, most, low, high = owner[~done], most[~done], low[~done], high[~done]
        if not owner.size:
            break
        edges = low + np.linspace(0.0, 1.0, _PARTS + 1)[:, None] * (high - low)
        owner, low, high = np.tile(owner, _PARTS), edges[:-1].ravel(), edges[1:].ravel()
    np.maximum.at(finished, owner[: most.size], most)
    return np.minimum(np.maximum(finished, best), 0.0)


def _cell_bounds(
    walk: LatticeWalk, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """ln of the larger tail at the ends of each cell, and of a bound on all tails inside it."""
    cell = tail_between(walk, low, high)
    width = high - low
    ends = np.maximum(np.maximum(cell.at_low, cell.at_high), 0.0)
    # The slope is at least each end's less the curvature times the distance from that end.
    monotone = np.abs(cell.slope_low + cell.slope_high) >= width * cell.curvature
    inside = ends + np.where(monotone, 0.0, width**2 * cell.curvature / 8.0)
    with np.errstate(divide="ignore"):
        return np.log(ends) + cell.log_scale, np.log(inside) + cell.log_scale


# --- the contract form -------------------------------------------------------------------------


def cutoff(sample_size: int, threshold: float, largest_difference: float, log_alpha: float) -> int:
    """The smallest k with sup P(S >= k | Φ <= threshold, q <= largest) <= alpha, or N + 1.

    Claim: passing when S >= k is wrong with probability at most alpha.
    Assumptions and source as for ``worst_tail``. Sides: one. Rounding: up.
    """
    require_level(log_alpha)
    require_difference(largest_difference)
    if not -largest_difference <= threshold < largest_difference:
        raise ValueError(f"the threshold {threshold} is out of reach of the score's mean")
    n = np.array([sample_size], dtype=np.int64)
    guess = np.array([math.ceil(sample_size * threshold) + 1], dtype=np.int64)
    return int(_cutoffs(n, threshold, largest_difference, log_alpha, guess)[0])


def contract_sample_size(
    threshold: float,
    tolerance: float,
    largest_difference: float,
    log_alpha: float,
    log_beta: float,
) -> int:
    """The smallest N such that every N' >= N has a cut-off k that keeps both promises.

    Claim: P(S >= k) <= alpha if Φ <= threshold, and P(S < k) <= beta if
    Φ >= threshold + 2·tolerance, whatever q <= ``largest_difference`` is.
    Assumptions: independent scores in {−1, 0, +1}; threshold + 2·tolerance within reach.
    Sides: safety needs the upper tail at the threshold, sensitivity the lower tail beyond it.
    Rounding: up. Source: the exact test, with the supremum of ``worst_tail``.

    How "every" is certified: a share x such that ``log_envelope`` bounds P(S >= xN') by alpha
    and P(S < xN') by beta for all N' >= N, so that k = ⌈xN'⌉ keeps both promises. Below the
    smallest such N, which is too large by a few parts in a thousand, spans of N are checked
    (``_Span``) if the largest q is the worst, and otherwise each N.
    """
    require_level(log_alpha)
    require_level(log_beta)
    require_difference(largest_difference)
    target = contract_target(threshold, tolerance, -largest_difference, largest_difference)

    def above(size: float) -> float:
        missed = _certain_miss(size, threshold, target, largest_difference, log_alpha)
        return missed - log_beta

    high = float(Hoeffding(2.0).sample_size(tolerance, min(log_alpha, log_beta)))
    while above(high) > 0.0:
        high *= 2.0
    # Bennett's bound is never far above what is needed, so the search begins there.
    low = Bennett(largest_difference, sides=1).sample_size(tolerance, max(log_alpha, log_beta)) / 2
    if above(2.0 * low) <= 0.0:
        high = min(high, 2.0 * low)
    # All sizes below are checked anyhow: a few more cost less than a more precise search.
    certified = math.ceil(last_within(above, high, low if above(low) > 0.0 else 1.0, slack=0.01))
    start = cutoff(certified, threshold, largest_difference, log_alpha)

    def cutoffs(sizes: IntArray) -> IntArray:
        # The cut-off is beyond the mean by about a fixed number of standard deviations.
        beyond = (start - threshold * certified) * np.sqrt(sizes / certified)
        guess = np.rint(threshold * sizes + beyond).astype(np.int64)
        return _cutoffs(sizes, threshold, largest_difference, log_alpha, guess)

    def qualify(lows: IntArray, highs: IntArray) -> BoolArray:
        if np.array_equal(lows, highs):
            k = cutoffs(lows)
            missed = _worst(_walks(lows, 1 - k, -target), largest_difference, log_beta)
            return np.asarray(missed <= log_beta)
        k = np.maximum(cutoffs(lows), cutoffs(highs))
        span = _Span(lows, highs, largest_difference)
        return span.stays_below(k, threshold, log_alpha) & span.stays_below(
            1 - k, -target, log_beta
        )

    worst_is_largest = largest_difference <= _real_rooted(min(abs(threshold), abs(target)))
    return first_lasting(certified, qualify, chunk=64, widest=None if worst_is_largest else 1)


@dataclass(frozen=True)
class _Span:
    """Sample sizes from ``lows`` to ``highs``, and the largest q, where the roots are real.

    How P(S >= k) moves with N for a fixed k >= 1. One more score changes it by u·f(k−1) − d·f(k),
    with u and d the probabilities of +1 and −1 and f those of the sum of N scores. As f is
    log-concave and f(−j) = (d/u)^j f(j), the ratio f(k)/f(k−1) is at most √(u/d): for Φ >= 0 the
    tail rises with N. For Φ < 0 it rises up to some N and then falls, as f(k)/f(k−1) rises with N:
    written out, that is D(k−1) >= D(k) for D(j) = g(j)² − g(j−1) g(j+1), where g is f without its
    drift, symmetric about 0; and D is log-concave like g (P. Brändén, Iterated sequences and the
    geometry of zeros, 2011). For k <= 0 it is the complement, of −S: there it falls for Φ <= 0,
    and for Φ > 0 falls and then rises.
    """

    lows: IntArray
    highs: IntArray
    largest: float

    def stays_below(self, total: IntArray, mean: float, level: float) -> BoolArray:
        """Whether sup P(S >= total) is certain to be at most the level for all sizes of a span."""
        at_low, at_high = self._tails(self.lows, total, mean), self._tails(self.highs, total, mean)
        # The tail's accuracy limits how well we can tell whether it rises.
        doubt = (self.highs - self.lows) * (1e-10 + 1e-15 * self.highs)
        fits = np.maximum(at_low, at_high) + doubt <= level
        fits &= self._largest_is_worst(total, mean)
        if mean < 0.0:
            falls = self._tails(self.lows + 1, total, mean) <= at_low
            rises = self._tails(self.highs - 1, total, mean) <= at_high
            fits &= (total <= 0) | falls | rises
        return np.asarray(fits)

    def _tails(self, sizes: IntArray, total: IntArray, mean: float) -> FloatArray:
        return log_tail(_walks(sizes, total, mean), np.full(sizes.shape, self.largest))

    def _largest_is_worst(self, total: IntArray, mean: float) -> BoolArray:
        """As in ``worst_tail``, at every size between the two ends since it is so at both."""
        ends = (np.ceil((sizes - 1.0) * mean) for sizes in (self.lows, self.highs))
        return np.asarray(total > np.maximum(*ends))


def _cutoffs(
    sizes: IntArray, threshold: float, largest: float, log_alpha: float, guess: IntArray
) -> IntArray:
    """The cut-offs, by galloping from a guess and then bisecting."""

    def safe_at_largest(k: IntArray) -> BoolArray:
        walk = _walks(sizes, k, threshold)
        return np.asarray(log_tail(walk, np.full(k.shape, largest)) <= log_alpha)

    low, high, step = guess, guess.copy(), 1
    while not (good := safe_at_largest(high)).all():
        high, step = np.where(good, high, np.minimum(high + step, sizes + 1)), 2 * step
    step = 1
    while (good := safe_at_largest(low)).any():
        low, step = np.where(good, low - step, low), 2 * step
    while np.any(high - low > 1):
        middle = (low + high) // 2
        good = safe_at_largest(middle)
        high, low = np.where(good, middle, high), np.where(good, low, middle)
    # These can only be too small, because no single q is worse than the worst.
    open_ = np.arange(sizes.size)
    while open_.size:
        worst = _worst(_walks(sizes[open_], high[open_], threshold), largest, log_alpha)
        open_ = open_[worst > log_alpha]
        high[open_] += 1
    return high


def _certain_miss(
    n: float, threshold: float, target: float, largest: float, log_alpha: float
) -> float:
    """ln of a bound on the probability of a miss at every size from n on; 0 if there is none.

    One share is the cut-off at all these sizes; its upper tail at the threshold is at most alpha.
    """

    def upper(share: float, mean: float) -> float:
        # At least 2 away from the mean, the tail grows with q as long as the roots are real.
        if n * (share - mean) < 2.0:
            return 0.0
        lowest = max(abs(mean), min(largest, _real_rooted(mean)))
        return log_envelope(n, share, mean, lowest, largest)

    highest = target - 2.0 / n
    if highest <= threshold or upper(highest, threshold) > log_alpha:
        return 0.0
    share = last_within(
        lambda x: excess(upper(x, threshold), log_alpha), highest, threshold, slack=1e-5
    )
    return upper(-share, -target)


# --- limits for Φ from what was observed -------------------------------------------------------


def lower_limit(total: int, sample_size: int, largest_difference: float, log_alpha: float) -> float:
    """Φ is at least this, except with probability alpha, if q <= ``largest_difference``.

    Claim: for every Φ and q <= the largest, P(lower_limit(S) > Φ) <= alpha; it is the largest c
    with sup P(S >= total | Φ <= c) <= alpha, within [−largest, largest].
    Assumptions: independent scores in {−1, 0, +1}, and the bound on q.
    Sides: one. Rounding: down. Source: test inversion; supremum as in ``worst_tail``.
    """
    require_level(log_alpha)
    require_difference(largest_difference)
    if not -sample_size <= total <= sample_size:
        raise ValueError(f"no sum of {sample_size} scores is {total}")

    def above(c: float) -> float:
        # If the tail at the largest q exceeds alpha, so does the supremum. It must be computed only
        # if that tail is small enough and the largest q is not certainly the worst.
        found = tail(sample_size, total, c, largest_difference)
        sure = largest_difference <= _real_rooted(c) and total > math.ceil((sample_size - 1) * c)
        if found <= log_alpha and not sure:
            found = worst_tail(sample_size, total, c, largest_difference)
        return excess(found, log_alpha)

    share = total / sample_size
    # By Hoeffding's inequality no limit is further from the observed share.
    inside = share - Hoeffding(2.0, sides=1).tolerance(sample_size, log_alpha) * (1.0 + 1e-9)
    if inside <= -largest_difference:
        inside = -largest_difference
        if total <= inside * sample_size or above(inside) > 0.0:
            return inside
    return last_within(above, inside, min(largest_difference, share), slack=1e-10)


def lower_limit_free(
    counts: PairedCounts, log_alpha: float, share: float = BERGER_BOOS_SHARE
) -> float:
    """Φ is at least this, except with probability alpha, whatever q is.

    Claim: for every Φ and q, P(limit > Φ) <= alpha.
    γ = share·alpha pays for an upper limit of q from the number of non-zero scores, and alpha − γ
    for the test at the worst q up to it. An upper limit is enough, because the tail grows with q
    where it matters. Non-zero scores are at most as many as the examples on which the models
    differ, so no bound on q from the same examples is lower.
    Assumptions: independent scores in {−1, 0, +1}; nothing about q.
    Sides: one. Rounding: down.
    Source: R. Berger, D. Boos, P values maximized over a confidence set, 1994.
    """
    require_level(log_alpha)
    if not 0.0 < share < 1.0:
        raise ValueError(f"the share must be between 0 and 1, got {share}")
    n = counts.sample_size
    largest = binomial.upper_limit(counts.changed, n, log_alpha + math.log(share))
    return lower_limit(counts.total, n, largest, log_alpha + math.log1p(-share))


def require_difference(largest_difference: float) -> None:
    """Refuse bounds on q that are not probabilities above 0."""
    if not 0.0 < largest_difference <= 1.0:
        raise ValueError(f"the largest difference must be in (0, 1], got {largest_difference}")
