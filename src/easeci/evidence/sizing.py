"""How many examples a testset needs, and how many labels a commit is likely to take.

**Size.** A clearly good commit (Φ = c + 2ε) is missed if the testset ends before the proof is
reached. The evidence at the end is at least that of any one of its bets, whose logarithm is a sum
over examples: a linear function of cell counts. So Chernoff's bound on its lower tail, with the
best exponent, is an upper bound on the probability of a miss. Among all laws of the score with the
same mean the worst is the one on the two ends, because (1 + λ (s − m))^−η is convex in s. If d is
unknown, the evidence is the least over intervals of d, and their probabilities are added up.

For measures of classes, and for blocks, the worst law would be far from all likely ones. There the
caller gives the law of the outcomes. If the evidence is the least over several rows, the
probabilities that a row misses are added up.

**Labels.** The number of labels at which the evidence, followed along its mean path, reaches the
first of its targets. This is a forecast for planning; no guarantee depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from easeci.bounds.binomial import contract_sample_size
from easeci.errors import ScriptError
from easeci.evidence.bets import PROOF_AIMS, SPACED_AIMS, SPREAD, Floats, aimed
from easeci.evidence.clause_test import Goal, SequentialTest, Targets
from easeci.evidence.endings import Ending
from easeci.evidence.hypothesis import (
    FAR_TILT,
    FAR_WEIGHT,
    LARGEST_DENOMINATOR,
    MARGIN,
    NO_TILT,
    RESOLUTION,
    TILT_WEIGHTS,
    TILTS,
    Hypothesis,
    difference_hypothesis,
    difference_rows,
    evidence_against,
    expected_slopes,
    row_tables,
)
from easeci.evidence.labelled import LabelledTestset
from easeci.evidence.wealth import Evidence
from easeci.script.score import Ratio, Score

LARGE, LARGEST = 10**6, 10**12
EXPONENTS = np.geomspace(0.1, 12.0, 11)
ASIDE = 3e-4
"""How far beside a likely size the search looks: less than the three digits of the result."""
REACH = 10.0
"""How many standard deviations away intervals of d are considered."""


class ImpracticalError(ScriptError):
    """Nobody can collect as many examples as a clause needs, or no number of them is enough."""

    def __init__(self, clause: str = "this clause") -> None:
        super().__init__(
            f"no testset of a practical size can show {clause}",
            hint="Widen its tolerance, change its constant, or compare other measures.",
        )


@lru_cache(maxsize=256)
def examples_needed(goal: Goal, targets: Targets, log_exhaustion: float, difference: float) -> int:
    """The examples that keep the probability of running out below exp(``log_exhaustion``).

    Claim: a commit with Φ ≥ c + 2ε and d ≤ ``difference`` reaches its proof within so many
    examples, except with that probability.
    Assumptions: i.i.d. examples. Sides: one. Rounding: up, to three digits.
    Source: Chernoff's bound, as at the top of this module; the exact binomial test for a score of
    d alone.
    """
    if goal.clear <= goal.bound:
        return 1  # the constant is at the end of the range: there is nothing to promise
    if not goal.score.needs_labels:
        return _size_of_share(goal, targets, log_exhaustion)
    if not goal.proof.everywhere:
        shares = _shares(goal, difference)

        def excess(size: int) -> float:
            """How far the bound is above its level; where one share is above, no other is asked."""
            worst = -math.inf
            for share in shares:
                law = _worst_law(goal.proof, goal.clear, share)
                miss = _log_miss_differing(goal.proof, targets.proof, size, law)
                worst = max(worst, miss - log_exhaustion)
                if miss > log_exhaustion:
                    break
            return worst

        likely = 2.0 * difference * targets.proof * (goal.proof.scores[-1] / goal.tolerance) ** 2
        return _smallest_size(excess, likely)
    return _size_of_sum(goal, targets, log_exhaustion)


def _shares(goal: Goal, difference: float) -> tuple[float, ...]:
    """The largest d allowed, which is nearly always the worst, and two smaller values."""
    top = max(goal.proof.scores[-1], 1e-300)
    least = min(max(goal.clear, 0.0) / top + 1e-9, difference)
    return (difference, (2.0 * difference + least) / 3.0, (difference + 2.0 * least) / 3.0)


class _Sizes:
    """Which sizes are enough. A larger one is, if a smaller one is, so few have to be asked."""

    def __init__(self, excess: Callable[[int], float]) -> None:
        self._excess = excess
        self._too_small, self._above = 0, math.inf
        self._enough, self._below = math.inf, -math.inf

    def enough(self, size: int) -> bool:
        """Whether the excess of a size is at most 0."""
        if self._too_small < size < self._enough:
            excess = self._excess(size)
            if excess <= 0.0:
                self._enough, self._below = size, excess
            else:
                self._too_small, self._above = size, excess
        return size >= self._enough

    def narrow(self) -> None:
        """Ask where a straight line between the bounds crosses 0, at last on both sides of it."""
        for aside in (0.0, 0.0, -ASIDE, ASIDE):
            if math.isinf(self._above) or math.isinf(self._below):
                return
            part = self._above / (self._above - self._below)
            at = self._too_small + (self._enough - self._too_small) * part
            self.enough(round(at * (1.0 + aside)))


def _smallest_size(excess: Callable[[int], float], likely: float) -> int:
    """The smallest size whose excess is at most 0, to three digits, rounded up.

    First finds the smallest power of two that is enough, beginning at a ``likely`` size. Where it
    begins does not change the result.
    """
    sizes = _Sizes(excess)
    enough = sizes.enough
    high = 16 << round(math.log2(min(max(likely / 16.0, 1.0), LARGEST / 16.0)))
    while high > 16 and enough(high // 2):
        high //= 2
    while not enough(high):
        if high > LARGEST:
            raise ImpracticalError
        high *= 2
    low = high // 2
    sizes.narrow()
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _size_of_share(goal: Goal, targets: Targets, log_exhaustion: float) -> int:
    """For a score e·d, which exact tails decide, without bets."""
    factor = float(goal.score.difference)
    threshold = goal.bound / factor if factor > 0.0 else 1.0 - goal.bound / factor
    tolerance = (goal.clear - goal.bound) / 2.0 / abs(factor)
    return contract_sample_size(threshold, tolerance, -targets.proof, log_exhaustion)


def _size_of_sum(goal: Goal, targets: Targets, log_exhaustion: float) -> int:
    """For scores in which every example counts: the best of the bets, by Chernoff's bound."""
    scores = goal.proof.scores
    aims = PROOF_AIMS if len(scores) == 2 else SPACED_AIMS
    spread = 1.0 if len(scores) == 2 else SPREAD
    ends = (scores[0], scores[-1])
    means = np.array([goal.bound + MARGIN * (ends[1] - ends[0])])
    sizes = aimed(means, np.array([goal.tolerance]), aims, ends, spread)[0]
    top = (goal.clear - ends[0]) / (ends[1] - ends[0])
    law = np.array([1.0 - top, top])
    gains = np.log1p(sizes[:, None] * (np.array(ends) - means))
    shrink = np.log(np.exp(-EXPONENTS[:, None, None] * gains) @ law)
    needed = EXPONENTS[:, None] * (targets.proof - aims.log_weights) - log_exhaustion
    with np.errstate(divide="ignore"):
        examples = np.where(shrink < 0.0, needed / -shrink, math.inf)
    if not np.isfinite(examples.min()):
        raise ImpracticalError
    return math.ceil(float(examples.min()))


