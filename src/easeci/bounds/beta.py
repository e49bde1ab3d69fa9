"""The regularised incomplete beta function in logarithms: every binomial tail is one.

``P(X >= k)`` for ``X ~ Binomial(N, p)`` is ``I_p(k, N − k + 1)``. Levels such as δ / 2^steps leave
the range of floats, so the logarithm is what is computed: with ``scipy.special.betainc`` where
that is in range, and with its continued fraction in logarithms where it is not.

scipy is imported at the first tail, because importing it takes a quarter of a command's time and
only plans and exact limits need it.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from easeci.bounds.arrays import FloatArray

SMALLEST_TRUSTED = 1e-280
"""Below this, ``betainc`` is near the smallest float, so we use the continued fraction."""

_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


def log_incomplete_beta(a: npt.ArrayLike, b: npt.ArrayLike, x: npt.ArrayLike) -> FloatArray:
    """ln I_x(a, b), elementwise, for a, b > 0 and 0 <= x <= 1; −∞ only where I is truly 0.

    Accuracy: about 1e-12 of the probability (not only of its logarithm) for a + b up to 1e5 and
    1e-9 up to 1e7, from probabilities of exp(−1e6) up to 1.
    Source: DLMF 8.17; the continued fraction is 8.17.22, evaluated by Lentz's method.
    """
    from scipy.special import betainc

    a, b, x = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (a, b, x)))
    value = np.asarray(betainc(a, b, x), dtype=np.float64)
    with np.errstate(divide="ignore"):
        result = np.array(np.log(value))
    # Near 1 the complement carries the digits, if 1 − x is not 1 itself.
    high = (value > 0.5) & (x > 1e-16)
    if high.any():
        result[high] = np.log1p(-betainc(b[high], a[high], 1.0 - x[high]))
    low = (value < SMALLEST_TRUSTED) & (x > 0.0)
    if low.any():
        result[low] = _log_by_continued_fraction(a[low], b[low], x[low])
    return result


def _log_by_continued_fraction(a: FloatArray, b: FloatArray, x: FloatArray) -> FloatArray:
    """ln I_x(a, b) for x far below a / (a + b), where the fraction converges in a few terms."""
    n = a + b
    tiny = 1e-300
    c = np.ones_like(x)
    d = 1.0 / (1.0 - n * x / (a + 1.0))
    fraction = d.copy()
    for m in range(1, 10_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (n + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 + term * d
            c = 1.0 + term / c
            d = 1.0 / np.where(np.abs(d) < tiny, tiny, d)
            c = np.where(np.abs(c) < tiny, tiny, c)
            fraction *= d * c
        if np.all(np.abs(d * c - 1.0) < 1e-14):
            break
    prefactor = _log_binomial_term(a, b, x) + np.log(b / n)
    return np.asarray(prefactor + np.log(fraction), dtype=np.float64)


def _log_binomial_term(a: FloatArray, b: FloatArray, x: FloatArray) -> FloatArray:
    """ln of Γ(n+1) / (Γ(a+1) Γ(b+1)) · x^a (1−x)^b with n = a + b.

    Loader's form: deviances and small Stirling corrections, because the difference of three
    gamma functions of size N ln N would lose as many digits as N has.
    """
    n = a + b
    return np.asarray(
        -_deviance(a, n * x)
        - _deviance(b, n * (1.0 - x))
        + _stirling_error(n)
        - _stirling_error(a)
        - _stirling_error(b)
        + 0.5 * np.log(n / (a * b))
        - _HALF_LOG_TWO_PI,
        dtype=np.float64,
    )


def _deviance(y: FloatArray, m: FloatArray) -> FloatArray:
    """y ln(y / m) − y + m, for y > 0 and m >= 0 (infinite at m = 0)."""
    with np.errstate(divide="ignore", over="ignore"):
        ratio = (y - m) / m
        logarithm = np.where(ratio < 0.5, np.log1p(ratio), np.log(y) - np.log(m))
    return np.asarray(y * logarithm - (y - m), dtype=np.float64)


def _stirling_error(y: FloatArray) -> FloatArray:
    """ln Γ(y+1) − [(y + ½) ln y − y + ½ ln 2π], for y > 0."""
    from scipy.special import gammaln

    large = np.maximum(y, 16.0)
    inverse_square = 1.0 / (large * large)
    series = (
        1.0 / 12.0
        - inverse_square * (1.0 / 360.0 - inverse_square * (1.0 / 1260.0 - inverse_square / 1680.0))
    ) / large
    small = np.minimum(y, 16.0)
    direct = gammaln(small + 1.0) - ((small + 0.5) * np.log(small) - small + _HALF_LOG_TWO_PI)
    return np.asarray(np.where(y < 16.0, direct, series), dtype=np.float64)
