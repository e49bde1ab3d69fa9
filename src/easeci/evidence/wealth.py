"""Wealth along the order of a testset: evidence that grows example by example.

The wealth of a bet depends on the examples only through their running counts: its logarithm is
Σ count · ln(factor). A row is one case of what the hypothesis leaves open, such as an interval of
d. The evidence is the least of the rows' mixtures of bets. For the row that holds the truth, the
mixture is a supermartingale under the hypothesis that starts at no more than 1 in expectation. The
least of the rows is not larger, so it ever reaches 1/α with probability at most α.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from easeci.evidence.bets import Floats
from easeci.evidence.cells import Codes, Flags

CELLS = 5
BLOCK = 256
CHUNK = 256 * BLOCK

ROUNDING = 1e-9
"""Added to every target, in nats: more than the rounding error of sums of logarithms."""


@dataclass(frozen=True)
class Evidence:
    """ln of the evidence against a hypothesis, as a function of running counts of cells.

    ``log_weights`` has shape (rows, bets), ``log_factors`` (rows, bets, cells). No rows at all mean
    that the hypothesis can't be true of this testset: infinite evidence.
    """

    log_weights: Floats
    log_factors: Floats

    def after(self, counts: Floats) -> Floats:
        """ln of the evidence after examples with these counts, shape (times, cells)."""
        if not len(self.log_weights):
            return np.full(len(counts), math.inf)
        return np.asarray(self._rows_after(counts).min(axis=1))

    def first_crossing(
        self, codes: Codes, log_target: float, moments: Flags | None = None
    ) -> int | None:
        """After how many examples the evidence first reaches the target; None if it doesn't.

        ``moments`` says after which numbers of examples, from 0 on, the evidence is looked at;
        None means after each.
        """
        if not len(self.log_weights):
            return 0 if moments is None else _first(moments)
        target = log_target + ROUNDING
        seen = np.zeros(CELLS)
        if (moments is None or moments[0]) and self.after(seen[None, :])[0] >= target:
            return 0
        for start, chunk in _chunks(codes):
            looks = None if moments is None else moments[start + 1 : start + 1 + len(chunk)]
            crossing = self._crossing_in(chunk, seen, target, looks)
            if crossing is not None:
                return start + crossing
            seen = seen + np.bincount(chunk, minlength=CELLS)[:CELLS]
        return None

    def fewest_more(self, counts: Floats, log_target: float, most: int) -> int:
        """A lower bound, at least 1, on the further examples that the target needs.

        It assumes that every example brings each bet its largest factor.
        """
        if not len(self.log_weights):
            return 1
        row = int(self._rows_after(counts[None, :])[0].argmin())
        now = self.log_weights[row] + self.log_factors[row] @ counts
        best = self.log_factors[row].max(axis=1)
        low, high = 0, most
        while high - low > 1:
            middle = (low + high) // 2
            reached = float(_log_sums((now + middle * best)[None, :])[0])
            low, high = (low, middle) if reached >= log_target else (middle, high)
        return max(high, 1)

    def _rows_after(self, counts: Floats) -> Floats:
        """ln of each row's mixture, shape (times, rows)."""
        rows, bets = self.log_weights.shape
        flat = _totals(counts, self.log_factors.reshape(rows * bets, CELLS))
        return _log_sums(flat.reshape(-1, rows, bets) + self.log_weights)

    def _crossing_in(
        self, chunk: Codes, seen: Floats, target: float, looks: Flags | None
    ) -> int | None:
        """The first crossing within a chunk, looking only into blocks that may hold one."""
        if looks is not None and not looks.any():
            return None
        row = int(self._rows_after(seen[None, :])[0].argmin())
        inside = _block_counts(chunk)
        before = seen + np.cumsum(inside, axis=0) - inside
        # An upper bound within each block: all of its gains and none of its losses.
        factors = self.log_factors[row]
        reach = _totals(before, factors) + _totals(inside, np.maximum(factors, 0.0))
        for block in np.flatnonzero(_log_sums(reach + self.log_weights[row]) >= target):
            part = slice(block * BLOCK, (block + 1) * BLOCK)
            looked = None if looks is None else looks[part]
            crossing = self._crossing_in_block(chunk[part], before[block], target, looked)
            if crossing is not None:
                return int(block) * BLOCK + crossing
        return None

    def _crossing_in_block(
        self, codes: Codes, before: Floats, target: float, looks: Flags | None
    ) -> int | None:
        if looks is not None and not looks.any():
            return None
        # Check the row that is least at the start; the others matter only where it crosses.
        row = int(self._rows_after(before[None, :])[0].argmin())
        counts = before + _running_counts(codes)
        values = _log_sums(_totals(counts, self.log_factors[row]) + self.log_weights[row])
        times = np.flatnonzero(values >= target)
        if looks is not None:
            times = times[looks[times]]
        if not len(times):
            return None
        crossed = np.flatnonzero(self.after(counts[times]) >= target)
        return int(times[crossed[0]]) + 1 if len(crossed) else None


def _first(flags: Flags) -> int | None:
    return int(flags.argmax()) if flags.any() else None


def _chunks(codes: Codes) -> Iterator[tuple[int, Codes]]:
    for start in range(0, len(codes), CHUNK):
        yield start, codes[start : start + CHUNK]


def _block_counts(chunk: Codes) -> Floats:
    """How many examples of each cell every block has, shape (blocks, cells)."""
    whole = len(chunk) // BLOCK
    table = chunk[: whole * BLOCK].reshape(whole, BLOCK)
    columns = [np.count_nonzero(table == cell, axis=1) for cell in range(CELLS)]
    counts = np.stack(columns, axis=1)
    if len(chunk) > whole * BLOCK:
        rest = np.bincount(chunk[whole * BLOCK :], minlength=CELLS)[:CELLS]
        counts = np.vstack([counts, rest])
    return counts.astype(np.float64)


def _running_counts(codes: Codes) -> Floats:
    return np.cumsum(codes[:, None] == np.arange(CELLS), axis=0, dtype=np.float64)


def _totals(counts: Floats, factors: Floats) -> Floats:
    """Σ count · ln(factor) for every time and bet, shape (times, bets).

    Cell by cell, because a matrix product rounds differently for other shapes, and a verdict must
    not depend on how many labels were looked at together.
    """
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
