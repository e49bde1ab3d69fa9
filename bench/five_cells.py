"""A frozen copy of the evidence over five cells, as it was before alphabets of outcomes.

:mod:`bench.evidence` times the evidence of today against it. The arithmetic is exactly what
``easeci.evidence`` had: running counts, and a look only into blocks that may hold a crossing. The
number of cells has become a parameter, so that the same code can count any number of outcomes.
Everything that the timing does not need was left out. Don't speed up anything here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[Any]

BLOCK = 256
CHUNK = 256 * BLOCK
ROUNDING = 1e-9

CAUTION = 0.5
SPREAD = 0.9
MARGIN = 1e-12

TILTS = (1.2, 2.5)
TILT_WEIGHTS = (0.45, 0.3)
FAR_TILT = 6.0
FAR_WEIGHT = 0.03
NO_TILT = 1.0 - sum(TILT_WEIGHTS) - FAR_WEIGHT
RESOLUTION = 0.25
FINEST = 25_000_000


@dataclass(frozen=True)
class CountedEvidence:
    """ln of the evidence against a hypothesis, as a function of running counts of cells.

    ``log_weights`` has shape (rows, bets), ``log_factors`` (rows, bets, cells).
    """

    log_weights: Floats
    log_factors: Floats

    @property
    def cells(self) -> int:
        return int(self.log_factors.shape[2])

    def after(self, counts: Floats) -> Floats:
        """ln of the evidence after examples with these counts, shape (times, cells)."""
        return np.asarray(self._rows_after(counts).min(axis=1))

    def first_crossing(self, codes: Codes, log_target: float) -> int | None:
        """After how many examples the evidence first reaches the target; None if it doesn't."""
        target = log_target + ROUNDING
        seen = np.zeros(self.cells)
        if self.after(seen[None, :])[0] >= target:
            return 0
        for start, chunk in _chunks(codes):
            crossing = self._crossing_in(chunk, seen, target)
            if crossing is not None:
                return start + crossing
            seen = seen + np.bincount(chunk, minlength=self.cells)[: self.cells]
        return None

    def _rows_after(self, counts: Floats) -> Floats:
        """ln of each row's mixture, shape (times, rows)."""
        rows, bets = self.log_weights.shape
        flat = _totals(counts, self.log_factors.reshape(rows * bets, self.cells))
        return _log_sums(flat.reshape(-1, rows, bets) + self.log_weights)

    def _crossing_in(self, chunk: Codes, seen: Floats, target: float) -> int | None:
        """The first crossing within a chunk, looking only into blocks that may hold one."""
        row = int(self._rows_after(seen[None, :])[0].argmin())
        inside = _block_counts(chunk, self.cells)
        before = seen + np.cumsum(inside, axis=0) - inside
        # An upper bound within each block: all of its gains and none of its losses.
        factors = self.log_factors[row]
        reach = _totals(before, factors) + _totals(inside, np.maximum(factors, 0.0))
        for block in np.flatnonzero(_log_sums(reach + self.log_weights[row]) >= target):
            part = slice(block * BLOCK, (block + 1) * BLOCK)
            crossing = self._crossing_in_block(chunk[part], before[block], target)
            if crossing is not None:
                return int(block) * BLOCK + crossing
        return None

    def _crossing_in_block(self, codes: Codes, before: Floats, target: float) -> int | None:
        # Check the row that is least at the start; the others matter only where it crosses.
        row = int(self._rows_after(before[None, :])[0].argmin())
        counts = before + _running_counts(codes, self.cells)
        values = _log_sums(_totals(counts, self.log_factors[row]) + self.log_weights[row])
        times = np.flatnonzero(values >= target)
        if not len(times):
            return None
        crossed = np.flatnonzero(self.after(counts[times]) >= target)
        return int(times[crossed[0]]) + 1 if len(crossed) else None


def _chunks(codes: Codes) -> Iterator[tuple[int, Codes]]:
    for start in range(0, len(codes), CHUNK):
        yield start, codes[start : start + CHUNK]


