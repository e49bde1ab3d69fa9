"""Where a walk along a testset is likely to stop, and how: the law of the sequential test.

The evidence of a clause is a function of running counts of outcomes. A walk of scores has a sum S
after m labels, and its likely counts follow from S (the law of the scores, tilted to the mean S/m).
So each kind of evidence has a boundary: the S at which it reaches its target after m labels. These
boundaries are found from the evidence itself.

Between the boundaries the sum is close to a Brownian motion with the mean and variance of the
scores. It first crosses a boundary b at m with the density

    f(m) = (b − m b′) / m · φ((b − μm) / (σ√m)) / (σ√m)

which is exact if b is a straight line and good if b bends little (the tangent approximation,
J. Durbin, The first-passage density of a continuous Gaussian process to a general boundary, 1985).
A walk that ends at one boundary must not have crossed the other one before. For straight lines
and a walk that ends at b, that other line a was not crossed with probability

    1 − exp(−2 (m a′ − a) (a − b) / (σ²m))

Sums move in jumps, so a walk ends a little beyond its boundary: the mean overshoot is E[x²]/(2E[x])
for jumps x in that direction. This is a forecast; no guarantee depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from easeci.evidence.bets import Floats
from easeci.evidence.wealth import Evidence

TILTS = np.concatenate([-np.geomspace(30.0, 0.01, 40), [0.0], np.geomspace(0.01, 30.0, 40)])
"""Tilts of a law, in standard deviations of its score: from almost all least to all greatest."""
LARGEST_EXPONENT = 600.0
BISECTIONS = 11
STARTS, SOLVED = 32, 16
"""So many numbers of labels are tried for the first at which a target can be reached. From there,
boundaries are smooth: they are solved for at so many numbers of labels, and interpolated."""


@dataclass(frozen=True)
class ScoreLaw:
    """Scores of outcomes, and the probabilities of the outcomes.

    ``outcomes`` are the places of the outcomes in the counts that evidence takes. If a mean needs
    another law, it is tilted, unless a ``family`` of laws is given: a law in each row, by its mean.
    """

    scores: Floats
    probabilities: Floats
    outcomes: tuple[int, ...]
    width: int
    family: Floats | None = None

    def __neg__(self) -> ScoreLaw:
        return replace(self, scores=-self.scores)

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(self.scores @ self.probabilities)

    @property
    def deviation(self) -> float:
        """The standard deviation of the score."""
        return float(np.sqrt(np.maximum(self.scores**2 @ self.probabilities - self.mean**2, 0.0)))

    @property
    def overshoot(self) -> float:
        """How far a walk is likely to jump over a boundary above it."""
        jumps = np.maximum(self.scores - self.mean, 0.0)
        first, second = jumps @ self.probabilities, jumps**2 @ self.probabilities
        return float(second / (2.0 * first)) if first > 0.0 else 0.0

    def compositions(self) -> tuple[Floats, Floats]:
        """Means of other laws, rising, and their outcomes' probabilities."""
        if self.family is not None:
            tilted = self.family
        else:
            unit = max(self.deviation, 1e-12)
            exponents = TILTS[:, None] * (self.scores - self.mean)[None, :] / unit
            if exponents.max() > LARGEST_EXPONENT:  # a very rare outcome
                exponents = exponents - exponents.max(axis=1, keepdims=True)
            weights = np.exp(exponents)
            tilted = weights * np.maximum(self.probabilities, 1e-12)
            tilted /= tilted.sum(axis=1, keepdims=True)
        full = np.zeros((len(tilted), self.width))
        full[:, list(self.outcomes)] = tilted
        return tilted @ self.scores, full


def boundary(evidence: Evidence, target: float, law: ScoreLaw, labels: Floats) -> Floats:
    """The sum of scores at which evidence reaches its target, after each number of labels.

    The evidence must grow with the sum. Where even the greatest scores don't reach the target, the
    boundary goes on as a straight line, which no walk reaches. It is infinite if no walk ever does,
    and minus infinity if the target is reached before the first label.
    """
    if evidence.after(np.zeros((1, law.width)))[0] >= target:
        return np.full(len(labels), -np.inf)
    means, compositions = law.compositions()
    numbers = np.unique(np.round(np.geomspace(1.0, max(labels[-1], 2.0), STARTS)))
    reachable = evidence.after(compositions[-1] * numbers[:, None]) >= target
    if reachable.sum() < 2:
        return np.full(len(labels), np.inf)
    at = np.unique(np.round(np.geomspace(numbers[reachable.argmax()], numbers[-1], SOLVED)))
    positions = np.arange(len(means))
    low, high = np.full(len(at), -1.0), np.full(len(at), len(means) - 1.0)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2.0
        shares = [np.interp(middle, positions, column) for column in compositions.T]
        reached = evidence.after(np.stack(shares, axis=-1) * at[:, None]) >= target
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    mean = np.interp((low + high) / 2.0, positions, means)
    sums = _smooth(np.log(np.maximum(labels, 1e-9)), np.log(at), mean) * labels
    slope = (mean[1] * at[1] - mean[0] * at[0]) / (at[1] - at[0])
    before = np.maximum(mean[0] * at[0] + slope * (labels - at[0]), labels * law.scores.max())
    return np.asarray(np.where(labels >= at[0], sums, before))