@dataclass(frozen=True)
class _RelevantLaw:
    """The ``scores`` of relevant examples, the probability of each, and that of all of them."""

    scores: Floats
    probabilities: Floats
    share: float


def _worst_law(hypothesis: Hypothesis, clear: float, difference: float) -> _RelevantLaw:
    """The law on the two ends of the score, with the mean of a clearly good commit."""
    ends = (hypothesis.scores[0], hypothesis.scores[-1])
    mean = min(clear / difference, ends[1])
    top = (mean - ends[0]) / (ends[1] - ends[0])
    return _RelevantLaw(np.array(ends), np.array([1.0 - top, top]) * difference, difference)


def _log_miss_differing(
    hypothesis: Hypothesis, target: float, examples: int, relevant: _RelevantLaw
) -> float:
    """ln of a bound on the probability that a clearly good commit is not proven at the end."""
    ends = (hypothesis.scores[0], hypothesis.scores[-1])
    hard, easy = _intervals(examples, relevant.share, hypothesis.bound)
    with np.errstate(divide="ignore"):
        means = np.minimum(np.where(hard > 0.0, hypothesis.bound / hard, math.inf), ends[1])
    possible = means > ends[0]
    hard, easy, means = hard[possible], easy[possible], means[possible]
    if not len(means):
        return -math.inf
    spread = 1.0 if len(hypothesis.scores) == 2 else SPREAD
    scale = hypothesis.tolerance / np.maximum(hard, 1e-300)
    sizes = aimed(means, scale, PROOF_AIMS, ends, spread)
    gains = np.log1p(sizes[:, :, None] * (relevant.scores - means[:, None, None]))
    slopes = expected_slopes(hypothesis, PROOF_AIMS, examples, hard, target)
    best = np.full(len(hard), 0.0)
    sample = _Sample(examples, relevant.probabilities, easy, target, hypothesis.bound >= 0.0)
    for log_weight, tilt in _starts(slopes):
        best = np.minimum(best, _log_tail(gains, tilt, log_weight, sample))
    return float(np.logaddexp.reduce(best))


