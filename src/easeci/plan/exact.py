"""The exact estimator: a cut-off that keeps the two promises, with no tolerance around an estimate.

The sum of scores reaches the cut-off with probability at most α if the clause is false, and misses
it with probability at most β if the clause is clearly true. The size is the fewest examples for
which such a cut-off exists.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from easeci.bounds import Bennett, binomial, chernoff, trinomial
from easeci.bounds.chernoff import Scores
from easeci.evidence.clause_test import Goal
from easeci.evidence.levels import StepLevels
from easeci.evidence.sizing import ImpracticalError
from easeci.plan.assumptions import planned_difference, typical_step
from easeci.plan.clause_shapes import (
    conditional_binomial,
    difference_of_accuracies,
    exact_obstacle,
    known_difference,
    single_variable,
)
from easeci.plan.estimate import Estimate, does_not_apply
from easeci.plan.wording import count, exact, probability
from easeci.script import Estimator, NormalClause, Script


def exact_estimate(script: Script) -> Estimate:
    """Applies to conditions over n, o and d, and to shares such as precision and recall.

    Needs every label that matters before the first commit.
    """
    obstacle = exact_obstacle(script.clauses)
    if obstacle is not None and obstacle.score.lattice is not None:
        return does_not_apply(
            Estimator.EXACT,
            f"knows no law of the scores of outputs that '{obstacle.score}' is about",
        )
    if obstacle is not None:
        return does_not_apply(
            Estimator.EXACT,
            "knows the exact law only of n, o and d, of precision and recall, and of n, o and d "
            f"in a slice: not of '{obstacle.score}'",
        )
    step = typical_step(script)
    levels = step.levels.per_clause(script.mode, len(script.clauses))
    try:
        sizes = {clause: _size(script, clause, levels) for clause in script.clauses}
    except ImpracticalError as error:
        return does_not_apply(Estimator.EXACT, f"finds that {error.message}")
    labelled = [size for clause, size in sizes.items() if clause.score.needs_labels]
    return Estimate(
        estimator=Estimator.EXACT,
        applies=True,
        reason="decides by exact tail probabilities; the best choice if all labels are known",
        examples=max(sizes.values()),
        labels=max(labelled, default=0),
        labels_per_commit=0,
        in_each_slice=max(
            (size for clause, size in sizes.items() if clause.score.slice is not None),
            default=None,
        ),
        derivation=(
            f"Sized for {step.description}: α = {probability(levels.safety)} for safety, "
            f"β = {probability(levels.sensitivity)} for sensitivity, for each clause",
            *(line for clause, size in sizes.items() for line in _derivation(script, clause, size)),
        ),
    )


def _size(script: Script, clause: NormalClause, levels: StepLevels) -> int:
    goal = Goal.of(clause, script.mode)
    alpha, beta = levels.safety, levels.sensitivity
    tolerance = (goal.clear - goal.bound) / 2.0
    if tolerance <= 0.0:
        return 1  # the constant is at the end of the range: there is nothing to promise
    if not clause.score.is_linear:
        return _size_of_share(script, clause, goal, levels)
    single = single_variable(clause.score)
    if single is not None:
        unit = abs(float(single[1]))
        positive = sum((goal.score.new, goal.score.old, goal.score.difference)) > 0
        # For a score −x, count the examples without x instead.
        threshold = goal.bound / unit if positive else 1.0 + goal.bound / unit
        return binomial.contract_sample_size(threshold, tolerance / unit, alpha, beta)
    scale = difference_of_accuracies(clause.score)
    known = known_difference(script.clauses, clause)
    if scale is not None:
        unit = abs(float(scale))
        paired = _Paired(goal.bound / unit, tolerance / unit, alpha, beta)
        if known is not None:
            largest = max(known, planned_difference(script, clause).share)
            return paired.size(paired.reachable(float(largest)))
        return paired.size_if_unknown(float(planned_difference(script, clause).share))
    scores = Scores.of_linear(
        float(goal.score.new),
        float(goal.score.old),
        float(goal.score.difference),
        float(known or 1),
    )
    if not scores.lowest_mean <= goal.bound < goal.clear <= scores.highest_mean:
        scores = replace(scores, largest_difference=1.0)  # the clause on d contradicts this one
    return chernoff.contract_sample_size(scores, goal.bound, tolerance, alpha, beta)


def _size_of_share(script: Script, clause: NormalClause, goal: Goal, levels: StepLevels) -> int:
    """A share among some of the examples: enough of these, and enough examples to have them.

    Half of β is for a testset that has too few of them.
    """
    from easeci.plan.measured_clause import MeasuredClause, sample_with

    found = conditional_binomial(goal.score)
    assert found is not None
    unit, half = abs(float(found.scale)), levels.sensitivity - math.log(2.0)
    # For a score −x, count the trials without success instead.
    threshold = goal.bound / unit if found.scale > 0 else 1.0 + goal.bound / unit
    tolerance = (goal.clear - goal.bound) / 2.0 / unit
    if len(found.trials) == goal.score.alphabet.outcomes:  # every example of a slice
        whole = levels.sensitivity
        return binomial.contract_sample_size(threshold, tolerance, levels.safety, whole)
    trials = binomial.contract_sample_size(threshold, tolerance, levels.safety, half)
    law = MeasuredClause.of(script, clause).law(goal.clear)
    share = float(sum(law[outcome] for outcome in found.trials))
    try:
        return sample_with(trials, share, half)
    except ImpracticalError:
        raise ImpracticalError(f"'{clause.text}'") from None


@dataclass(frozen=True)
class _Paired:
    """A clause on n − o, by exact trinomial tails."""

    threshold: float
    tolerance: float
    log_alpha: float
    log_beta: float

    def reachable(self, difference: float) -> float:
        """The difference, raised if n − o could not reach the zone's ends otherwise."""
        clear = self.threshold + 2.0 * self.tolerance
        return min(1.0, max(difference, 1.01 * abs(self.threshold), 1.01 * abs(clear)))

    def size(self, largest_difference: float) -> int:
        return trinomial.contract_sample_size(
            self.threshold, self.tolerance, largest_difference, self.log_alpha, self.log_beta
        )

    def size_if_unknown(self, difference: float) -> int:
        """The size if the test must find an upper limit for d itself, at a share of the level.

        Half of β covers a limit above the one expected here. That limit is computed for a smaller
        size than the result, so it can only be too large.
        """
        difference = self.reachable(difference)
        few = round(0.9 * Bennett(difference, sides=1).sample_size(self.tolerance, self.log_alpha))
        half = self.log_beta - math.log(2.0)
        most = min(few, binomial.cutoff(few, min(difference, 1.0 - 1e-12), half) - 1)
        share = trinomial.BERGER_BOOS_SHARE
        limit = binomial.upper_limit(most, few, self.log_alpha + math.log(share))
        level = self.log_alpha + math.log1p(-share)
        found = _Paired(self.threshold, self.tolerance, level, half).size(limit)
        return max(found, few)


def _derivation(script: Script, clause: NormalClause, size: int) -> list[str]:
    where = " in each slice" if clause.score.slice is not None else ""
    if not clause.score.is_linear:
        method = "exact binomial cut-off on the examples that count"
    elif single_variable(clause.score) is not None:
        method = "exact binomial cut-off"
    elif difference_of_accuracies(clause.score) is not None:
        method = f"exact trinomial cut-off for {planned_difference(script, clause).why}"
    else:
        method = "Chernoff on the joint score of the five cells"
    doubled = exact(clause.tolerance * Fraction(2))
    return [f"{clause.text}: {method}, zone of {doubled}: {count(size)} examples{where}"]
