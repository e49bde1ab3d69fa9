"""Wealth along the order of a testset: evidence that grows example by example.

The wealth of a bet depends on the examples only through the running counts of their outcomes: its
logarithm is Σ count · ln(factor). A row is one case of what the hypothesis leaves open, such as an
interval of d. The evidence is the least of the rows' mixtures of bets. For the row that holds the
truth, the mixture is a supermartingale under the hypothesis that starts at no more than 1 in
expectation. The least of the rows is not larger, so it ever reaches 1/α with probability at most α.

Few outcomes are counted, block by block. With many of them it is faster to look up the logarithms
of the factors and to add them up, also in blocks at fixed positions. So what is found does not
depend on how many examples are looked at together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from easeci.evidence.bets import Floats
from easeci.evidence.codes import Codes, Flags

MOST_COUNTED = 16
"""With more outcomes, factors are looked up instead of outcomes counted."""
BLOCK = 256
CHUNK = 256 * BLOCK
SMALL = 16
"""Blocks that may hold a crossing are looked at in parts of this size, so many at a time:"""
AT_A_TIME = 16

ROUNDING = 1e-9
"""Added to every target, in nats: more than the rounding error of sums of logarithms."""


@dataclass(frozen=True)
class Evidence:
    """ln of the evidence against a hypothesis, as a function of running counts of outcomes.

    ``log_weights`` has shape (rows, bets), ``log_factors`` (rows, bets, outcomes). No rows at all
    mean that the hypothesis can't be true of this testset: infinite evidence.
    """

    log_weights: Floats
    log_factors: Floats

    @property
    def outcomes(self) -> int:
        """How many outcomes an example can have."""
        return int(self.log_factors.shape[-1])

    def after(self, counts: Floats) -> Floats:
        """ln of the evidence after examples with these counts, shape (times, outcomes)."""
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
        if moments is not None and not moments.any():
            return None
        if not len(self.log_weights):
            return 0 if moments is None else int(moments.argmax())
        target = log_target + ROUNDING
        outcomes = self.outcomes
        seen = np.zeros(outcomes)
        if (moments is None or moments[0]) and self._start >= target:
            return 0
        for start, chunk in _chunks(codes):
            looks = None if moments is None else moments[start + 1 : start + 1 + len(chunk)]
            crossing = self._crossing_in(chunk, seen, target, looks)
            if crossing is not None:
                return start + crossing
            seen = seen + np.bincount(chunk, minlength=outcomes)[:outcomes]
        return None

    def highest_by_block(self, codes: Codes) -> Floats:
        """ln of an upper bound of the evidence within each block of ``BLOCK`` examples."""
        rows, bets = self.log_weights.shape
        if not rows:
            return np.full(math.ceil(len(codes) / BLOCK), math.inf)
        inside = _block_counts(codes, self.outcomes)
        before = np.cumsum(inside, axis=0) - inside
        factors = self.log_factors.reshape(rows * bets, -1)
        reach = _totals(before, factors) + _totals(inside, np.maximum(factors, 0.0))
        return np.asarray(_log_sums(reach.reshape(-1, rows, bets) + self.log_weights).min(axis=1))

    def fewest_more(self, counts: Floats, log_target: float, most: int) -> int:
        """A lower bound, at least 1, on the further examples that the target needs.

        It assumes that every example brings each bet its largest factor.
        """
        if not len(self.log_weights):
            return 1
        row = self._least_row(counts)
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
        flat = _totals(counts, self.log_factors.reshape(rows * bets, -1))
        return _log_sums(flat.reshape(-1, rows, bets) + self.log_weights)

    @cached_property
    def _start(self) -> float:
        return float(self.after(np.zeros((1, self.outcomes)))[0])

    def _least_row(self, counts: Floats) -> int:
        """The row whose mixture is least after examples with these counts, of shape (outcomes)."""
        if len(self.log_weights) == 1:
            return 0
        return int(self._rows_after(counts[None, :])[0].argmin())

    def _crossing_in(
        self, chunk: Codes, seen: Floats, target: float, looks: Flags | None
    ) -> int | None:
        """The first crossing within a chunk, looking only into blocks that may hold one."""
        if looks is not None and not looks.any():
            return None
        row = self._least_row(seen)
        look_up = self.outcomes > MOST_COUNTED
        steps = _LookedUp(chunk, seen) if look_up else _Counted(chunk, seen)
        reach = steps.reach(self.log_factors[row]) + self.log_weights[row]
        for block in self._closer(steps, row, target, _log_sums(reach) >= target - steps.slack):
            part = slice(block * BLOCK, (block + 1) * BLOCK)
            looked = None if looks is None else looks[part]
            crossing = self._crossing_in_block(chunk[part], steps.before(block), target, looked)
            if crossing is not None:
                return int(block * BLOCK + crossing)
        return None

    def _closer(
        self, steps: _Counted | _LookedUp, row: int, target: float, chosen: Flags
    ) -> Iterator[int]:
        """Those of the chosen blocks that may hold a crossing by the bounds of their parts."""
        blocks = np.flatnonzero(chosen)
        for start in range(0, len(blocks), AT_A_TIME):
            some = blocks[start : start + AT_A_TIME]
            if isinstance(steps, _Counted) and len(some) > 1:
                reach = steps.reach_of_parts(some, self.log_factors[row]) + self.log_weights[row]
                some = some[(_log_sums(reach) >= target - ROUNDING).any(axis=1)]
            yield from some.tolist()

    def _crossing_in_block(
        self, codes: Codes, before: Floats, target: float, looks: Flags | None
    ) -> int | None:
        if looks is not None and not looks.any():
            return None
        # Check the row that is least at the start; the others matter only where it crosses.
        row = self._least_row(before)
        if self.outcomes > MOST_COUNTED:
            values = self._running(row, codes, before)
        else:
            counts = before + _running_counts(codes, self.outcomes)
            values = _log_sums(_totals(counts, self.log_factors[row]) + self.log_weights[row])
        times = np.flatnonzero(values >= target)
        if looks is not None:
            times = times[looks[times]]
        if not len(times):
            return None
        if self.outcomes > MOST_COUNTED:
            rows = [
                self._running(row, codes, before)[times] for row in range(len(self.log_weights))
            ]
            evidence = np.min(rows, axis=0)
        else:
            evidence = self.after(counts[times])
        crossed = np.flatnonzero(evidence >= target)
        return int(times[crossed[0]]) + 1 if len(crossed) else None

    def _running(self, row: int, codes: Codes, before: Floats) -> Floats:
        """ln of a row's mixture after each example of a block."""
        factors = self.log_factors[row]
        gained = np.cumsum(factors.T[codes], axis=0)
        return _log_sums(_totals(before[None, :], factors) + gained + self.log_weights[row])


