"""Exact tails, limits and sample sizes for one Bernoulli variable, such as the accuracy ``n``.

Two questions about the number X of successes among N examples, each with probability p:

``deviation_…``  how far the observed share may lie above p, whatever p is;
``contract_…``   how many examples tell "p <= threshold" from "p >= threshold + 2·tolerance".

After the examples were seen, ``lower_limit`` and ``upper_limit`` bound p. Everything here is
one-sided; for the other side count failures instead of successes (p becomes 1 − p).
Probabilities are natural logarithms.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from easeci.bounds.arrays import BoolArray, FloatArray, IntArray
from easeci.bounds.beta import log_incomplete_beta
from easeci.bounds.bound import require_level
from easeci.bounds.contract import contract_target, require_tolerance
from easeci.bounds.hoeffding import Hoeffding
from easeci.bounds.search import excess, first_lasting, last_within, smallest

_SMALLEST_FLOAT = 5e-324
_SMALLEST_LOG = math.log(_SMALLEST_FLOAT)
_LOG_HALF = math.log(0.5) - 1e-9


# --- tails -------------------------------------------------------------------------------------


def log_sf(successes: npt.ArrayLike, sample_size: npt.ArrayLike, p: npt.ArrayLike) -> FloatArray:
    """ln P(X > successes) for X ~ Binomial(sample_size, p), elementwise, without underflow."""
    k, n, p = np.broadcast_arrays(np.asarray(successes), np.asarray(sample_size), np.asarray(p))
    inside = (k >= 0) & (k < n)
    result = np.where(k < 0, 0.0, -np.inf)
    result[inside] = log_incomplete_beta(k[inside] + 1.0, n[inside] - k[inside], p[inside])
    return result


def log_cdf(successes: npt.ArrayLike, sample_size: npt.ArrayLike, p: npt.ArrayLike) -> FloatArray:
    """ln P(X <= successes) for X ~ Binomial(sample_size, p), elementwise, without underflow."""
    n, p = np.asarray(sample_size), np.asarray(p, dtype=np.float64)
    # At most k successes are at least n − k failures.
    return log_sf(n - np.asarray(successes) - 1, n, 1.0 - p)


# --- limits for p from what was observed -------------------------------------------------------


def lower_limit(successes: int, sample_size: int, log_alpha: float) -> float:
    """The Clopper–Pearson lower limit: p is at least this, except with probability alpha.

    Claim: for every p, P(lower_limit(X) > p) <= alpha; it is the largest c at which
    P(X >= successes | c) <= alpha, so every smaller p is rejected by the exact test.
    Assumptions: independent examples, each a success with the same p.
    Sides: one. Rounding: down, and 0 where the limit leaves the range of floats.
    Source: C. Clopper, E. Pearson, The use of confidence or fiducial limits, 1934.
    """
    _require_counts(successes, sample_size)
    require_level(log_alpha)
    if successes == 0:
        return 0.0

    def above(log_p: float) -> float:
        return excess(float(log_sf(successes - 1, sample_size, math.exp(log_p))), log_alpha)

    # Search in ln p, because the limit may be a tiny number close to 0.
    share, reach = successes / sample_size, _hoeffding_reach(sample_size, log_alpha)
    inside = math.log(share - reach) if share > reach else _SMALLEST_LOG
    outside = math.log(share) if log_alpha < _LOG_HALF else 0.0
    limit = math.exp(last_within(above, inside, outside))
    return limit if limit > _SMALLEST_FLOAT else 0.0


def upper_limit(successes: int, sample_size: int, log_alpha: float) -> float:
    """The Clopper–Pearson upper limit: p is at most this, except with probability alpha.

    Claim: for every p, P(upper_limit(X) < p) <= alpha; it is the smallest c at which
    P(X <= successes | c) <= alpha. Assumptions and source as for ``lower_limit``.
    Sides: one. Rounding: up, and 1 where the limit can't be told from 1.
    """
    _require_counts(successes, sample_size)
    require_level(log_alpha)
    if successes == sample_size:
        return 1.0

    def above(p: float) -> float:
        return excess(float(log_cdf(successes, sample_size, p)), log_alpha)

    share = successes / sample_size
    inside = min(1.0, share + _hoeffding_reach(sample_size, log_alpha))
    return last_within(above, inside, share if log_alpha < _LOG_HALF else 0.0)


def _hoeffding_reach(sample_size: int, log_alpha: float) -> float:
    """How far a limit can be from the observed share, by Hoeffding's inequality.

    At levels below ½ a limit never lies beyond the share itself, because k successes are a median
    if the true share is k/N.
    """
    return Hoeffding(sides=1).tolerance(sample_size, log_alpha) * (1.0 + 1e-9)


# --- the deviation form ------------------------------------------------------------------------


def deviation_tail(sample_size: int, tolerance: float) -> float:
    """ln sup_p P(X/N − p > tolerance), exact except for useless tolerances (see below).

    Claim: no p makes the observed share exceed it by more than the tolerance with a larger
    probability, and some p come arbitrarily close.
    Between two points where the set of exceeding k changes, P(X >= k | p) grows with p, so the
    supremum is max_k T(k) with T(k) = P(X >= k | k/N − tolerance), over tolerance·N < k <= N.
    For a tolerance below 2/N with N > 10,000, where the probability exceeds 0.4, it returns 0,
    that is, a probability of 1.
    Assumptions: independent examples, each a success with the same p.
    Sides: one; by symmetry the same for p − X/N. Rounding: none but the arithmetic's.
    Source: J. Langford, Tutorial on practical prediction theory for classification, 2005.
    """
    require_tolerance(tolerance)
    if tolerance >= 1.0:
        return -math.inf
    lowest = _lowest_exceeding(sample_size, tolerance)
    if sample_size * tolerance < _UNIMODAL_FROM:
        if sample_size > _ASK_ALL_UP_TO:
            return 0.0
        ks = np.arange(lowest, sample_size + 1, dtype=np.float64)
        return float(np.max(_deviation_terms(ks, sample_size, tolerance)))
    peak = float(_peak(lowest, sample_size, tolerance))
    return float(_deviation_terms(peak, sample_size, tolerance))


def deviation_sample_size(tolerance: float, log_delta: float) -> int:
    """The smallest N such that every N' >= N has ``deviation_tail(N', tolerance) <= log_delta``.

    How "every" is certified. For real a write T(a) = I_{a/N−ε}(a, N−a+1); whole a are the terms
    of ``deviation_tail``. For a fixed share x = a/N above p, I_p(xN, (1−x)N+1) falls as N
    grows (see ``contract_sample_size``), so sup_x is a falling envelope of the tail: if the
    envelope is below delta at one N, so it is at all larger ones. Below that N, each is checked.
    Sides, assumptions, source as for ``deviation_tail``. Rounding: up.
    """
    require_tolerance(tolerance)
    require_level(log_delta)
    if tolerance >= 1.0:
        return 1
    low = math.ceil(_UNIMODAL_FROM / tolerance)
    high = max(low, Hoeffding().sample_size(tolerance, log_delta))
    certified = smallest(lambda n: _deviation_envelope(n, tolerance) <= log_delta, low, high)

    def qualify(sizes: IntArray, _: IntArray) -> BoolArray:
        return np.array([deviation_tail(int(n), tolerance) <= log_delta for n in sizes])

    return first_lasting(certified, qualify, chunk=4, widest=1)


def deviation_tolerance(sample_size: int, log_delta: float) -> float:
    """The smallest tolerance with ``deviation_tail(sample_size, tolerance) <= log_delta``.

    Sides, assumptions, source as for ``deviation_tail``. Rounding: up.
    """
    require_level(log_delta)
    enough = min(1.0, Hoeffding().tolerance(sample_size, log_delta))

    def above(epsilon: float) -> float:
        return excess(deviation_tail(sample_size, epsilon), log_delta)

    found = last_within(above, enough, min(enough, _UNIMODAL_FROM / sample_size))
    if found * sample_size > _UNIMODAL_FROM:
        return found
    return last_within(above, found, 1e-300)


_UNIMODAL_FROM = 2.0
"""N·ε from which T rises and then falls in k, so that its peak can be searched for.