def _smooth(values: Floats, nodes: Floats, heights: Floats) -> Floats:
    """Cubic interpolation, with the slopes of the neighbours (Hermite's)."""
    slopes = np.gradient(heights, nodes)
    before = np.clip(np.searchsorted(nodes, values) - 1, 0, len(nodes) - 2)
    width = nodes[before + 1] - nodes[before]
    part = np.clip((values - nodes[before]) / width, 0.0, 1.0)
    rest = 1.0 - part
    return np.asarray(
        rest**2 * ((1.0 + 2.0 * part) * heights[before] + part * width * slopes[before])
        + part**2 * ((1.0 + 2.0 * rest) * heights[before + 1] - rest * width * slopes[before + 1])
    )


@dataclass(frozen=True)
class Endings:
    """Probabilities of having ended by each number of labels: with a proof, or otherwise.

    The last axis are the numbers of labels. The last value is the end of the testset: there, walks
    that did not end before end without a proof.
    """

    proven: Floats
    other: Floats

    @property
    def open(self) -> Floats:
        """The probability that the walk goes on after so many labels."""
        return np.asarray(np.maximum(1.0 - self.proven - self.other, 0.0))


@dataclass(frozen=True)
class Boundaries:
    """The sums at which a walk ends, after each number of labels: proven above, futile below."""

    labels: Floats
    upper: Floats
    lower: Floats

    def endings(self, mean: Floats, deviation: Floats) -> Endings:
        """How walks end whose scores have this mean and deviation.

        These may have any shape; the result has one more axis, the numbers of labels.
        """
        mean, deviation = np.asarray(mean)[..., None], np.asarray(deviation)[..., None]
        up = self._crossings(self.upper, self.lower, mean, deviation)
        down = self._crossings(-self.lower, -self.upper, -mean, deviation)
        # The two are not exact, so their sum may exceed 1: then walks end before.
        both = up + down
        left = 1.0 - (np.cumsum(both, axis=-1) - both)
        kept = np.clip(left / np.maximum(both, 1e-300), 0.0, 1.0)
        proven, other = np.cumsum(up * kept, axis=-1), np.cumsum(down * kept, axis=-1)
        # Where the boundaries meet, every walk has ended.
        met = np.maximum.accumulate(self.upper <= self.lower)
        share = proven[..., -1:] / np.maximum(proven[..., -1:] + other[..., -1:], 1e-300)
        if self.upper[0] == -np.inf:
            share = np.ones_like(share)
        elif self.lower[0] == np.inf:  # futile before the first label
            share, proven = np.zeros_like(share), np.zeros_like(proven)
        proven = np.where(met, np.maximum(share, proven), proven)
        other = np.where(met, 1.0 - proven, other)
        other[..., -1] = 1.0 - proven[..., -1]
        return Endings(proven, other)

    def _crossings(self, near: Floats, far: Floats, mean: Floats, deviation: Floats) -> Floats:
        """The probability that the upper boundary is crossed between a number of labels and the one
        before, and was not crossed after the lower boundary."""
        m = self.labels
        if not np.isfinite(near).all():
            return np.zeros(np.broadcast_shapes(mean.shape, m.shape))
        scale = np.maximum(deviation, 1e-9) * np.sqrt(m)
        z = (near - mean * m) / scale
        rate = np.maximum(near - m * np.gradient(near, m), 0.0) / m
        density = rate * np.exp(-0.5 * z * z) / (np.sqrt(2.0 * np.pi) * scale)
        if np.isfinite(far).all():
            intercept = np.maximum(m * np.gradient(far, m) - far, 0.0)
            density *= -np.expm1(-2.0 * intercept * np.maximum(near - far, 0.0) / scale**2)
        steps = 0.5 * (density[..., 1:] + density[..., :-1]) * np.diff(m)
        start = np.zeros((*density.shape[:-1], 1))
        return np.concatenate([start, steps], axis=-1)
