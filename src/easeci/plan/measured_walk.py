"""Forecasts of walks for clauses that n, o and d don't describe, such as recall(fraud) > 0.8.

The truths of a forecast are accuracies and gains. Here they are lifted to the outcomes of a clause
(:mod:`easeci.plan.outcome_laws`). What is rough:

* The boundaries of a walk are those of the middle truth.
* The futility of a ratio is tested by another table than its proof. The two sums differ by the sum
  of the denominators, which is taken at its mean.
* A difference of two ratios has many rows; only those that matter most are looked at.
* A slice is taken to have as many examples as it needs.
* ``n - top(K)`` is forecast like n − o.
* A block's score has the deviation that belongs to its AUC, and for two models that of the middle
  truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from easeci.bounds.binomial import log_cdf, log_sf
from easeci.evidence.bets import Floats
from easeci.evidence.clause_test import Targets
from easeci.evidence.codes import Flags
from easeci.evidence.hypothesis import Hypothesis
from easeci.plan.clause_walk import POSITIONS, ClauseWalk, ExampleNeeds, exact_endings
from easeci.plan.commit_mix import CommitMix
from easeci.plan.commit_truths import Truths
from easeci.plan.measured_clause import MeasuredClause
from easeci.plan.outcome_laws import block_law, lift_of
from easeci.plan.sequential import clause_size
from easeci.plan.stopping import Boundaries, Endings, ScoreLaw, boundary
from easeci.script import Estimator, NormalClause, Script
from easeci.script.outcomes import Cell, ExampleAlphabet

FAMILY = np.linspace(-12.0, 14.0, 40)
"""Values of a score for which laws are made, in tolerances beyond its threshold."""
AUC_NODES = 9
"""At so many values of an AUC the deviation of a block's score is computed."""


@dataclass(frozen=True)
class WalkRequest:
    """A clause whose walk is asked for: at which targets, for which truths.

    ``positions`` are those of the whole testset.
    """

    script: Script
    clause: NormalClause
    targets: Targets
    truths: Truths
    positions: Floats


def measured_walk(
    request: WalkRequest, mix: CommitMix, boundaries: dict[object, Floats]
) -> ClauseWalk:
    """How the walk of such a clause ends. ``boundaries`` are those that were found before."""
    return _Walker(request, mix, boundaries).walk()