def _intervals(examples: int, difference: float, bound: float) -> tuple[Floats, Floats]:
    """The ends of the intervals of d around ``difference``: the hard ends, and the easy ends."""
    if bound == 0.0:
        return np.array([difference]), np.array([difference])
    width = RESOLUTION / (2.0 * math.sqrt(examples))
    steps = np.arange(-REACH / RESOLUTION, REACH / RESOLUTION + 1.0)
    centre = math.asin(math.sqrt(difference))
    shares = np.sin(np.unique(np.clip(centre + steps * width, 0.0, math.pi / 2.0))) ** 2
    return (shares[:-1], shares[1:]) if bound > 0.0 else (shares[1:], shares[:-1])


def _starts(slopes: Floats) -> list[tuple[float, Floats]]:
    """The parts of e(D), each with ln of its weight."""
    parts = [(math.log(NO_TILT), np.zeros_like(slopes))]
    parts += [(math.log(w), t * slopes) for w, t in zip(TILT_WEIGHTS, TILTS, strict=True)]
    return [*parts, (math.log(FAR_WEIGHT), np.full_like(slopes, FAR_TILT))]


@dataclass(frozen=True)
class _Sample:
    examples: int
    law: Floats
    easy: Floats
    target: float
    upwards: bool


def _log_tail(gains: Floats, tilt: Floats, log_weight: float, sample: _Sample) -> Floats:
    """Chernoff's bound for each interval, the best over bets and exponents.

    One example adds θ + ln(factor) where the models differ and 0 where they agree, less the
    constant ln(1 + u (e^θ − 1)).
    """
    share = sample.easy
    deviation = np.sqrt(np.maximum(share * (1.0 - share) * sample.examples, 1.0))[:, None]
    theta = (1.0 if sample.upwards else -1.0) * tilt / deviation
    constant = np.log1p(share[:, None] * np.expm1(theta))
    steps = gains + theta[:, :, None]
    agreeing = 1.0 - float(sample.law.sum())
    best = np.zeros(len(share))
    for exponent in EXPONENTS:
        shrink = np.log(agreeing + np.exp(-exponent * steps) @ sample.law) + exponent * constant
        needed = sample.target - PROOF_AIMS.log_weights - log_weight
        bound = exponent * needed + sample.examples * shrink
        best = np.minimum(best, bound.min(axis=1))
    return best


