"""Chernoff's bound for any linear Φ = a·n + b·o + e·d, on the joint score of an example.

An example falls into one of five cells: the models agree (both right: a + b, both wrong: 0) or
differ (new right: a + e, old right: b + e, both wrong: e). The score is bounded. Of its law we know
only the mean, and perhaps a bound on the probability of differing. So the bound takes, for each λ,
the worst law, and then the best λ. It never adds up separate bounds on n, o and d.
Probabilities are natural logarithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from easeci.bounds.arrays import FloatArray
from easeci.bounds.bound import require_level, round_up
from easeci.bounds.contract import contract_target
from easeci.bounds.search import excess, last_within


@dataclass(frozen=True)
class Scores:
    """The scores of the cells, and the largest probability of those where the models differ."""

    agree: tuple[float, ...]
    differ: tuple[float, ...]
    largest_difference: float = 1.0

    def __post_init__(self) -> None:
        if not self.agree or not self.differ:
            raise ValueError("there must be a score where the models agree and where they differ")
        if not 0.0 < self.largest_difference <= 1.0:
            raise ValueError(
                f"the largest difference must be in (0, 1], got {self.largest_difference}"
            )

    @classmethod
    def of_linear(
        cls, new: float, old: float, difference: float, largest_difference: float = 1.0
    ) -> Scores:
        """The five cells of Φ = new·n + old·o + difference·d."""
        differ = (new + difference, old + difference, difference)
        return cls((new + old, 0.0), differ, largest_difference)

    @property
    def lowest(self) -> float:
        """The lowest score of any cell."""
        return min(*self.agree, *self.differ)

    @property
    def highest(self) -> float:
        """The highest score of any cell."""
        return max(*self.agree, *self.differ)

    @property
    def highest_mean(self) -> float:
        """The largest Φ that the bound on differing allows."""
        agree, differ = max(self.agree), max(self.differ)
        return max(agree, agree + self.largest_difference * (differ - agree))

    @property
    def lowest_mean(self) -> float:
        """The smallest Φ that the bound on differing allows."""
        return -self.mirrored().highest_mean

    def mirrored(self) -> Scores:
        """The scores of −Φ."""
        agree, differ = tuple(-s for s in self.agree), tuple(-s for s in self.differ)
        return replace(self, agree=agree, differ=differ)


# --- the worst laws ----------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoreLaws:
    """Laws (rows) on a few scores (columns), all with one mean."""

    scores: FloatArray
    weights: FloatArray

    def log_moment(self, tilt: FloatArray, share: float) -> FloatArray:
        """For each λ, ln of the largest E[exp(λ (score − share))] among the laws.

        Infinite where the exponential would leave the range of floats: such λ are useless.
        """
        exponent = tilt[:, None] * (self.scores - share)
        usable = exponent.max(axis=1) < 700.0
        moments = (np.exp(exponent[usable]) @ self.weights.T).max(axis=1)
        # Small tolerances have moments close to 1, which need every digit.
        excess = (np.expm1(exponent[usable]) @ self.weights.T).max(axis=1)
        result = np.full(tilt.shape, np.inf)
        with np.errstate(divide="ignore"):
            result[usable] = np.where(
                excess > -0.5, np.log1p(np.maximum(excess, -0.5)), np.log(moments)
            )
        return result


def worst_laws(scores: Scores, mean: float) -> ScoreLaws:
    """Candidate laws: for each λ > 0, one of them has the largest E[exp(λ·score)].

    Claim: the largest of all laws on the cells with a mean of at most ``mean`` and at most the
    largest probability of differing.
    Why: the expectation is linear in the law, so a vertex of that polytope attains the maximum.
    The exponential is convex, so only the extreme scores of either group matter, and the worst law
    has the largest mean allowed. That leaves the two-point laws that respect the bound on
    differing, and the three-point laws that exhaust it.
    """
    points = (min(scores.agree), max(scores.agree), min(scores.differ), max(scores.differ))
    largest = scores.largest_difference
    laws = [
        law
        for low, high in product(range(4), repeat=2)
        for law in _mixtures(points, low, high, mean)
        if law[2] + law[3] <= largest + 1e-12
    ]
    # One group in one point, the other in two.
    for single, low, high, mass in (
        (0, 2, 3, largest),
        (1, 2, 3, largest),
        (2, 0, 1, 1.0 - largest),
        (3, 0, 1, 1.0 - largest),
    ):
        if mass > 0.0:
            rest = (mean - (1.0 - mass) * points[single]) / mass
            for mixture in _mixtures(points, low, high, rest):
                law = [mass * weight for weight in mixture]
                law[single] = 1.0 - mass
                laws.append(law)
    if not laws:
        raise ValueError(f"no law of the score has the mean {mean}")
    weights = np.array(laws)
    held = weights.max(axis=0) > 0.0
    return ScoreLaws(np.array(points)[held], weights[:, held])


def _mixtures(points: tuple[float, ...], low: int, high: int, mean: float) -> list[list[float]]:
    """The law on two of the points with this mean, if there is one."""
    width = points[high] - points[low]
    slack = 1e-12 * max(1.0, *map(abs, points))
    if not points[low] - slack <= mean <= points[high] + slack:
        return []
    share = min(1.0, max(0.0, (mean - points[low]) / width)) if width > 0.0 else 0.0
    law = [0.0] * len(points)
    law[low] = 1.0 - share
    law[high] += share
    return [law]


def rate(scores: Scores, mean: float, share: float) -> float:
    """Chernoff's bound: the exponent r with P(average score >= share) <= exp(−N r).

    Claim: for N independent examples whose score has a mean of at most ``mean``, whatever the law
    on the cells (with at most ``scores.largest_difference`` on those that differ). Never weaker
    than Hoeffding's inequality for the range of the scores, by Hoeffding's lemma. Infinite beyond
    the highest score.
    Why: r is the supremum over λ > 0 of −ln E[exp(λ (score − share))] for the worst law.
    Assumptions: independence, the scores, the bound on differing.
    Sides: one; for the other, mirror the scores and negate mean and share.
    Rounding: down, because every λ gives a valid exponent and an imperfect search a smaller one.
    Source: H. Chernoff, 1952; for two-point laws W. Hoeffding, 1963, Theorem 1.
    """
    if share <= mean:
        return 0.0
    if share > scores.highest + 1e-12 * max(1.0, abs(scores.highest)):
        return math.inf
    laws = worst_laws(scores, mean)
    # Concave in λ: first powers of two, then ever finer grids around the best point.
    grid = np.exp2(np.arange(-40.0, 24.0)) / (scores.highest - scores.lowest)
    best = 0.0
    for _ in range(10):
        values = -laws.log_moment(grid, share)
        at = int(np.argmax(values))
        best = max(best, float(values[at]))
        grid = np.linspace(grid[max(0, at - 1)], grid[min(grid.size - 1, at + 1)], 33)
    return best


# --- sample sizes ------------------------------------------------------------------------------


def contract_sample_size(
    scores: Scores, threshold: float, tolerance: float, log_alpha: float, log_beta: float
) -> int:
    """Enough examples for a cut-off that keeps both promises, for this and every larger N.

    Claim: some share x has P(average >= x) <= alpha for every law with Φ <= threshold, and
    P(average < x) <= beta for every law with Φ >= threshold + 2·tolerance. As x doesn't depend
    on N and both bounds fall with N, the same x works for all larger N.
    Assumptions and source as for ``rate``. Sides: one tail for each promise. Rounding: up.
    """
    require_level(log_alpha)
    require_level(log_beta)
    target = contract_target(threshold, tolerance, scores.lowest_mean, scores.highest_mean)
    mirrored = scores.mirrored()

    def safety(share: float) -> float:
        r = rate(scores, threshold, share)
        return -log_alpha / r if r > 0.0 else math.inf

    def sensitivity(share: float) -> float:
        r = rate(mirrored, -target, -share)
        return -log_beta / r if r > 0.0 else math.inf

    # Safety needs fewer examples as the share grows, sensitivity more: best where they meet.
    share = last_within(lambda x: sensitivity(x) - safety(x), threshold, target)
    return round_up(max(safety(share), sensitivity(share)))


# --- limits for Φ from what was observed -------------------------------------------------------


def lower_limit(scores: Scores, average: float, sample_size: int, log_alpha: float) -> float:
    """Φ is at least this, except with probability alpha, given the average score observed.

    Claim: for every law, P(lower_limit(average) > Φ) <= alpha; it is the largest c such that
    Chernoff's bound on P(average >= observed | Φ <= c) is at most alpha.
    Assumptions as for ``rate``. Sides: one; for the upper limit, mirror the scores and negate the
    average. Rounding: down. Source: test inversion.
    """
    require_level(log_alpha)
    lowest = scores.lowest_mean

    def above(c: float) -> float:
        return excess(-sample_size * rate(scores, c, average), log_alpha)

    if average <= lowest or above(lowest) > 0.0:
        return lowest
    return last_within(above, lowest, min(average, scores.highest_mean), slack=1e-10)