@dataclass(frozen=True)
class _Walker:
    request: WalkRequest
    mix: CommitMix
    boundaries: dict[object, Floats]

    @cached_property
    def measured(self) -> MeasuredClause:
        request = self.request
        return MeasuredClause.of(request.script, request.clause, self.mix.difference)

    @cached_property
    def positions(self) -> Floats:
        """Those of the testset, or of a slice that is as large as it must be."""
        request = self.request
        if request.clause.score.slice is None:
            return request.positions
        size = min(clause_size(request.script, request.clause), request.positions[-1])
        return np.geomspace(1.0, max(float(size), 2.0), POSITIONS)

    @property
    def middle(self) -> tuple[int, int]:
        return self.request.truths.first, len(self.request.truths.gains) // 2

    @cached_property
    def laws(self) -> Floats:
        """The law of the outcomes for each truth; for blocks, the middle one for all."""
        score, truths = self.measured.score, self.request.truths
        if score.blocks is None:
            return np.asarray(truths.laws @ lift_of(score, self.measured.shares))
        new, old = (float(aucs[self.middle]) for aucs in self._aucs)
        law = block_law(score.blocks, new, old)
        by_value = dict(zip(score.blocks.values, law, strict=True))
        one = np.array([by_value[entry] for entry in score.ratio.numerator])
        return np.broadcast_to(one, (*truths.laws.shape[:-1], len(one)))

    @property
    def _aucs(self) -> tuple[Floats, Floats]:
        """The AUC of new and old for each truth: as their accuracies."""
        truths = self.request.truths
        old = np.broadcast_to(truths.accuracies[:, None], truths.differing.shape)
        gain = truths.share(Cell.NEW_RIGHT) - truths.share(Cell.OLD_RIGHT)
        return np.clip(old + gain, 0.0, 1.0), old

    def walk(self) -> ClauseWalk:
        request, measured = self.request, self.measured
        if not measured.score.needs_labels:
            proven = self._proven_by_share()[..., None]
            return ClauseWalk(0.0, Endings(proven, 1.0 - proven))
        proof = measured.hypotheses(self.laws[self.middle])[0]
        share = float(self.laws[self.middle][list(proof.relevant)].sum())
        mean, deviation = self._moments(proof)
        if request.script.estimator is Estimator.EXACT:
            sample = share * self.positions[-1]
            endings = exact_endings(request.targets, sample, mean - proof.bound, deviation)
        else:
            endings = self._boundaries().endings(mean, deviation)
        return self._placed(endings, share)

    def _moments(self, proof: Hypothesis) -> tuple[Floats, Floats]:
        """The mean and the deviation of the score of a unit that counts, for each truth."""
        blocks = self.measured.score.blocks
        if blocks is not None:
            return self._block_moments()
        return score_moments(proof, self.laws)

    def _block_moments(self) -> tuple[Floats, Floats]:
        score = self.measured.score
        blocks = score.blocks
        assert blocks is not None
        new, old = self._aucs
        mean = float(blocks.new) * new + float(blocks.old) * old
        values = np.array([float(value) for value in score.ratio.numerator])
        middle = self.laws[self.middle]
        deviation = np.sqrt(max(float(middle @ values**2 - (middle @ values) ** 2), 0.0))
        if blocks.new and blocks.old:
            return mean, np.full(mean.shape, deviation)
        nodes, own = np.linspace(0.5, 0.999, AUC_NODES), new if blocks.new else old
        shares = np.array([float(value) for value in blocks.values])
        spreads = [
            float(np.sqrt(max(law @ shares**2 - (law @ shares) ** 2, 0.0)))
            for law in (block_law(blocks, float(node), float(node)) for node in nodes)
        ]
        return mean, np.interp(own, nodes, spreads)

    def _boundaries(self) -> Boundaries:
        request = self.request
        return walk_boundaries(
            self.measured,
            BoundaryRequest(
                self.laws[self.middle], self._units, round(self.positions[-1]), request.targets
            ),
            self.boundaries,
        )

    @cached_property
    def _units(self) -> Floats:
        """The numbers of units that stand for all; behind a prefix, if there is one."""
        if self.measured.prefix is None:
            return self.positions / self.measured.labels_a_unit
        return np.geomspace(1.0, max(self.measured.units_in(self.positions[-1]), 2.0), POSITIONS)

    def _placed(self, endings: Endings, share: float) -> ClauseWalk:
        """The walk along the positions, with what it needs of which examples."""
        measured, score = self.measured, self.measured.score
        first = measured.labels_first
        behind = self.positions > first
        labels = self.positions * (1.0 if score.blocks is not None else share)
        if first:
            units = np.maximum(self.positions - first, 0.0)
            endings = Endings(
                *(_at(units, self._units, array) for array in (endings.proven, endings.other))
            )
            labels = np.minimum(self.positions, first) + units * share
        sliced = score.slice is not None
        # All outputs are taken to differ, so every example counts.
        everywhere = (score.counts_everywhere or score.lattice is not None) and not first
        if not sliced and score.coefficients is not None:  # n − top(K)
            return ClauseWalk(share, endings)
        if not sliced and everywhere:
            return ClauseWalk(1.0, endings)
        kinds = self._kinds(apart=sliced, behind=behind, everywhere=everywhere)
        return ClauseWalk(share, endings, labels, kinds)

    def _kinds(self, *, apart: bool, behind: Flags, everywhere: bool) -> ExampleNeeds:
        """Examples by what the baseline shows on them: its prediction, and whether it is right."""
        truths, alphabet = self.request.truths, self.measured.score.alphabet
        weights, relevance = np.ones(1), np.ones((1, *truths.differing.shape))
        if not everywhere and isinstance(alphabet, ExampleAlphabet):
            score = self.measured.score
            tested = score if self.measured.prefix is None else score.without_share()
            counts = [number in tested.relevant for number in alphabet.group_of]
            by_kind: dict[tuple[int, int, int], list[int]] = {}
            for number, one in enumerate(alphabet.shown):
                by_kind.setdefault((one.old, one.label, one.old_right), []).append(number)
            groups = list(by_kind.values())
            shares = np.stack([self.laws[..., group].sum(axis=-1) for group in groups])
            relevant = np.stack(
                [self.laws[..., [o for o in group if counts[o]]].sum(axis=-1) for group in groups]
            )
            relevance = relevant / np.maximum(shares, 1e-300)
            weights = shares[(slice(None), *self.middle)]
        first = (~behind).astype(np.float64)
        return ExampleNeeds(self.positions, weights, relevance, first, 1.0 - first, apart)

    def _proven_by_share(self) -> Floats:
        """The probability that the differing examples of a slice prove a clause on d."""
        hypothesis, truths = self.measured.goal.proof, self.request.truths
        factor = float(hypothesis.entry(hypothesis.relevant[0]))
        examples, target = round(self.positions[-1]), self.request.targets.proof
        share = min(max(hypothesis.bound / factor, 0.0), 1.0)
        low, high = -1, examples + 1
        while high - low > 1:
            middle = (low + high) // 2
            if factor > 0.0:
                before = -float(log_sf(middle - 1, examples, share)) < target
            else:
                before = -float(log_cdf(middle, examples, share)) >= target
            low, high = (middle, high) if before else (low, middle)
        below = np.exp(log_cdf(high - 1, examples, truths.differing))
        return np.asarray(1.0 - below if factor > 0.0 else below)