def _block_counts(chunk: Codes, cells: int) -> Floats:
    """How many examples of each cell every block has, shape (blocks, cells)."""
    whole = len(chunk) // BLOCK
    table = chunk[: whole * BLOCK].reshape(whole, BLOCK)
    columns = [np.count_nonzero(table == cell, axis=1) for cell in range(cells)]
    counts = np.stack(columns, axis=1)
    if len(chunk) > whole * BLOCK:
        rest = np.bincount(chunk[whole * BLOCK :], minlength=cells)[:cells]
        counts = np.vstack([counts, rest])
    return counts.astype(np.float64)


def _running_counts(codes: Codes, cells: int) -> Floats:
    return np.cumsum(codes[:, None] == np.arange(cells), axis=0, dtype=np.float64)


def _totals(counts: Floats, factors: Floats) -> Floats:
    """Σ count · ln(factor) for every time and bet, shape (times, bets)."""
    total = np.zeros((len(counts), len(factors)))
    for cell in np.flatnonzero(factors.any(axis=0)):
        total += counts[:, cell, None] * factors[None, :, cell]
    return total


def _log_sums(values: Floats) -> Floats:
    """ln Σ exp over the last axis."""
    if values.shape[-1] == 1:
        return np.asarray(values[..., 0])
    top = values.max(axis=-1, keepdims=True)
    return np.asarray(np.log(np.exp(values - top).sum(axis=-1)) + top[..., 0])


@dataclass(frozen=True)
class Bets:
    """The means that bets are aimed at: multiples of the tolerance beyond the hypothesis."""

    multiples: tuple[float, ...]
    weights: tuple[float, ...]

    @property
    def log_weights(self) -> Floats:
        return np.asarray(np.log(np.array(self.weights)))


TWO_VALUES = Bets((1.1, 2.2, 4.4, 11.0), (0.57, 0.26, 0.11, 0.06))
"""The bets of a proof."""
MORE_VALUES = Bets(tuple(1.1 * 2.0**k for k in range(7)), (1.0 / 7.0,) * 7)
"""The bets on scores of unknown variance."""


@dataclass(frozen=True)
class MeanAtMost:
    """The hypothesis that the mean of ``scores`` is at most ``bound``.

    There is a score for each cell; None for cells whose examples don't count.
    """

    scores: tuple[float | None, ...]
    bound: float
    tolerance: float

    @property
    def values(self) -> list[float]:
        return sorted({score for score in self.scores if score is not None})


def evidence_on_all(hypothesis: MeanAtMost) -> CountedEvidence:
    """The evidence if every example counts."""
    values = hypothesis.values
    bets = TWO_VALUES if len(values) == 2 else MORE_VALUES
    means = np.array([hypothesis.bound + MARGIN * (values[-1] - values[0])])
    start = np.zeros((1, len(bets.multiples)))
    return _evidence_of_bets(hypothesis, bets, np.minimum(means, values[-1]), np.ones(1), start)


def evidence_on_differing(
    hypothesis: MeanAtMost, examples: int, differing: int, log_target: float
) -> CountedEvidence:
    """The evidence if only examples count on which the models differ; the bound is above 0."""
    bets, values = TWO_VALUES, hypothesis.values
    at, log_start = _disagreement_cases(hypothesis, bets, examples, differing, log_target)
    with np.errstate(divide="ignore"):
        means = np.where(at > 0.0, hypothesis.bound / at, math.inf)
    means = np.minimum(means + MARGIN * (values[-1] - values[0]), values[-1])
    kept = means > values[0]
    scale = 1.0 / np.maximum(at[kept], 1e-300)
    return _evidence_of_bets(hypothesis, bets, means[kept], scale, log_start[kept])


