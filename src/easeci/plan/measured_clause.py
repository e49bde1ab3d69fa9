"""A clause that n, o and d don't describe, such as recall(fraud) > 0.8: its sizes and its labels.

Sizes and forecasts of such a clause assume a law of its outcomes
(:mod:`easeci.plan.outcome_laws`). Its tests never do. There are these kinds:

* ratios such as precision, recall and F1, and differences of two ratios;
* the AUC, whose unit is a block of examples;
* measures in a slice: all numbers are those of the slice's own examples;
* mean scores of outputs, on a lattice;
* ``n - top(K)``, which is sized like n − o against each of the models tested before;
* ratios with a shared prefix (:mod:`easeci.plan.prefix`): the prefix comes on top.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from easeci.bounds import binomial
from easeci.evidence.bets import FUTILITY_AIMS, PROOF_AIMS, Floats
from easeci.evidence.clause_test import Goal, Targets
from easeci.evidence.hypothesis import Hypothesis, difference_rows, evidence_against
from easeci.evidence.shared_prefix import Prefix, ShareGoal
from easeci.evidence.sizing import (
    LARGEST,
    ImpracticalError,
    LabelsByTruth,
    PathEnds,
    Walls,
    examples_needed,
    law_path_ends,
    mean_ratio,
    rows_near,
    units_needed,
)
from easeci.plan.expected_difference import planned_difference
from easeci.plan.outcome_laws import (
    USUAL_ACCURACY,
    Shares,
    examples_a_block,
    law_at,
    lifted,
    shares_of,
    value_of,
)
from easeci.plan.prefix import shared_prefixes
from easeci.script import NormalClause, Score, Script


@dataclass(frozen=True)
class MeasuredClause:
    """A clause with what a plan assumes of it.

    ``difference`` is the d of the models that are compared, and ``shares`` those of the classes
    that the clause names.
    """

    goal: Goal
    shares: Shares
    difference: float
    prefix: Prefix | None
    rivals: int
    """With how many earlier models the new one is compared at most."""

    @staticmethod
    @lru_cache(maxsize=256)
    def of(script: Script, clause: NormalClause, difference: float | None = None) -> MeasuredClause:
        """The clause of a script, for models that differ on the planned share unless given."""
        if difference is None:
            difference = float(planned_difference(script, clause).share)
        return MeasuredClause(
            Goal.of(clause, script.mode),
            shares_of(script, clause.score),
            difference,
            shared_prefixes(script).get(clause),
            script.steps if clause.score.top is not None else 1,
        )

    @property
    def score(self) -> Score:
        """The score, in the direction of the proof."""
        return self.goal.score

    @property
    def labels_first(self) -> int:
        """How many labels the prefix takes, once for all commits."""
        return 0 if self.prefix is None else self.prefix.length

    # -- laws

    @cached_property
    def tested(self) -> Goal:
        """The goal as it is tested: with a prefix, about the numerator alone."""
        return self.goal if self.prefix is None else self._after_prefix(self._expected_count)

    @property
    def _share(self) -> float:
        name = self.score.class_share
        assert name is not None
        return self.shares[self.score.classes.index(name)]

    @property
    def _expected_count(self) -> int:
        return round(self._share * self.labels_first)

    def _after_prefix(self, count: int) -> ShareGoal:
        """The goal after a prefix that has so many examples of the class."""
        assert self.prefix is not None
        size, level = self.prefix.length, self.prefix.log_level
        limits = (
            binomial.lower_limit(count, size, level),
            binomial.upper_limit(count, size, level),
        )
        goal = self.goal
        return ShareGoal(goal.score, goal.bound, goal.tolerance, limits, self.prefix.share)

    def law(self, value: float) -> Floats:
        """The law of the outcomes at which the score has a value, or nearly so."""
        return _law(self.score, value, self.shares, self.difference)

    def relevant_share(self, law: Floats) -> float:
        """Which share of the units needs labels."""
        score = self.score if self.prefix is None else self.score.without_share()
        groups = self.score.alphabet.groups
        return float(sum(law[list(groups[number])].sum() for number in score.relevant))

    @property
    def labels_a_unit(self) -> float:
        """How many labels a unit that counts takes: more than one for a block."""
        blocks = self.score.blocks
        return 1.0 if blocks is None else examples_a_block(blocks, self.shares[0])

    def units_in(self, examples: float) -> float:
        """How many units so many examples have, behind the prefix."""
        return max(examples - self.labels_first, 1.0) / self.labels_a_unit

    # -- size

    def size(self, targets: Targets, log_exhaustion: float) -> int:
        """The examples that keep the probability of running out below exp(``log_exhaustion``).

        Claim: a commit at c + 2ε reaches its proof within so many examples, except with that
        probability.
        Assumptions: i.i.d. examples, and the law of :meth:`law`. Sides: one. Rounding: up, to
        three digits.
        Source: Chernoff's bound (:mod:`easeci.evidence.sizing`), and binomial tails.
        """
        goal, score = self.goal, self.score
        if goal.clear <= goal.bound:
            return 1  # the constant is at the end of the range: there is nothing to promise
        if score.coefficients is not None:
            return self._size_of_cells(targets, log_exhaustion)
        if score.blocks is not None:
            return self._size_of_blocks(targets, log_exhaustion)
        # Scores between two points of a lattice lose up to one step.
        lost = 0.0 if score.lattice is None or score.lattice.exact else score.lattice.step
        law = self.law(goal.clear - float(lost))
        if score.subtracted is not None:
            # Every row of the evidence may miss, and gets its part of the probability.
            part = log_exhaustion - math.log(difference_rows(score, goal.tolerance))
            return units_needed(self.hypotheses(law)[0], targets.proof, part, law)
        if self.prefix is None:
            return units_needed(goal.proof, targets.proof, log_exhaustion, law)
        half = log_exhaustion - math.log(2.0)
        proof = self._after_prefix(self._unlucky_count(half)).proof
        return self.prefix.length + units_needed(proof, targets.proof, half, law)

    def _size_of_cells(self, targets: Targets, log_exhaustion: float) -> int:
        """In a slice, or against earlier models.

        Against J of them, the K-th smallest e-value has to be K/α. A clearly good model beats
        J − K + 1, so it is enough if each of these reaches K/α. In fn-free, K and J − K + 1 change
        places.
        """
        score, difference = self.score, _reached(self.goal, self.difference)
        if score.top is not None:
            few = min(score.top, self.rivals)
            many = self.rivals - few + 1
            least, beaten = (few, many) if score.new > 0 else (many, few)
            targets = replace(targets, proof=targets.proof + math.log(least))
            log_exhaustion -= math.log(beaten)
        return examples_needed(self.goal, targets, log_exhaustion, difference)

    def _size_of_blocks(self, targets: Targets, log_exhaustion: float) -> int:
        """Enough blocks, and enough examples of both kinds for them."""
        blocks, share = self.score.blocks, self.shares[0]
        assert blocks is not None
        half, quarter = log_exhaustion - math.log(2.0), log_exhaustion - math.log(4.0)
        law = self.law(self.goal.clear)
        units = units_needed(self.goal.proof, targets.proof, half, law)
        return max(
            sample_with(units * blocks.positives, share, quarter),
            sample_with(units * blocks.negatives, 1.0 - share, quarter),
        )

    def _unlucky_count(self, log_chance: float) -> int:
        """The most unfavourable number of examples of the class in the prefix, but for a chance."""
        assert self.prefix is not None
        size, share = self.prefix.length, self._share
        if self.goal.bound > 0.0:  # a large share makes the hypothesis hard to reject
            return min(binomial.cutoff(size, share, log_chance) - 1, size)
        return size - min(binomial.cutoff(size, 1.0 - share, log_chance) - 1, size)

    # -- labels

    def ends_at(self, value: float, targets: Targets, examples: int) -> PathEnds:
        """How a walk is likely to end if the score has a value, in labels, without the prefix."""
        law = self.law(value)
        ends = law_path_ends(self.walls(law, targets, examples), law, self.units_in(examples))
        return PathEnds(ends.labels * self.labels_a_unit, ends.proven)

    def walls(self, law: Floats, targets: Targets, examples: int) -> Walls:
        """The evidence of proof and futility on a testset of so many examples with this law.

        Of a difference of two ratios, only the rows that matter most.
        """
        proof, futility = self.hypotheses(law)
        size = (examples, round(float(law[list(proof.relevant)].sum()) * examples))
        return Walls(
            proof,
            evidence_against(proof, PROOF_AIMS, *size, targets.proof),
            evidence_against(futility, FUTILITY_AIMS, *size, targets.futility),
            targets,
        )

    def hypotheses(self, law: Floats) -> tuple[Hypothesis, Hypothesis]:
        """What proof and futility must reject, under a law."""
        goal, score = self.goal, self.score
        if score.subtracted is None:
            return self.tested.proof, self.tested.futility
        second, opposite = mean_ratio(score.subtracted, law), -score
        return (
            rows_near(score, goal.bound, goal.tolerance, second),
            rows_near(opposite, -goal.clear, goal.tolerance, -second),
        )

    def labels_at(self, value: float, targets: Targets, examples: int) -> int:
        """The mean number of labels of such a walk, with the prefix."""
        return self.labels_first + round(
            float(self.ends_at(value, targets, examples).labels.mean())
        )

    def forecast(self, targets: Targets, examples: int) -> LabelsByTruth:
        """Labels by what is true, as :func:`easeci.evidence.sizing.forecast_labels` has them."""
        goal = self.goal
        width = (goal.clear - goal.bound) / 2.0

        def labels(value: float) -> int:
            return self.labels_at(value, targets, examples)

        middle = labels(goal.bound + width)
        around = (goal.bound, goal.bound + width / 2.0, goal.bound + 1.5 * width, goal.clear)
        return LabelsByTruth(
            labels(self._unchanged(goal.bound - 2.0 * width)),
            middle,
            labels(goal.clear + width),
            max(middle, *(labels(value) for value in around)),
        )

    def _unchanged(self, otherwise: float) -> float:
        """The score of a model that is as good as the old one; a score of one model has none."""
        if not self.score.needs_old_model:
            return otherwise
        if self.score.blocks is not None:
            return float(self.score.blocks.new + self.score.blocks.old) * USUAL_ACCURACY
        both = (USUAL_ACCURACY, USUAL_ACCURACY)
        return value_of(self.score, lifted(self.score, both, self.shares, self.difference))


def _one_rival(goal: Goal) -> Goal:
    """Against several earlier models, a walk is about as long as against one of them."""
    score = goal.score
    if score.top is None:
        return goal
    return replace(goal, score=replace(score, top=None, slice=None))


def _reached(goal: Goal, difference: float) -> float:
    """The difference, raised if the score could not be clearly good otherwise."""
    span = float(goal.score.highest - goal.score.lowest) / 2.0
    return min(1.0, max(difference, 1.01 * abs(goal.clear) / max(1e-9, span)))


@lru_cache(maxsize=1024)
def _law(score: Score, value: float, shares: Shares, difference: float) -> Floats:
    return law_at(score, value, shares, difference)


def sample_with(count: int, share: float, log_chance: float) -> int:
    """The fewest examples, to three digits, that have ``count`` of this share but for a chance."""
    low, high = 0, count

    def enough(size: int) -> bool:
        return float(binomial.log_cdf(count - 1, size, share)) <= log_chance

    while not enough(high):
        if high > LARGEST:
            raise ImpracticalError
        low, high = high, 2 * high
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def possible_size(goal: Goal, target: float) -> int:
    """With fewer examples no proof is possible, even if each of them is the best for it."""
    goal = _one_rival(goal)
    if not goal.score.needs_labels:
        return _possible_share(goal, target)
    hypothesis = goal.proof
    outcomes = list(hypothesis.relevant)

    def possible(size: int) -> bool:
        evidence = evidence_against(hypothesis, PROOF_AIMS, size, size, target)
        counts = np.zeros((len(outcomes), evidence.outcomes))
        counts[np.arange(len(outcomes)), outcomes] = float(size)
        return bool((evidence.after(counts) >= target).any())

    if hypothesis.outright or hypothesis.everywhere:
        evidence = evidence_against(hypothesis, PROOF_AIMS, 1, 1, target)
        units = evidence.fewest_more(np.zeros(evidence.outcomes), target, LARGEST)
    else:
        low, units = 0, 1
        while not possible(units):
            if units > LARGEST:
                raise ImpracticalError
            low, units = units, 2 * units
        while units - low > 1:
            middle = (low + units) // 2
            low, units = (low, middle) if possible(middle) else (middle, units)
    blocks = goal.score.blocks
    return units if blocks is None else units * (blocks.positives + blocks.negatives)


def _possible_share(goal: Goal, target: float) -> int:
    """For a score e·d: all examples differ, or none does."""
    factor = float(goal.score.difference)
    share = min(max(goal.bound / factor, 0.0), 1.0)
    chance = share if factor > 0.0 else 1.0 - share
    if chance <= 0.0:
        return 1
    if chance >= 1.0:
        raise ImpracticalError
    return max(math.ceil(target / -math.log(chance)), 1)
