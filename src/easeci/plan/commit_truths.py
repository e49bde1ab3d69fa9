"""The truths that the commits of a mix may have: accuracies of the baseline, and gains over it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from easeci.evidence.bets import Floats
from easeci.evidence.cells import CODE_OF
from easeci.plan.commit_mix import CommitMix, normal_cdf
from easeci.script import Mode, Script
from easeci.script.outcomes import DIFFERING, Cell

GAINS = 17
"""So many gains stand for all gains of commits."""
MANY_GAINS = 65
"""So many for the dearest kind of commit, which is only dear in a narrow range of gains."""
ACCURACIES = 17
"""So many accuracies of the baseline stand for all, if a clause depends on where models agree.

For other conditions the first accuracy is enough."""
FARTHEST = 0.25


@dataclass(frozen=True)
class Truths:
    """All pairs of a baseline's accuracy and a commit's gain.

    ``weights`` are the probabilities of the gains, and ``laws`` those of the outcomes, of shape
    (accuracies, gains, outcomes).
    """

    accuracies: Floats
    gains: Floats
    weights: Floats
    laws: Floats
    first: int

    @staticmethod
    def of(mix: CommitMix, script: Script) -> Truths:
        """The truths that a mix makes possible over the life of a testset."""
        agreeing = any(
            clause.score.counts_everywhere or clause.score.coefficients is None
            for clause in script.clauses
        )
        reach = min(FARTHEST, mix.spread + 2.5 * mix.spread * math.sqrt(script.steps))
        # In fp-free only proven gains move the baseline.
        down = mix.spread if script.mode is Mode.FP_FREE else reach
        accuracies = np.linspace(
            max(mix.accuracy - down, mix.difference),
            min(mix.accuracy + reach, 1.0 - mix.difference / 20.0),
            ACCURACIES if agreeing else 1,
        )
        return Truths._of(mix, accuracies, GAINS)

    @staticmethod
    def at_first(mix: CommitMix) -> Truths:
        """Many gains over the first accuracy."""
        return Truths._of(mix, np.array([mix.accuracy]), MANY_GAINS)

    @staticmethod
    def _of(mix: CommitMix, accuracies: Floats, count: int) -> Truths:
        gains = np.linspace(-mix.largest, mix.largest, count)
        middles = (gains[1:] + gains[:-1]) / 2.0
        below = [0.0, *(normal_cdf(middle / mix.spread) for middle in middles), 1.0]
        first = int(np.abs(accuracies - mix.accuracy).argmin())
        accuracies[first] = mix.accuracy
        laws = mix.law(gains[None, :], accuracies[:, None])
        return Truths(accuracies, gains, np.diff(below), laws, first)

    def share(self, cell: Cell) -> Floats:
        """The probability of an outcome, for each truth."""
        return np.asarray(self.laws[..., CODE_OF[cell]])

    @cached_property
    def differing(self) -> Floats:
        """d, for each truth."""
        return np.asarray(sum(self.share(cell) for cell in DIFFERING))

    @cached_property
    def differing_among(self) -> Floats:
        """On which share the models differ, of examples that the baseline gets right and wrong.

        The first axis has these two kinds of examples, in this order.
        """
        right = self.accuracies[:, None]
        corrected = self.share(Cell.NEW_RIGHT) + self.share(Cell.BOTH_WRONG)
        return np.stack([self.share(Cell.OLD_RIGHT) / right, corrected / (1.0 - right)])

    @cached_property
    def moves(self) -> Floats:
        """Where a pass moves the accuracy, shape (accuracies, gains, accuracies)."""
        grid = self.accuracies
        after = grid[:, None] + self.share(Cell.NEW_RIGHT) - self.share(Cell.OLD_RIGHT)
        place = np.interp(after, grid, np.arange(len(grid)))
        return np.asarray(np.maximum(1.0 - np.abs(place[..., None] - np.arange(len(grid))), 0.0))
