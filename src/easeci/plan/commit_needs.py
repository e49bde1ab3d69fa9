"""What one commit of a mix needs: how its walks end, and which labels they ask for on the way.

A commit has a truth: the accuracy of its baseline, and its gain. The truth gives the probabilities
of all outcomes, and so the law of every clause's score. The clauses of a condition are taken as
independent of each other, given the truth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from easeci.bounds.binomial import log_cdf, log_sf
from easeci.evidence.bets import FUTILITY_AIMS, PROOF_AIMS, Aims, Floats
from easeci.evidence.clause_test import Goal, Targets
from easeci.evidence.hypothesis import Hypothesis, evidence_against
from easeci.evidence.levels import StepLevels
from easeci.plan.clause_walk import POSITIONS, ClauseWalk, ExampleNeeds, exact_endings
from easeci.plan.commit_mix import CommitMix, normal_cdf
from easeci.plan.commit_truths import Truths
from easeci.plan.stopping import Boundaries, Endings, ScoreLaw, boundary
from easeci.script import Estimator, Mode, NormalClause, Script


@dataclass(frozen=True)
class CommitNeeds:
    """The probability of a proof for each truth, and of labels that are needed along the order.

    ``every`` is for the label of any example, ``differing`` for that of one on which the models
    differ. The first axis says whether the commit ends with a proof (0) or otherwise (1); then come
    the truths, then the positions. ``others`` are what clauses about other examples need.
    """

    proof: Floats
    every: Floats
    differing: Floats
    others: tuple[ExampleNeeds, ...] = ()

    def among(self, differing: Floats) -> Floats:
        """The needs of examples that differ with these probabilities, by truth."""
        more = np.maximum(self.differing - self.every, 0.0)
        return np.asarray(self.every + differing[..., None] * more)


def labels_in_all(parts: list[tuple[Floats, Floats, bool]]) -> Floats:
    """The labels of several needs along their positions: those of one testset are independent.

    Each part has its positions, the probability that a label is needed at each of them, and
    whether it is apart from the testset's other examples.
    """
    together = [part for part in parts if not part[2]]
    total: Floats = np.zeros(())
    if together:
        needed = together[0][1]
        for _, more, _ in together[1:]:
            needed = 1.0 - (1.0 - needed) * (1.0 - more)
        total = sum_over(together[0][0], needed)
    for positions, needed, apart in parts:
        if apart:
            total = total + sum_over(positions, needed)
    return total


def sum_over(positions: Floats, needed: Floats) -> Floats:
    """The sum over all examples of what is needed at each position, along the last axis."""
    inner = 0.5 * (needed[..., 1:] + needed[..., :-1]) @ np.diff(positions)
    return np.asarray(needed[..., 0] + inner)


MOST_CLAUSES = 12
"""A forecast looks at so many clauses; of more it takes those that need the most examples."""


@dataclass(frozen=True)
class CommitForecast:
    """How commits of a mix fare on a testset of a size, at any levels."""

    script: Script
    mix: CommitMix
    examples: int

    @cached_property
    def _boundaries(self) -> dict[object, Floats]:
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

    @cached_property
    def _clauses(self) -> tuple[NormalClause, ...]:
        """The clauses that are looked at."""
        clauses = self.script.clauses
        if len(clauses) <= MOST_CLAUSES or all(clause.score.is_linear for clause in clauses):
            return clauses
        from easeci.plan.sequential import clause_size

        return tuple(sorted(clauses, key=lambda c: -clause_size(self.script, c))[:MOST_CLAUSES])

    def needs(self, levels: StepLevels, truths: Truths | None = None) -> CommitNeeds:
        """What commits need that are tested at these levels."""
        script, truths = self.script, truths or self.truths
        targets = Targets.of(levels.per_clause(script.mode, len(script.clauses)))
        walks = [self._walk(clause, targets, truths) for clause in self._clauses]
        return _combined(walks, script, self.positions, truths.differing.shape)

    def labels(self, levels: StepLevels, truths: Truths) -> Floats:
        """The expected labels of one commit alone, for each truth."""
        needs = self.needs(levels, truths)
        alone = needs.among(truths.differing).sum(axis=0)
        if not needs.others:
            return self.in_all(alone)
        parts = [(self.positions, alone, False)]
        for other in needs.others:
            needed = np.tensordot(other.weights, other.by_kind.sum(axis=1), 1)
            parts.append((other.positions, needed, other.apart))
        return labels_in_all(parts)

    def most_labels(self, levels: StepLevels) -> float:
        """The expected labels of the dearest kind of commit, alone."""
        return float(self.labels(levels, Truths.at_first(self.mix)).max())

    def in_all(self, needed: Floats) -> Floats:
        """The sum over all examples of what is needed at each position, along the last axis."""
        return sum_over(self.positions, needed)

    def _walk(self, clause: NormalClause, targets: Targets, truths: Truths) -> ClauseWalk:
        goal = Goal.of(clause, self.script.mode)
        if not clause.score.is_linear:
            # Here and not above: a plan of a condition on n, o and d must start fast.
            from easeci.plan.measured_walk import WalkRequest, measured_walk

            asked = WalkRequest(self.script, clause, targets, truths, self.positions)
            return measured_walk(asked, self.mix, self._boundaries)
        if not clause.score.needs_labels:
            proven = self._proven_by_difference(goal.proof, targets.proof, truths)[..., None]
            return ClauseWalk(0.0, Endings(proven, 1.0 - proven))
        codes = goal.proof.relevant
        scores = np.array([float(goal.proof.entry(outcome)) for outcome in codes])
        laws = truths.laws[..., codes]
        laws = laws / laws.sum(axis=-1, keepdims=True)
        mean = laws @ scores
        deviation = np.sqrt(np.maximum(laws @ scores**2 - mean**2, 0.0))
        share = 1.0 if goal.proof.everywhere else self.mix.difference
        if self.script.estimator is Estimator.EXACT:
            sample = share * self.examples
            return ClauseWalk(
                share, exact_endings(targets, sample, mean - goal.bound / share, deviation)
            )
        middle = laws[truths.first, len(truths.gains) // 2]
        law = ScoreLaw(scores, middle, codes, goal.proof.alphabet.outcomes)
        labels = self.positions * share
        upper = self._boundary(clause, goal.proof, PROOF_AIMS, targets.proof, law)
        lower = -self._boundary(clause, goal.futility, FUTILITY_AIMS, targets.futility, -law)
        return ClauseWalk(share, Boundaries(labels, upper, lower).endings(mean, deviation))

    def _boundary(
        self, clause: NormalClause, hypothesis: Hypothesis, aims: Aims, target: float, law: ScoreLaw
    ) -> Floats:
        """The sums at which a walk reaches a target, and jumps a little beyond it."""
        key = (clause, hypothesis.bound, target)
        if key not in self._boundaries:
            share = 1.0 if hypothesis.everywhere else self.mix.difference
            size = (self.examples, round(self.examples * self.mix.difference))
            evidence = evidence_against(hypothesis, aims, *size, target)
            found = boundary(evidence, target, law, self.positions * share)
            self._boundaries[key] = found + law.overshoot
        return self._boundaries[key]

    def _proven_by_difference(
        self, hypothesis: Hypothesis, target: float, truths: Truths
    ) -> Floats:
        """The probability that the number of differing examples alone proves a clause on d."""
        factor = float(hypothesis.entry(hypothesis.relevant[0]))
        examples = self.examples
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


def _combined(
    walks: list[ClauseWalk], script: Script, positions: Floats, truths: tuple[int, ...]
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
    others = []
    for i, walk in enumerate(walks):
        if walk.share == 0.0:
            continue
        need, and_agree = walk.endings.open, last[i] - agreed[i]
        for j, other in enumerate(walks):
            if i != j:
                need = need * (1.0 - _at_turn(decided[j], other, walk, positions))
                and_agree = and_agree * last[j]
        if script.estimator is Estimator.EXACT:  # it uses all labels
            need, and_agree = np.ones_like(need), np.broadcast_to(all_agree, need.shape)
        found = np.stack([and_agree, np.maximum(need - and_agree, 0.0)])
        found = found if fp_free else found[::-1]
        if walk.others is not None:
            kinds = walk.others
            mine = replace(kinds, every=found * kinds.every, relevant=found * kinds.relevant)
            if not kinds.apart:
                np.maximum(every, mine.every, out=every)
            others.append(mine)
            continue
        needed = every if walk.share == 1.0 else differing
        np.maximum(needed, found, out=needed)
    proof = all_agree[..., 0] if fp_free else 1.0 - all_agree[..., 0]
    return CommitNeeds(proof, every, differing, tuple(others))


def _at_turn(array: Floats, walk: ClauseWalk, turn: ClauseWalk, positions: Floats) -> Floats:
    """The values of one clause's walk after as many labels as another one has at each position."""
    share, turn_share = walk.share, turn.share
    if walk.labels is not None or turn.labels is not None:
        return _at_labels(array, walk, turn, positions)
    if share in (0.0, turn_share):
        return array
    grid = np.log(positions)
    places = np.clip(grid + math.log(turn_share / share), grid[0], grid[-1])
    place = np.interp(places, grid, np.arange(len(grid)))
    before = np.minimum(place.astype(np.intp), len(grid) - 2)
    part = place - before
    return np.asarray(array[..., before] * (1.0 - part) + array[..., before + 1] * part)


def _at_labels(array: Floats, walk: ClauseWalk, turn: ClauseWalk, positions: Floats) -> Floats:
    """Like :func:`_at_turn`, where the labels of a walk are not a share of its position."""
    if walk.share == 0.0:
        return array
    mine, other = (
        positions * one.share if one.labels is None else one.labels for one in (walk, turn)
    )
    place = np.interp(other, mine, np.arange(len(mine)))
    before = np.minimum(place.astype(np.intp), len(mine) - 2)
    part = place - before
    return np.asarray(array[..., before] * (1.0 - part) + array[..., before + 1] * part)