def _disagreement_cases(
    hypothesis: MeanAtMost, bets: Bets, examples: int, differing: int, log_target: float
) -> tuple[Floats, Floats]:
    """The hard end of each interval that d may be in, and its ln e(D) for each bet."""
    width = RESOLUTION / (2.0 * math.sqrt(min(examples, FINEST)))
    edges = np.arange(math.ceil(math.pi / 2.0 / width) + 1) * width
    shares = np.sin(np.minimum(edges, math.pi / 2.0)) ** 2
    hard, easy = shares[:-1], shares[1:]
    slopes = _expected_slopes(hypothesis, bets, examples, hard, log_target)
    log_start = _log_start_values(examples, differing, easy, slopes)
    centre = int(math.asin(math.sqrt(differing / examples)) / width)
    groups = _groups(centre, len(hard))
    hardest = np.minimum.reduceat(hard, groups)
    start = np.minimum.reduceat(log_start, groups, axis=0)
    open_cases = start.min(axis=1) < log_target + 1.0
    return hardest[open_cases], start[open_cases]


def _groups(centre: int, intervals: int) -> npt.NDArray[np.intp]:
    """The first interval of each group: groups get wider with the distance from the centre."""
    fine = round(4.0 / RESOLUTION)
    steps = np.concatenate(
        [np.arange(fine), fine + 4 * np.arange(fine), 5 * fine + 16 * np.arange(fine)]
    )
    starts = np.unique(np.concatenate([[0], centre - steps, centre + steps]))
    return starts[(starts >= 0) & (starts < intervals)].astype(np.intp)


def _expected_slopes(
    hypothesis: MeanAtMost, bets: Bets, examples: int, share: Floats, log_target: float
) -> Floats:
    relative = np.sqrt((1.0 - share) / np.maximum(share * examples, 0.25))
    reach = np.array(bets.multiples) * hypothesis.tolerance
    slopes = 2.0 * log_target * abs(hypothesis.bound) / reach[None, :] * relative[:, None]
    return np.asarray(np.minimum(slopes, FAR_TILT))


def _log_start_values(examples: int, differing: int, share: Floats, slopes: Floats) -> Floats:
    """ln e(D), valid for all d up to ``share``."""
    deviation = np.sqrt(np.maximum(share * (1.0 - share) * examples, 1.0))[:, None]
    tilts = [(weight, tilt * slopes) for weight, tilt in zip(TILT_WEIGHTS, TILTS, strict=True)]
    far = np.full(slopes.shape, FAR_TILT)
    total = np.full(slopes.shape, math.log(NO_TILT))
    for weight, tilt in [*tilts, (FAR_WEIGHT, far)]:
        theta = tilt / deviation
        log_mean = examples * np.log1p(share[:, None] * np.expm1(theta))
        total = np.logaddexp(total, math.log(weight) + theta * differing - log_mean)
    return total


def _evidence_of_bets(
    hypothesis: MeanAtMost, bets: Bets, means: Floats, scale: Floats, log_start: Floats
) -> CountedEvidence:
    values = hypothesis.values
    spread = 1.0 if len(values) == 2 else SPREAD
    sizes = _aimed(means, hypothesis.tolerance * scale, bets, (values[0], values[-1]), spread)
    factors = np.zeros((*sizes.shape, len(hypothesis.scores)))
    for cell, score in enumerate(hypothesis.scores):
        if score is not None:
            factors[:, :, cell] = np.log1p(sizes * (score - means[:, None]))
    return CountedEvidence(bets.log_weights[None, :] + log_start, factors)


def _aimed(
    means: Floats, step: Floats, bets: Bets, ends: tuple[float, float], spread: float
) -> Floats:
    """Kelly's bets against each hypothesis, shape (hypotheses, bets)."""
    least, most = ends
    room, ground = most - means, means - least
    sizes = np.zeros((len(means), len(bets.multiples)))
    for column, multiple in enumerate(bets.multiples):
        reach = multiple * step / spread
        boldest = 1.0 - CAUTION ** (column + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.minimum(reach, boldest * room) / (room * ground)
        sizes[:, column] = np.where(room > 0.0, size, 0.0)
    return sizes