def units_needed(hypothesis: Hypothesis, target: float, log_exhaustion: float, law: Floats) -> int:
    """The units that keep the probability of running out below exp(``log_exhaustion``).

    Claim: the proof is reached within so many units, except with that probability.
    Assumptions: i.i.d. units whose outcomes have this ``law``. Sides: one. Rounding: up, to three
    digits.
    Source: Chernoff's bound, as at the top of this module.
    """
    if hypothesis.outright or hypothesis.everywhere:
        evidence = evidence_against(hypothesis, PROOF_AIMS, 1, 1, target)
        return _units_by_rows(evidence, target, log_exhaustion, law)
    if hypothesis.graded:
        # Nearly all outputs differ. On a large testset, their share is then known.
        count = round(LARGE * float(law[list(hypothesis.relevant)].sum()))
        evidence = evidence_against(hypothesis, PROOF_AIMS, LARGE, count, target)
        return _units_by_rows(evidence, target, log_exhaustion, law)
    scores = sorted({float(hypothesis.entry(outcome)) for outcome in hypothesis.relevant})
    shares = [
        float(sum(law[o] for o in hypothesis.relevant if float(hypothesis.entry(o)) == score))
        for score in scores
    ]
    share = sum(shares)
    relevant = _RelevantLaw(np.array(scores), np.array(shares), share)
    mean = float(relevant.probabilities @ relevant.scores)
    if share <= 0.0 or mean <= hypothesis.bound:
        raise ImpracticalError

    def excess(size: int) -> float:
        return _log_miss_differing(hypothesis, target, size, relevant) - log_exhaustion

    variance = float(relevant.probabilities @ relevant.scores**2)
    return _smallest_size(excess, 4.0 * target * variance / (mean - hypothesis.bound) ** 2)


def _units_by_rows(evidence: Evidence, target: float, log_exhaustion: float, law: Floats) -> int:
    """Every row of the evidence must reach the target; each by the best of its bets."""
    if not len(evidence.log_weights):
        return 1
    seen = np.flatnonzero(law)
    factors, chances = evidence.log_factors[..., seen], law[seen]
    with np.errstate(divide="ignore"):
        shrink = np.stack(
            [np.log(np.exp(-exponent * factors) @ chances) for exponent in EXPONENTS], axis=-1
        )
        needed = EXPONENTS * (target - evidence.log_weights[..., None]) - log_exhaustion
        units = np.where(shrink < 0.0, needed / -shrink, math.inf).min(axis=(1, 2)).max()
    if not units <= LARGEST:
        raise ImpracticalError
    return math.ceil(float(units))


def rows_near(score: Score, bound: float, tolerance: float, value: float) -> Hypothesis:
    """A few rows of the hypothesis about a difference, if the second ratio has this value.

    A test needs all rows, and to make a thousand of them takes a second. Those near the value and
    those at the ends of its range are the last ones to be rejected, so a plan needs no others.
    """
    assert score.subtracted is not None
    low, high = (float(end) for end in score.subtracted.reach)
    rows = difference_rows(score, tolerance)
    exact = Fraction(bound).limit_denominator(LARGEST_DENOMINATOR)
    near = [value + step * tolerance for step in (0.0, -1.0, -0.5, 0.5, 1.0, 2.0)]
    numbers = [int((at - low) * rows / (high - low)) for at in (*near, low, high)]
    chosen = dict.fromkeys(min(max(number, 0), rows - 1) for number in numbers)
    found = tuple(row_tables(score, exact, number, rows) for number in chosen)
    return difference_hypothesis(score, found, tolerance)