def _chunks(codes: Codes) -> Iterator[tuple[int, Codes]]:
    for start in range(0, len(codes), CHUNK):
        yield start, codes[start : start + CHUNK]


class _Counted:
    """A chunk by the counts of its blocks. ``slack`` covers rounding; here none is needed."""

    slack = 0.0

    def __init__(self, chunk: Codes, seen: Floats) -> None:
        self._chunk = chunk
        self._inside = _block_counts(chunk, len(seen))
        self._before = seen + np.cumsum(self._inside, axis=0) - self._inside

    def before(self, block: int) -> Floats:
        """The counts of all examples before a block."""
        return np.asarray(self._before[block])

    def reach(self, factors: Floats) -> Floats:
        """An upper bound within each block: all of its gains and none of its losses."""
        return _reach(self._before, self._inside, factors)

    def reach_of_parts(self, blocks: npt.NDArray[np.intp], factors: Floats) -> Floats:
        """The same bound within each part of some blocks, shape (blocks, parts, bets)."""
        outcomes = self._inside.shape[1]
        filling = np.full(-len(self._chunk) % BLOCK, outcomes, self._chunk.dtype)  # not counted
        codes = np.append(self._chunk, filling).reshape(-1, BLOCK // SMALL, SMALL)[blocks]
        columns = [np.count_nonzero(codes == outcome, axis=2) for outcome in range(outcomes)]
        inside = np.stack(columns, axis=2).astype(np.float64)
        before = self._before[blocks, None, :] + np.cumsum(inside, axis=1) - inside
        flat = (len(blocks) * (BLOCK // SMALL), outcomes)
        reach = _reach(before.reshape(flat), inside.reshape(flat), factors)
        return reach.reshape(len(blocks), BLOCK // SMALL, -1)


class _LookedUp:
    """A chunk whose factors are looked up, where its blocks may hold a crossing.

    Which ones may is told by a matrix product, which is quick and rounds as it likes.
    """

    slack = ROUNDING

    def __init__(self, chunk: Codes, seen: Floats) -> None:
        blocks = -(-len(chunk) // BLOCK)
        places = np.repeat(np.arange(blocks) * len(seen), BLOCK)[: len(chunk)]
        counts = np.bincount(places + chunk, minlength=blocks * len(seen))
        self._inside = counts.reshape(blocks, len(seen)).astype(np.float64)
        self._seen = seen

    def before(self, block: int) -> Floats:
        """The counts of all examples before a block."""
        return np.asarray(self._seen + self._inside[:block].sum(axis=0))

    def reach(self, factors: Floats) -> Floats:
        """An upper bound within each block: all of its gains and none of its losses."""
        inside = self._inside @ factors.T
        gains = self._inside @ np.maximum(factors, 0.0).T
        before = self._seen @ factors.T + np.cumsum(inside, axis=0) - inside
        return np.asarray(before + gains)


def _reach(before: Floats, inside: Floats, factors: Floats) -> Floats:
    return _totals(before, factors) + _totals(inside, np.maximum(factors, 0.0))


def _block_counts(chunk: Codes, outcomes: int) -> Floats:
    """How many examples of each outcome every block has, shape (blocks, outcomes)."""
    whole = len(chunk) // BLOCK
    table = chunk[: whole * BLOCK].reshape(whole, BLOCK)
    columns = [np.count_nonzero(table == outcome, axis=1) for outcome in range(outcomes)]
    counts = np.stack(columns, axis=1)
    if len(chunk) > whole * BLOCK:
        rest = np.bincount(chunk[whole * BLOCK :], minlength=outcomes)[:outcomes]
        counts = np.vstack([counts, rest])
    return counts.astype(np.float64)


def _running_counts(codes: Codes, outcomes: int) -> Floats:
    return np.cumsum(codes[:, None] == np.arange(outcomes), axis=0, dtype=np.float64)


def _totals(counts: Floats, factors: Floats) -> Floats:
    """Σ count · ln(factor) for every time and bet, shape (times, bets).

    Outcome by outcome, because a matrix product rounds differently for other shapes, and a verdict
    must not depend on how many labels were looked at together.
    """
    total = np.zeros((len(counts), len(factors)))
    for outcome in np.flatnonzero(factors.any(axis=0) & counts.any(axis=0)):
        total += counts[:, outcome, None] * factors[None, :, outcome]
    return total


def _log_sums(values: Floats) -> Floats:
    """ln Σ exp over the last axis."""
    if values.shape[-1] == 1:
        return np.asarray(values[..., 0])
    top = values.max(axis=-1, keepdims=True)
    return np.asarray(np.log(np.exp(values - top).sum(axis=-1)) + top[..., 0])
