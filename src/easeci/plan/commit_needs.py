"""What one commit of a mix needs: how its walks end, and which labels they ask for on the way.

A commit has a truth: the accuracy of its baseline, and its gain. The truth gives the probabilities
of all outcomes, and so the law of every clause's score. The clauses of a condition are taken as
independent of each other, given the truth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from easeci.bounds.binomial import log_cdf, log_sf
from easeci.evidence.bets import FUTILITY_AIMS, PROOF_AIMS, Aims, Floats
from easeci.evidence.cells import CODE_OF
from easeci.evidence.clause_test import Goal, Targets
from easeci.evidence.hypothesis import Hypothesis, evidence_against
from easeci.evidence.levels import StepLevels
from easeci.evidence.wealth import CELLS
from easeci.plan.commit_mix import CommitMix, normal_cdf
from easeci.plan.stopping import Boundaries, Endings, ScoreLaw, boundary
from easeci.script import Estimator, LinearClause, Mode, Script
from easeci.script.cells import DIFFERING, Cell

GAINS = 17
"""So many gains stand for all gains of commits."""
MANY_GAINS = 65
"""So many for the dearest kind of commit, which is only dear in a narrow range of gains."""
POSITIONS = 52
"""So many positions along the order stand for all."""
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
        agreeing = any(clause.score.label_matters_when_agreeing for clause in script.clauses)
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


@dataclass(frozen=True)
class CommitNeeds:
    """The probability of a proof for each truth, and of labels that are needed along the order.

    ``every`` is for the label of any example, ``differing`` for that of one on which the models
    differ. The first axis says whether the commit ends with a proof (0) or otherwise (1); then come
    the truths, then the positions.
    """

    proof: Floats
    every: Floats
    differing: Floats

    def among(self, differing: Floats) -> Floats:
        """The needs of examples that differ with these probabilities, by truth."""
        more = np.maximum(self.differing - self.every, 0.0)
        return np.asarray(self.every + differing[..., None] * more)


@dataclass(frozen=True)
class CommitForecast:
    """How commits of a mix fare on a testset of a size, at any levels."""

    script: Script
    mix: CommitMix
    examples: int

    @cached_property
    def _boundaries(self) -> dict[tuple[LinearClause, float, float], Floats]:
        """Boundaries that were already found; they take most of the time."""
        return {}

    @cached_property
    def truths(self) -> Truths:
        """The truths that the commits may have."""
        return Truths.of(self.mix, self.script)

    @cached_property
    def positions(self) -> Floats:
        """The positions that stand for all, as numbers of examples up to there."""
        return np.geomspace(1.0, max(self.examples, 2), POSITIONS)

    def needs(self, levels: StepLevels, truths: Truths | None = None) -> CommitNeeds:
        """What commits need that are tested at these levels."""
        script, truths = self.script, truths or self.truths
        targets = Targets.of(levels.per_clause(script.mode, len(script.clauses)))
        walks = [self._walk(clause, targets, truths) for clause in script.clauses]
        return _combined(walks, script, self.positions, truths.differing.shape)

    def labels(self, levels: StepLevels, truths: Truths) -> Floats:
        """The expected labels of one commit alone, for each truth."""
        needs = self.needs(levels, truths)
        return self.in_all(needs.among(truths.differing).sum(axis=0))

    def most_labels(self, levels: StepLevels) -> float:
        """The expected labels of the dearest kind of commit, alone."""
        return float(self.labels(levels, Truths.at_first(self.mix)).max())

    def in_all(self, needed: Floats) -> Floats:
        """The sum over all examples of what is needed at each position, along the last axis."""
        inner = 0.5 * (needed[..., 1:] + needed[..., :-1]) @ np.diff(self.positions)
        return np.asarray(needed[..., 0] + inner)

    def _walk(self, clause: LinearClause, targets: Targets, truths: Truths) -> _ClauseWalk:
        goal = Goal.of(clause, self.script.mode)
        if not clause.score.needs_labels:
            proven = self._proven_by_difference(goal.proof, targets.proof, truths)[..., None]
            return _ClauseWalk(0.0, Endings(proven, 1.0 - proven))
        cells = goal.proof.relevant
        codes = tuple(int(CODE_OF[cell]) for cell in cells)
        scores = np.array([float(goal.score.of(cell)) for cell in cells])
        laws = truths.laws[..., codes]
        laws = laws / laws.sum(axis=-1, keepdims=True)
        mean = laws @ scores
        deviation = np.sqrt(np.maximum(laws @ scores**2 - mean**2, 0.0))
        share = self.mix.difference if goal.proof.only_differing else 1.0
        if self.script.estimator is Estimator.EXACT:
            sample = share * self.examples
            return _ClauseWalk(
                share, _exact_endings(targets, sample, mean - goal.bound / share, deviation)
            )
        law = ScoreLaw(scores, laws[truths.first, len(truths.gains) // 2], codes, CELLS)
        labels = self.positions * share
        upper = self._boundary(clause, goal.proof, PROOF_AIMS, targets.proof, law)
        lower = -self._boundary(clause, goal.futility, FUTILITY_AIMS, targets.futility, -law)
        return _ClauseWalk(share, Boundaries(labels, upper, lower).endings(mean, deviation))

    def _boundary(
        self, clause: LinearClause, hypothesis: Hypothesis, aims: Aims, target: float, law: ScoreLaw
    ) -> Floats:
        """The sums at which a walk reaches a target, and jumps a little beyond it."""
        key = (clause, hypothesis.bound, target)
        if key not in self._boundaries:
            share = self.mix.difference if hypothesis.only_differing else 1.0
            size = (self.examples, round(self.examples * self.mix.difference))
            evidence = evidence_against(hypothesis, aims, *size, target)
            found = boundary(evidence, target, law, self.positions * share)
            self._boundaries[key] = found + law.overshoot
        return self._boundaries[key]

    def _proven_by_difference(
        self, hypothesis: Hypothesis, target: float, truths: Truths
    ) -> Floats:
        """The probability that the number of differing examples alone proves a clause on d."""
        factor, examples = float(hypothesis.score.difference), self.examples
        share = min(max(hypothesis.bound / factor, 0.0), 1.0)
        low, high = -1, examples + 1  # high: the first number that proves it, or does not any more
        while high - low > 1:
            middle = (low + high) // 2
            if factor > 0.0:
                before = -float(log_sf(middle - 1, examples, share)) < target
            else:
                before = -float(log_cdf(middle, examples, share)) >= target
            low, high = (middle, high) if before else (low, middle)
        difference = truths.differing
        deviation = np.sqrt(np.maximum(difference * (1.0 - difference) * examples, 1e-9))
        below = np.vectorize(normal_cdf)((high - 0.5 - difference * examples) / deviation)
        return np.asarray(1.0 - below if factor > 0.0 else below)


@dataclass(frozen=True)
class _ClauseWalk:
    """How the walk of a clause ends. ``share`` of the examples count; 0: it needs no labels."""

    share: float
    endings: Endings


def _exact_endings(targets: Targets, sample: float, excess: Floats, deviation: Floats) -> Endings:
    """All labels are used; the exact limit is about that of a normal test."""
    quantile = math.sqrt(max(2.0 * targets.proof - math.log(4.0 * math.pi * targets.proof), 0.0))
    z = excess * math.sqrt(sample) / np.maximum(deviation, 1e-9) - quantile
    proven = np.zeros((*excess.shape, POSITIONS))
    proven[..., -1] = np.vectorize(normal_cdf)(z)
    other = np.zeros_like(proven)
    other[..., -1] = 1.0 - proven[..., -1]
    return Endings(proven, other)


def _combined(
    walks: list[_ClauseWalk], script: Script, positions: Floats, truths: tuple[int, ...]
) -> CommitNeeds:
    """The needs of a conjunction, whose clauses take turns until one of them decides.

    In fp-free a clause that is not proven decides, and all must be proven; in fn-free it is the
    other way round.
    """
    fp_free = script.mode is Mode.FP_FREE
    agreed = [walk.endings.proven if fp_free else walk.endings.other for walk in walks]
    decided = [walk.endings.other if fp_free else walk.endings.proven for walk in walks]
    last = [array[..., -1:] for array in agreed]
    all_agree = np.broadcast_to(math.prod(last), (*truths, 1))
    every, differing = (np.zeros((2, *truths, len(positions))) for _ in range(2))
    for i, walk in enumerate(walks):
        if walk.share == 0.0:
            continue
        need, and_agree = walk.endings.open, last[i] - agreed[i]
        for j, other in enumerate(walks):
            if i != j:
                need = need * (1.0 - _at_turn(decided[j], other.share, walk.share, positions))
                and_agree = and_agree * last[j]
        if script.estimator is Estimator.EXACT:  # it uses all labels
            need, and_agree = np.ones_like(need), np.broadcast_to(all_agree, need.shape)
        found = np.stack([and_agree, np.maximum(need - and_agree, 0.0)])
        needed = every if walk.share == 1.0 else differing
        np.maximum(needed, found if fp_free else found[::-1], out=needed)
    proof = all_agree[..., 0] if fp_free else 1.0 - all_agree[..., 0]
    return CommitNeeds(proof, every, differing)


def _at_turn(array: Floats, share: float, turn_share: float, positions: Floats) -> Floats:
    """The values of one clause's walk after as many labels as another one has at each position."""
    if share in (0.0, turn_share):
        return array
    grid = np.log(positions)
    places = np.clip(grid + math.log(turn_share / share), grid[0], grid[-1])
    place = np.interp(places, grid, np.arange(len(grid)))
    before = np.minimum(place.astype(np.intp), len(grid) - 2)
    part = place - before
    return np.asarray(array[..., before] * (1.0 - part) + array[..., before + 1] * part)