def mean_ratio(ratio: Ratio, law: Floats) -> float:
    """A ratio of two means under a law; 0 if the second is 0."""
    above, below = (
        float(np.array([float(x) for x in entries]) @ law)
        for entries in (ratio.numerator, ratio.denominator)
    )
    return above / below if below > 0.0 else 0.0


@dataclass(frozen=True)
class LabelsByTruth:
    """Labels that one commit is expected to take, by what is true of it."""

    unchanged: int
    middle: int
    better: int
    worst: int


def forecast_labels(
    goal: Goal, targets: Targets, examples: int, difference: float
) -> LabelsByTruth:
    """A forecast for models that differ on this share of examples.

    ``unchanged``: equal accuracies if possible (Φ = e·d, or n = o = the threshold minus the zone's
    width). ``middle``: Φ = c + ε. ``better``: ε beyond the zone. ``worst``: the most labels of any
    Φ in the zone.
    """
    low, high = _reachable(goal, difference)
    width = (goal.clear - goal.bound) / 2.0
    test = SequentialTest.of(goal, targets, examples, round(examples * difference))

    def labels(phi: float) -> int:
        return labels_at(test, difference, min(max(phi, low), high))

    unchanged = goal.bound - 2.0 * width
    if not goal.proof.everywhere:
        unchanged = float(goal.score.difference) * difference
    middle = labels(goal.bound + width)
    around = (goal.bound, goal.bound + width / 2.0, goal.bound + 1.5 * width, goal.clear)
    return LabelsByTruth(
        labels(unchanged),
        middle,
        labels(goal.clear + width),
        max(middle, *(labels(phi) for phi in around)),
    )


def _reachable(goal: Goal, difference: float) -> tuple[float, float]:
    scores = goal.proof.scores
    share = 1.0 if goal.proof.everywhere else difference
    return scores[0] * share, scores[-1] * share


def labels_at(test: SequentialTest, difference: float, phi: float) -> int:
    """The mean number of labels until the first target is reached, over nine likely paths."""
    return round(float(path_ends(test, difference, phi).labels.mean()))


@dataclass(frozen=True)
class PathEnds:
    """After how many labels each of nine equally likely paths ends, and whether with a proof."""

    labels: Floats
    proven: npt.NDArray[np.bool_]


def path_ends(test: SequentialTest, difference: float, phi: float) -> PathEnds:
    """How a walk is likely to end if the truth is Φ = ``phi`` and d = ``difference``."""
    goal, targets = test.goal, test.targets
    most = test.examples if goal.proof.everywhere else test.relevant
    if most == 0 or not goal.score.needs_labels:
        ending = test.walk(LabelledTestset(np.zeros(0, np.uint8))).ending
        nowhere = np.zeros(len(QUANTILES))
        return PathEnds(nowhere, np.full(len(QUANTILES), ending is Ending.PROVEN))
    paths = _Paths.of(goal, difference, phi)
    proof, futility = (
        paths.labels_until(evidence, target, most)
        for evidence, target in ((test.proof, targets.proof), (test.futility, targets.futility))
    )
    return PathEnds(np.minimum(proof, futility), (proof <= futility) & (proof < most))


QUANTILES = np.array([-1.59, -0.97, -0.59, -0.28, 0.0, 0.28, 0.59, 0.97, 1.59])
"""The middles of nine equal parts of the normal distribution."""


@dataclass(frozen=True)
class Walls:
    """The evidence that ends a walk either way, with its targets, and the hypothesis of a proof."""

    hypothesis: Hypothesis
    proof: Evidence
    futility: Evidence
    targets: Targets


