"""How the walk of one clause ends, for each truth, and which labels it needs on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from easeci.evidence.bets import Floats
from easeci.evidence.clause_test import Targets
from easeci.plan.commit_mix import normal_cdf
from easeci.plan.stopping import Endings

POSITIONS = 52
"""So many positions along the order stand for all."""


@dataclass(frozen=True)
class ExampleNeeds:
    """Labels that a clause needs of some examples only, told apart by what the baseline shows.

    ``weights`` are the probabilities of the kinds of examples, and ``relevance``, shape (kinds,
    accuracies, gains), says how probably one counts for the clause. ``every`` and ``relevant`` are
    needs along ``positions``, as in :class:`CommitNeeds`. If ``apart``, they are the examples of a
    slice; otherwise those of the whole testset.
    """

    positions: Floats
    weights: Floats
    relevance: Floats
    every: Floats
    relevant: Floats
    apart: bool

    @property
    def by_kind(self) -> Floats:
        """The needs of each kind, shape (kinds, 2, accuracies, gains, positions)."""
        more = np.maximum(self.relevant - self.every, 0.0)
        return np.asarray(self.every + self.relevance[:, None, ..., None] * more)


@dataclass(frozen=True)
class ClauseWalk:
    """How the walk of a clause ends. ``share`` of the examples count; 0: it needs no labels.

    ``labels`` is how many labels the walk has at each position, if that is not the share of the
    position. ``others`` are the needs of a clause that is not about all or all differing examples,
    by kind: its ``every`` and ``relevant`` say at which positions the walk's need is of which kind.
    """

    share: float
    endings: Endings
    labels: Floats | None = None
    others: ExampleNeeds | None = None


def exact_endings(targets: Targets, sample: float, excess: Floats, deviation: Floats) -> Endings:
    """All labels are used; the exact limit is about that of a normal test."""
    quantile = math.sqrt(max(2.0 * targets.proof - math.log(4.0 * math.pi * targets.proof), 0.0))
    z = excess * math.sqrt(sample) / np.maximum(deviation, 1e-9) - quantile
    proven = np.zeros((*excess.shape, POSITIONS))
    proven[..., -1] = np.vectorize(normal_cdf)(z)
    other = np.zeros_like(proven)
    other[..., -1] = 1.0 - proven[..., -1]
    return Endings(proven, other)
