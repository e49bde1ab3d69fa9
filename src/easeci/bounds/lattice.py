"""Tails of a sum of scores −1, 0, +1, by inverting its generating function on a circle.

With M(z) = E[exp(z·score)] the sum S of N independent scores has, for every λ > 0,

    P(S >= k) = mean over |ω| <= π of  M(z)^N exp(−z k) / (1 − exp(−z)),   z = λ + iω.

Replacing the mean by that over L equidistant ω gives Σ_r P(S >= k + rL) exp(λ r L), all of whose
terms are positive. So the result is never less than P(S >= k), and with the λ and L chosen here it
is larger by less than 1e-12 of it. λ is the saddle point, so nothing cancels, however small the
tail.
|M|^N vanishes away from ω = 0 (and ω = π, if 0 is a rare score), so 129 of the L points carry the
whole sum, whatever N is. Summing binomials over the number of non-zero scores gives the same
figures at a cost that grows with N.

The mean of the score is ``mean`` and P(score != 0) is ``nonzero``; M is linear in the latter,
which is what bounds the tail between two values of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from easeci.bounds.arrays import ComplexArray, FloatArray
from easeci.bounds.binomial import log_cdf, log_sf

_LOW = np.arange(65.0)
_HIGH = np.arange(63.0, -1.0, -1.0)


@dataclass(frozen=True)
class Circle:
    """The points of the sum: z = tilt + 2πi j / points for the j that matter, with weights."""

    tilt: FloatArray
    points: FloatArray
    around_pi: bool = True
    """Whether the points next to ω = π contribute to the sum."""

    def omega(self) -> FloatArray:
        """The angles ω of the points."""
        half = self.points[..., None] / 2.0
        j = np.broadcast_to(_LOW, (*self.points.shape, _LOW.size))
        if self.around_pi:
            j = np.concatenate([j, half - _HIGH], axis=-1)
        return np.asarray(j * (np.pi / half), dtype=np.float64)

    def weight(self) -> FloatArray:
        """The weights of the points; those other than 0 and π include their mirror images."""
        weight = np.full(_LOW.size + _HIGH.size, 2.0)
        weight[[0, -1]] = 1.0
        if not self.around_pi:
            weight = weight[: _LOW.size]
        return np.asarray(weight / self.points[..., None], dtype=np.float64)


class LatticeWalk(NamedTuple):
    """N scores with a mean, and the total that their sum is to reach; arrays of one shape."""

    sample_size: FloatArray
    total: FloatArray
    mean: FloatArray


def circle_for(walk: LatticeWalk, nonzero: FloatArray, steepest: float = 1500.0) -> Circle:
    """The circle through the saddle point, kept one standard deviation away from the pole at 0.

    For totals between the mean and N, both exclusive. No tilt is above ``steepest``.
    """
    n, k, mean = walk
    up, down, stay = (nonzero + mean) / 2.0, (nonzero - mean) / 2.0, 1.0 - nonzero
    x = k / n
    linear = x * stay
    root = np.sqrt(linear**2 + 4.0 * up * down * (1.0 - x * x))
    with np.errstate(divide="ignore", invalid="ignore"):
        # Two forms of one root of a quadratic: each avoids subtracting nearly equal numbers.
        tilt = np.where(
            linear >= 0.0,
            np.log(linear + root) - np.log(2.0 * up * (1.0 - x)),
            np.log(2.0 * down * (1.0 + x)) - np.log(root - linear),
        )
    tilt = np.clip(np.nan_to_num(tilt, nan=0.0), 0.0, steepest)
    tilt = np.maximum(tilt, 1.0 / np.maximum(_deviation(n, mean, nonzero, tilt), 1.0))
    sd = _deviation(n, mean, nonzero, tilt)
    # Images at distance L weigh exp(−λL) / P(S >= k) on one side, a Gaussian tail on the other.
    reach = np.where(tilt * sd < 9.0, 36.0 / tilt + tilt * sd**2 / 2.0, 9.0 * sd) + 60.0
    points = 2.0 * np.ceil(np.maximum(np.maximum(reach, 9.0 * sd + 60.0), 256.0) / 2.0)
    return Circle(tilt, points)


class Tilted(NamedTuple):
    """The law of a score, tilted by exp(tilt · score), and ln M(tilt)."""

    up: FloatArray
    down: FloatArray
    stay: FloatArray
    log_scale: FloatArray


def _tilted(mean: FloatArray, nonzero: FloatArray, tilt: FloatArray) -> Tilted:
    up, down = np.maximum(nonzero + mean, 0.0) / 2.0, np.maximum(nonzero - mean, 0.0) / 2.0
    # ln M is multiplied by N: near M = 1 it needs all digits, so it comes from the excess.
    excess = up * np.expm1(np.minimum(tilt, 30.0)) + down * np.expm1(-tilt)
    with np.errstate(divide="ignore"):
        up, down = np.exp(np.log(up) + tilt), np.exp(np.log(down) - tilt)
    stay = np.maximum(1.0 - nonzero, 0.0)
    total = up + down + stay
    near = (np.abs(excess) < 0.5) & (tilt < 30.0)
    log_scale = np.where(near, np.log1p(np.maximum(excess, -0.5)), np.log(total))
    return Tilted(up / total, down / total, stay / total, log_scale)


def _deviation(
    n: FloatArray, mean: FloatArray, nonzero: FloatArray, tilt: FloatArray
) -> FloatArray:
    law = _tilted(mean, nonzero, tilt)
    variance = law.stay * (law.up + law.down) + 4.0 * law.up * law.down
    return np.asarray(np.sqrt(n * variance))


def _shortened(circle: Circle, walk: LatticeWalk, *nonzero: FloatArray) -> Circle:
    """The circle without the points next to π, if |M|^N is 0 there in floating point.

    There sin²(ω/2) >= ½, so that |M(z)/M(λ)|² is at most 1 − 2·stay·(up + down).
    """
    for q in nonzero:
        stay = _tilted(walk.mean, q, circle.tilt).stay
        if np.any(walk.sample_size * np.log1p(-2.0 * stay * (1.0 - stay)) > -1600.0):
            return circle
    return replace(circle, around_pi=False)


def _log_power(
    walk: LatticeWalk, nonzero: FloatArray, circle: Circle
) -> tuple[FloatArray, FloatArray]:
    """ln |M(z)^N exp(−zk)| and its angle, at the points of the circle."""
    omega = circle.omega()
    law = _tilted(walk.mean, nonzero, circle.tilt)
    up, down, stay = (part[..., None] for part in law[:3])
    half, sine = np.sin(omega / 2.0), np.sin(omega)
    # 1 − |M(z)/M(λ)|², written so that small ω lose no digits.
    loss = 4.0 * (stay * (up + down) * half**2 + up * down * sine**2)
    with np.errstate(divide="ignore"):
        modulus = 0.5 * np.log1p(-np.minimum(loss, 1.0))
    angle = np.arctan2((up - down) * sine, 1.0 - 2.0 * (up + down) * half**2)
    n, k = walk.sample_size[..., None], walk.total[..., None]
    start = (walk.sample_size * law.log_scale - circle.tilt * walk.total)[..., None]
    return np.asarray(start + n * modulus), np.asarray(n * angle - k * omega)


def _pole(circle: Circle) -> ComplexArray:
    """1 / (1 − exp(−z))."""
    omega, tilt = circle.omega(), circle.tilt[..., None]
    shrunk = np.exp(-tilt)
    real = -np.expm1(-tilt) + shrunk * 2.0 * np.sin(omega / 2.0) ** 2
    return np.asarray(1.0 / (real + 1j * shrunk * np.sin(omega)), dtype=np.complex128)


def log_tail(walk: LatticeWalk, nonzero: FloatArray) -> FloatArray:
    """ln P(S >= total), elementwise; the arrays have one shape.

    Accuracy: 1e-11 of the probability, and 1e-16·N where that is more.
    """
    n, k, mean = walk
    below = k <= n * mean
    # At or below the mean: the complement, which is an upper tail of −S.
    mirrored = LatticeWalk(n, np.where(below, 1.0 - k, k), np.where(below, -mean, mean))
    result = _log_upper_tail(mirrored, nonzero)
    with np.errstate(divide="ignore"):
        complement = np.log1p(-np.exp(np.minimum(result[below], 0.0)))
    result[below] = complement
    return np.minimum(result, 0.0)


def _log_upper_tail(walk: LatticeWalk, nonzero: FloatArray) -> FloatArray:
    """``log_tail`` for totals above the mean."""
    n, k, mean = walk
    up, down = (nonzero + mean) / 2.0, (nonzero - mean) / 2.0
    result = np.where(k > n, -np.inf, 0.0)
    with np.errstate(divide="ignore"):
        result = np.where(k == n, n * np.log(np.maximum(up, 0.0)), result)
    within = (k < n) & (k > -n)
    only_up, only_down = within & (down <= 0.0), within & (up <= 0.0) & (down > 0.0)
    result[only_up] = log_sf(k[only_up] - 1.0, n[only_up], up[only_up])
    result[only_down] = log_cdf(-k[only_down], n[only_down], down[only_down])
    both = within & (up > 0.0) & (down > 0.0)
    if both.any():
        inner = LatticeWalk(n[both], k[both], mean[both])
        circle = _shortened(circle_for(inner, nonzero[both]), inner, nonzero[both])
        modulus, angle = _log_power(inner, nonzero[both], circle)
        top = modulus[..., 0]
        pole = _pole(circle)
        # Real parts alone: complex arithmetic takes several times as long.
        terms = np.exp(modulus - top[..., None]) * (
            np.cos(angle) * pole.real - np.sin(angle) * pole.imag
        )
        # Below the smallest normal float the probabilities of the scores have no digits left.
        total = np.maximum(np.sum(terms * circle.weight(), axis=-1), 1e-300)
        result[both] = top + np.log(total)
    return result


class TailCell(NamedTuple):
    """A tail T(q) for q in [low, high], all relative to exp(log_scale)."""

    at_low: FloatArray
    at_high: FloatArray
    slope_low: FloatArray
    slope_high: FloatArray
    curvature: FloatArray
    """No |T''| inside is larger than this."""
    log_scale: FloatArray


def tail_between(walk: LatticeWalk, low: FloatArray, high: FloatArray) -> TailCell:
    """Values, slopes and curvature that bound P(S >= total) for ``nonzero`` in [low, high].

    M(z) is linear in q = ``nonzero``, with the slope cosh z − 1. So each term of the finite sum
    has the derivatives (N (cosh z − 1) / M) and N (N−1) ((cosh z − 1) / M)² times itself, and
    |M| is largest at an end of the cell. For totals above the mean, and below N.
    """
    circle = circle_for(walk, high, steepest=300.0)
    omega, tilt = circle.omega(), circle.tilt[..., None]
    n, k, mean = (part[..., None] for part in walk)
    cosine, sine = np.cos(omega), np.sin(omega)
    # M(z) = 1 + q (cosh z − 1) + Φ sinh z, in real arithmetic: it is several times faster.
    slope_of_m = (np.cosh(tilt) * cosine - 1.0) + 1j * (np.sinh(tilt) * sine)
    offset = 1.0 + mean * (np.sinh(tilt) * cosine + 1j * np.cosh(tilt) * sine)
    kernel = _pole(circle) * circle.weight()
    ends = [offset + q[..., None] * slope_of_m for q in (low, high)]
    with np.errstate(divide="ignore"):
        moduli = [0.5 * np.log(m.real**2 + m.imag**2) for m in ends]
    shift = k * tilt + (n * moduli[1] - k * tilt)[..., :1]
    values, slopes = [], []
    for m, modulus in zip(ends, moduli, strict=True):
        angle = n * np.arctan2(m.imag, m.real) - k * omega
        term = np.exp(n * modulus - shift) * (np.cos(angle) + 1j * np.sin(angle)) * kernel
        values.append(term.real.sum(axis=-1))
        with np.errstate(divide="ignore", invalid="ignore"):
            # Where M = 0 the term and its slope vanish, unless N = 1, where all is linear.
            slope = np.nan_to_num((term * slope_of_m / m).real)
        slopes.append(walk.sample_size * slope.sum(axis=-1))
    power = np.exp(np.maximum(n - 2.0, 0.0) * np.maximum(*moduli) - shift)
    curve = n * (n - 1.0) * np.abs(slope_of_m) ** 2 * power * np.abs(kernel)
    log_scale = (shift - k * tilt)[..., 0]
    return TailCell(values[0], values[1], slopes[0], slopes[1], curve.sum(axis=-1), log_scale)


def log_envelope(
    sample_size: float, share: float, mean: float, lowest: float, highest: float
) -> float:
    """ln of a bound on P(S >= share·N') for every N' >= N and every ``nonzero`` in the range.

    The finite sum with its terms replaced by their moduli, at the λ and L of N: as
    |M(z)| exp(−λ·share) < 1 at every point, each term falls with N'. |M| is largest at an end of
    the range. For shares above the mean and below 1; 0 where the bound says nothing.
    If the range is one point, the sum itself is used where it qualifies (``_falling_sum``): it is
    smaller.
    Assumptions: independent scores in {−1, 0, +1}. Sides: one. Rounding: up.
    """
    size = np.array([sample_size])
    walk = LatticeWalk(size, share * size, np.array([mean]))
    circle = circle_for(walk, np.array([highest]))
    circle = _shortened(circle, walk, np.array([lowest]), np.array([highest]))
    ends = [_log_power(walk, np.array([q]), circle) for q in dict.fromkeys((lowest, highest))]
    modulus = np.max([end[0] for end in ends], axis=0)
    if modulus.max() >= 0.0:
        return 0.0
    if len(ends) == 1:
        total = _falling_sum(circle, modulus[0], ends[0][1][0], sample_size)
        if total is not None:
            return float(min(0.0, modulus[0, 0] + np.log(total)))
    terms = np.exp(modulus - modulus.max()) * np.abs(_pole(circle)) * circle.weight()
    return float(min(0.0, modulus.max() + np.log(terms.sum())))


def _falling_sum(
    circle: Circle, modulus: FloatArray, angle: FloatArray, sample_size: float
) -> float | None:
    """The finite sum relative to its term at ω = 0, if no larger N' makes it larger; or None.

    Let T be the sum, exp(−Nr) that term, and N' = N + m, ⌈share·N'⌉ = share·N' + f. Each term
    changes by the factor exp(−mr − λf) · exp(m(g + r) − iωf), where exp(Ng) is the term's power
    at N. As g + r has no positive real part, the second factor is off 1 by at most
    m|g + r| + f|ω|. If the terms' moduli, weighted by |g + r|, add up to at most r·T, and weighted
    by |ω| to at most λ·T, the new sum is at most T · exp(−y) (1 + y), y = mr + λf: never above T.
    """
    rate, tilt = -float(modulus[0]) / sample_size, float(circle.tilt[0])
    pole, omega = _pole(circle)[0], circle.omega()[0]
    relative = np.exp(modulus - modulus[0]) * circle.weight()[0]
    total = float(np.sum(relative * (np.cos(angle) * pole.real - np.sin(angle) * pole.imag)))
    sizes = relative * np.abs(pole)
    turning = float(np.sum(sizes * np.hypot(modulus - modulus[0], angle))) / sample_size
    if total <= 0.0 or turning > rate * total or float(sizes @ omega) > tilt * total:
        return None
    return total