def law_path_ends(walls: Walls, law: Floats, units: float) -> PathEnds:
    """Like :func:`path_ends`, in units that count, if the outcomes of all have this ``law``.

    ``units`` is how many there are. Those that don't count are passed over.
    """
    hypothesis, targets = walls.hypothesis, walls.targets
    paths = _LawPaths.of(hypothesis, law)
    share = float(law[list(hypothesis.relevant)].sum())
    most = max(int(units * share), 1)
    proof, futility = (
        paths.labels_until(evidence, target, most)
        for evidence, target in ((walls.proof, targets.proof), (walls.futility, targets.futility))
    )
    return PathEnds(np.minimum(proof, futility), (proof <= futility) & (proof < most))


@dataclass(frozen=True)
class _LawPaths:
    """Paths of the counts of outcomes: as likely, plus z/√units standard deviations of the score.

    Given the sum of scores, an outcome is the more frequent the higher its score is.
    """

    law: Floats
    tilt: Floats

    @staticmethod
    def of(hypothesis: Hypothesis, law: Floats) -> _LawPaths:
        relevant = list(hypothesis.relevant)
        scores = np.array([float(entry) for entry in hypothesis.rows[0][0]])
        inside = np.zeros(len(law))
        inside[relevant] = law[relevant]
        inside /= max(float(inside.sum()), 1e-300)
        mean = float(inside @ scores)
        deviation = math.sqrt(max(float(inside @ (scores - mean) ** 2), 1e-300))
        return _LawPaths(inside, inside * (scores - mean) / deviation)

    def labels_until(self, evidence: Evidence, target: float, most: int) -> Floats:
        """After how many units each path first reaches the target, by bisection."""
        return _first_reached(lambda units: self._counts(units, evidence), evidence, target, most)

    def _counts(self, units: Floats, evidence: Evidence) -> Floats:
        luck = QUANTILES / np.sqrt(np.maximum(units, 1.0))
        shares = np.maximum(self.law + luck[:, None] * self.tilt, 0.0)
        shares /= shares.sum(axis=1, keepdims=True)
        counts = np.zeros((len(units), evidence.outcomes))
        counts[:, : len(self.law)] = shares * units[:, None]
        return counts


def _first_reached(
    counts: Callable[[Floats], Floats], evidence: Evidence, target: float, most: int
) -> Floats:
    low, high = np.full(len(QUANTILES), -1.0), np.full(len(QUANTILES), float(most))
    for _ in range(2 + max(1, math.ceil(math.log2(most + 1)))):
        middle = np.floor((low + high) / 2.0)
        reached = evidence.after(counts(middle)) >= target
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return high


@dataclass(frozen=True)
class _Paths:
    """Paths of the share of high scores: its mean, plus z/√labels standard deviations.

    Luck lasts: a path that is ahead stays ahead. So nine equally likely paths represent all. Only
    the two outcomes at the ends of the score occur.
    """

    low: int
    high: int
    share: float
    outcomes: int

    @staticmethod
    def of(goal: Goal, difference: float, phi: float) -> _Paths:
        proof = goal.proof
        outcomes = sorted(proof.relevant, key=proof.entry)
        least, most = float(proof.entry(outcomes[0])), float(proof.entry(outcomes[-1]))
        mean = phi if proof.everywhere else phi / difference
        share = min(max((mean - least) / (most - least), 0.0), 1.0)
        return _Paths(outcomes[0], outcomes[-1], share, proof.alphabet.outcomes)

    def labels_until(self, evidence: Evidence, target: float, most: int) -> Floats:
        """After how many labels each path first reaches the target, by bisection."""
        return _first_reached(self.counts, evidence, target, most)

    def counts(self, labels: Floats) -> Floats:
        deviation = np.sqrt(self.share * (1.0 - self.share) / np.maximum(labels, 1.0))
        share = np.clip(self.share + QUANTILES * deviation, 0.0, 1.0)
        counts = np.zeros((len(labels), self.outcomes))
        counts[:, self.high] = labels * share
        counts[:, self.low] += labels * (1.0 - share)
        return counts