T(k+1) − T(k) has the sign of R − 1 with, for P = k − Nε, Q = N − P and η = Nε,
R = ∫_0^1 (1 − η/Q) (1 + y/P)^(P+η) (1 − y/Q)^(Q−η−1) dy. Differentiating under the integral,
with ln(1+u) <= u(2+u)/(2+2u) and its mirror image, d ln R / dk is at most the mean, in a law
on [0, 1] whose log-density rises by at most η/P + (η+1)/Q, of
y(η+1−y/2)/(Q(Q−y)) − η/(Q(Q−η)) − y(η−y/2)/(P(P+y)). That is negative for η >= 2: term by term
if Q <= 2η² − η or P <= Q − 1, and otherwise because the law is then so close to uniform that
the mean of y is below ½ + 1/(12(η−1)). So R falls in k, and T has one peak.
"""


_ASK_ALL_UP_TO = 10_000


def _deviation_terms(k: npt.ArrayLike, sample_size: int, tolerance: float) -> FloatArray:
    k = np.asarray(k, dtype=np.float64)
    return log_incomplete_beta(
        k, sample_size - k + 1.0, np.clip(k / sample_size - tolerance, 0.0, 1.0)
    )


def _lowest_exceeding(sample_size: int, tolerance: float) -> int:
    return min(math.floor(sample_size * tolerance) + 1, sample_size)


def _peak(lowest: int, sample_size: int, tolerance: float) -> int:
    def falls(k: int) -> bool:
        here, there = _deviation_terms([k, k + 1], sample_size, tolerance)
        return bool(there <= here)

    return smallest(falls, lowest, sample_size)


def _deviation_envelope(sample_size: int, tolerance: float, cells: int = 256) -> float:
    """An upper bound of ln sup T(a) over real a, tight to a fraction of one step of N.

    As T(a+1) <= T(a) from the peak on and T(a+1) > T(a) before it, the supremum lies within one
    of the peak. There, I_p(a, b) grows with p and b and falls with a, which bounds each cell.
    """
    peak = _peak(_lowest_exceeding(sample_size, tolerance), sample_size, tolerance)
    edges = np.linspace(peak - 1.0, min(peak + 1.0, float(sample_size)), cells + 1)
    left, right = np.maximum(edges[:-1], 1e-9), edges[1:]
    p = np.clip(right / sample_size - tolerance, 0.0, 1.0)
    return float(np.max(log_incomplete_beta(left, sample_size - left + 1.0, p)))


# --- the contract form -------------------------------------------------------------------------


def cutoff(sample_size: int, threshold: float, log_alpha: float) -> int:
    """The smallest k with P(X >= k | p = threshold) <= alpha; N + 1 if no k <= N will do.

    Claim: passing when X >= k is wrong (p <= threshold) with probability at most alpha.
    Assumptions: independent examples, each a success with the same p.
    Sides: one. Rounding: up. Source: the exact binomial test.
    """
    require_level(log_alpha)
    return int(_cutoffs(np.array([sample_size]), threshold, log_alpha)[0])


def contract_sample_size(
    threshold: float, tolerance: float, log_alpha: float, log_beta: float
) -> int:
    """The smallest N such that every N' >= N has a cut-off k that keeps both promises.

    Claim: P(X >= k | p) <= alpha for p <= threshold, and P(X < k | p) <= beta for
    p >= threshold + 2·tolerance.
    Assumptions: independent examples; 0 <= threshold and threshold + 2·tolerance <= 1.
    Sides: safety needs the upper tail at the threshold, sensitivity the lower tail beyond it.
    Rounding: up.

    How "every" is certified. For x > p, I_p(xN, (1−x)N+1) falls as real N grows: with
    w(t) = t^x (1−t)^(1−x) it is the share of [0, p] under the density w^N / t, so its logarithm
    has the derivative E[ln w | t <= p] − E[ln w]. In terms of y = ln w, the branches t < x < t'
    of w have densities e^(Ny) (1−t)/(x−t) and e^(Ny) (1−t')/(t'−x); the second over the first
    rises with y, for (t−x)²/t, which vanishes on both at t = x, moves with KL(x, t) at the rate
    (1−t)(1+x/t), and that falls with t. So [0, p] holds lower y than the whole, and the
    derivative is negative. Hence the real cut-off κ with I_c(κ, N−κ+1) = alpha has κ/N falling,
    and "P(X <= κ)" beyond the zone falls too; it bounds P(X < k), k = ⌈κ⌉, from above, and
    nearly touches it in the worst case. Below the N where that envelope meets beta, spans of N
    are checked: P(X >= k) rises with N for a fixed k, and P(X < k) falls.
    Source: the exact binomial test.
    """
    require_level(log_alpha)
    require_level(log_beta)
    target = contract_target(threshold, tolerance, 0.0, 1.0)
    high = max(Hoeffding().sample_size(tolerance, min(log_alpha, log_beta)), 1)
    # The envelope is smooth in real N, so a secant method needs only a few steps.
    certified = math.ceil(
        last_within(
            lambda n: _contract_envelope(n, threshold, target, log_alpha) - log_beta,
            float(high),
            1.0,
            slack=1e-6,
        )
    )

    def qualify(lows: IntArray, highs: IntArray) -> BoolArray:
        # As N grows, a fixed k gets less safe and is missed less: check each at its worst end.
        k = _cutoffs(highs, threshold, log_alpha)
        return np.asarray(log_cdf(k - 1, lows, target) <= log_beta)

    return first_lasting(certified, qualify)


def _cutoffs(sizes: IntArray, threshold: float, log_alpha: float) -> IntArray:
    # A median is at least the whole part of the mean; at Hoeffding's cut-off the tail is small.
    low = np.floor(sizes * threshold) if log_alpha < -math.log(2.0) else np.zeros(sizes.shape)
    high = np.ceil(sizes * threshold + np.sqrt(-0.5 * log_alpha * sizes)) + 1.0
    low, high = np.maximum(low - 1.0, 0.0), np.minimum(high, sizes + 1.0)
    while np.any(low < high):
        middle = np.floor((low + high) / 2.0)
        safe = log_sf(middle - 1, sizes, threshold) <= log_alpha
        high = np.where(safe, middle, high)
        low = np.where(safe, low, middle + 1)
    return np.asarray(high, dtype=np.int64)


def _contract_envelope(n: float, threshold: float, target: float, log_alpha: float) -> float:
    """ln of a bound on P(X < k) beyond the zone that falls with N; 0 if there is no cut-off."""

    def above(kappa: float) -> float:
        tail = float(log_incomplete_beta(kappa, n - kappa + 1.0, threshold))
        return excess(tail, log_alpha)

    if above(n) > 0.0:
        return 0.0
    likely = threshold * n + math.sqrt(-0.5 * log_alpha * n) + 1.0
    safe = likely if likely < n and above(likely) <= 0.0 else n
    kappa = last_within(above, safe, max(threshold * n, 1e-9), slack=1e-10)
    if kappa > target * n:
        return 0.0
    if kappa == n:
        return -math.inf if target == 1.0 else 0.0
    return float(log_incomplete_beta(n - kappa, kappa + 1.0, 1.0 - target))


def _require_counts(successes: int, sample_size: int) -> None:
    if not 0 <= successes <= sample_size or sample_size < 1:
        raise ValueError(f"need 0 <= successes <= sample size, got {successes} of {sample_size}")