def _at(values: Floats, nodes: Floats, array: Floats) -> Floats:
    """An array along its last axis at other values; 0 below the first node."""
    place = np.interp(values, nodes, np.arange(len(nodes)))
    before = np.minimum(place.astype(np.intp), len(nodes) - 2)
    part = place - before
    found = array[..., before] * (1.0 - part) + array[..., before + 1] * part
    return np.asarray(np.where(values < nodes[0], 0.0, found))


@dataclass(frozen=True)
class BoundaryRequest:
    """What boundaries depend on: a law of outcomes, numbers of units, the testset, the targets."""

    law: Floats
    units: Floats
    examples: int
    targets: Targets


def walk_boundaries(
    measured: MeasuredClause, request: BoundaryRequest, known: dict[object, Floats]
) -> Boundaries:
    """The boundaries of a walk, in sums of the proof's scores over units that count."""
    proof, futility = measured.hypotheses(request.law)
    codes = proof.relevant
    inside = request.law[list(codes)]
    share = float(inside.sum())
    inside = inside / share
    scores = [
        np.array([float(hypothesis.entry(outcome)) for outcome in codes])
        for hypothesis in (proof, futility)
    ]
    units, targets = request.units * share, request.targets
    found = []
    for side, target in enumerate((targets.proof, targets.futility)):
        key = (measured, side, target)
        if key not in known:
            walls = measured.walls(request.law, targets, request.examples)
            evidence = (walls.proof, walls.futility)[side]
            family = None if proof.single else _family(measured, codes, scores[side])
            law = ScoreLaw(scores[side], inside, codes, evidence.outcomes, family)
            known[key] = boundary(evidence, target, law, units) + law.overshoot
        found.append(known[key])
    # The sum of both scores is that of the denominators, times the width of the zone.
    drift = float(inside @ (scores[0] + scores[1]))
    return Boundaries(units, found[0], drift * units - found[1])


def score_moments(proof: Hypothesis, laws: Floats) -> tuple[Floats, Floats]:
    """The mean and the deviation of the score of a unit that counts, for each law."""
    codes = list(proof.relevant)
    scores = np.array([float(proof.entry(outcome)) for outcome in codes])
    inside = laws[..., codes]
    inside = inside / np.maximum(inside.sum(axis=-1, keepdims=True), 1e-300)
    mean = inside @ scores
    return mean, np.sqrt(np.maximum(inside @ scores**2 - mean**2, 0.0))


def _family(measured: MeasuredClause, codes: tuple[int, ...], values: Floats) -> Floats:
    """Laws of outcomes that count, by the rising mean of these values.

    Evidence with several rows grows only if outcomes change as they do in better models.
    """
    goal = measured.goal
    laws = [measured.law(goal.bound + k * goal.tolerance) for k in FAMILY]
    inside = np.stack([law[list(codes)] / law[list(codes)].sum() for law in laws])
    order = np.argsort(inside @ values)
    means = (inside @ values)[order]
    return np.asarray(inside[order][np.diff(means, prepend=-np.inf) > 1e-12])


def chances_of_proof(
    measured: MeasuredClause, targets: Targets, examples: int, values: Floats
) -> Floats:
    """The probability of a proof if the score has each of these values, on so many examples."""
    laws = np.stack([measured.law(float(value)) for value in values])
    middle = measured.law((measured.goal.bound + measured.goal.clear) / 2.0)
    units = np.geomspace(1.0, max(measured.units_in(examples), 2.0), POSITIONS)
    boundaries = walk_boundaries(measured, BoundaryRequest(middle, units, examples, targets), {})
    moments = score_moments(measured.hypotheses(middle)[0], laws)
    return np.asarray(boundaries.endings(*moments).proven[..., -1])
