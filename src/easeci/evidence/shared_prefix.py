"""A labelled prefix that serves all commits, for scores whose denominator is the share of a class.

``n.recall(k) - o.recall(k) > c`` says that the mean of y(f − g) is above c·p, where p is the share
of class k: f, g and y say whether new, old and label are k. The share does not depend on the
models. So the first examples of the order are labelled once, whatever was predicted. They give
limits l ≤ p ≤ u that hold for the whole life of the testset with the probability that was set aside
for them. After the prefix, labels are asked for only where the models differ.

*Claim.* If p is in [l, u], each test rejects a true hypothesis with at most its level.

*Proof.* A test rejects "the mean of s is at most b·p", where s is y(f − g) or its negative. If p is
in [l, u], then b·p is at most the limit m = b·u for b > 0, and m = b·l otherwise. So the hypothesis
"the mean of s is at most m" is true whenever the other one is. Units begin behind the prefix: given
the prefix with its true labels, m is fixed and the units are i.i.d. as before. ∎

*Unsettled labels* of the prefix count as another class for l, and as this class for u, so they only
raise m. Somebody who chooses which labels stay unsettled may know all later ones. So nothing but m
depends on them: bets and starts follow from the script's expected share alone. Every factor
1 + λ (s − m) falls as m grows, also where λ is cut down to a share of 1 / (m − least s). So the
evidence is at most what it would be with the true labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from easeci.bounds import binomial
from easeci.evidence.bets import Floats
from easeci.evidence.clause_test import Goal, SequentialTest, Targets, Walk
from easeci.evidence.codes import Codes, Counts
from easeci.evidence.confidence import SeenQuotient
from easeci.evidence.endings import Ending
from easeci.evidence.hypothesis import Hypothesis
from easeci.evidence.labelled import LabelledTestset
from easeci.script.score import Score

NOTHING_KNOWN = (0.0, 1.0)


EXPECTED_SPREAD = 0.5
"""How many of the examples that count are expected to have a score other than 0."""


@dataclass(frozen=True)
class Prefix:
    """How many examples are labelled first, and ln of the error of each limit of the share.

    ``share`` is the expected share of the class: bets are chosen for it.
    """

    length: int
    log_level: float
    share: float


@dataclass(frozen=True)
class ShareGoal(Goal):
    """A goal about a score whose denominator is a share, when the share has known limits."""

    share: tuple[float, float] = NOTHING_KNOWN
    expected: float = 0.1
    """The share that bets are chosen for."""

    @cached_property
    def _hypotheses(self) -> tuple[Hypothesis, Hypothesis, Hypothesis]:
        product = self.score.without_share()
        return (
            self._hypothesis(product, self.bound),
            self._hypothesis(-product, -self.clear),
            self._hypothesis(-product, -self.bound),
        )

    def _hypothesis(self, product: Score, bound: float) -> Hypothesis:
        low, high = self.share
        limit = bound * (high if bound > 0.0 else low)
        found = Hypothesis.of(product, limit, self.tolerance * self.expected)
        return replace(found, spread=EXPECTED_SPREAD, aimed_at=bound * self.expected)


@dataclass(frozen=True)
class PrefixTest:
    """The test of a clause whose denominator is the share of a class."""

    goal: Goal
    targets: Targets
    prefix: Prefix

    def walk(self, testset: LabelledTestset) -> PrefixWalk:
        """Follow the order as far as labels are known; without the whole prefix, nothing ends."""
        score = self.goal.score
        reading = testset.reading(score)
        length = min(self.prefix.length, len(reading))
        groups = score.without_share().relevant
        track = reading.track(groups, length)
        done = track.gap >= length
        share = self._limits(track.codes[:length]) if done else NOTHING_KNOWN
        goal = ShareGoal(score, self.goal.bound, self.goal.tolerance, share, self.prefix.share)
        # Examples of the prefix are not counted: the bound depends on what the prefix shows.
        size = (len(reading) - length, len(track.positions) - length)
        test = SequentialTest.of(goal, self.targets, *size)
        if not done:
            return PrefixWalk(Ending.OPEN, track.gap, track, test, track.known, share)
        walk = test.along(track)
        return PrefixWalk(walk.ending, walk.labels, track, test, walk.codes, share)

    def _limits(self, codes: Codes) -> tuple[float, float]:
        """Exact limits of the share, from all labels of the prefix."""
        score, alphabet = self.goal.score, self.goal.score.alphabet
        counts = np.bincount(codes, minlength=alphabet.codes)
        sure = sum(int(counts[o]) for o, y in enumerate(score.ratio.denominator) if y)
        unsettled = int(counts[alphabet.unsettled(0) :].sum())
        level, length = self.prefix.log_level, len(codes)
        return (
            binomial.lower_limit(sure, length, level),
            binomial.upper_limit(sure + unsettled, length, level),
        )


@dataclass(frozen=True)
class PrefixWalk(Walk):
    """The walk of a clause with a prefix, and the limits of the share that the prefix gave."""

    share: tuple[float, float] = NOTHING_KNOWN

    def estimate(self, score: Score, labels: int) -> Fraction | None:
        """The score after so many labels: the mean of its numerator by the share of its class."""
        used = Counts.of(self._units(labels), score.alphabet)
        prefix = Counts.of(self.track.codes[: self.track.prefix], score.alphabet)
        settled = sum(prefix.by_code[: score.alphabet.outcomes])
        found = sum(n for n, y in zip(prefix.by_code, score.ratio.denominator, strict=False) if y)
        if not used.examples or not found or not self.test.examples:
            return None
        low, high = used.mean_range(score.without_share())
        counted = Fraction(self.test.relevant, self.test.examples)
        return (low + high) / 2 * counted / Fraction(found, settled)

    def limits(
        self, score: Score, after: npt.NDArray[np.intp], log_side: float
    ) -> tuple[Floats, Floats]:
        """The limits of the score after each of these rising numbers of labels."""
        ends = [self.seen(score, int(labels), log_side).interval for labels in after]
        return np.array([low for low, _ in ends]), np.array([high for _, high in ends])

    def seen(self, score: Score, labels: int, log_side: float) -> SeenQuotient:
        """What the interval of the score depends on after so many labels."""
        product = self._seen(score.without_share(), labels, log_side)
        reach = (float(score.lowest), float(score.highest))
        known = labels >= self.track.prefix
        return SeenQuotient(product, self.share if known else NOTHING_KNOWN, reach)

    def fewest_more(self, *, any_ending: bool, futile_decides: bool) -> int:
        """How many more labels are needed before the walk can end (or end decisively)."""
        if self.labels < self.track.prefix:
            return self.track.prefix - self.labels
        return super().fewest_more(any_ending=any_ending, futile_decides=futile_decides)
