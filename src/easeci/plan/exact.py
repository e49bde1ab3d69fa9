"""The exact estimator: no tolerance around an estimate, but the two promises themselves.

A cut-off that is passed with probability at most α where the clause is false, and missed with
probability at most β where it is clearly true, for as few examples as there is one.
"""

from __future__ import annotations

from fractions import Fraction

from easeci.bounds import binomial, chernoff, trinomial
from easeci.bounds.chernoff import Scores
from easeci.evidence.clause_test import Aim
from easeci.evidence.levels import StepLevels
from easeci.plan.estimate import Estimate
from easeci.plan.forms import difference_of_accuracies, known_difference, single_variable
from easeci.plan.typical import planned_difference, typical
from easeci.plan.wording import count, exact, probability
from easeci.script import Estimator, LinearClause, Script


def exact_estimate(script: Script) -> Estimate:
    """Applies to every condition; every label that matters is there before the first commit."""
    reckoned = typical(script)
    levels = reckoned.levels.per_clause(script.mode, len(script.clauses))
    sizes = {clause: _size(script, clause, levels) for clause in script.clauses}
    labelled = [size for clause, size in sizes.items() if clause.score.needs_labels]
    return Estimate(
        estimator=Estimator.EXACT,
        applies=True,
        reason="decides by exact tail probabilities; the choice where all labels are at hand",
        examples=max(sizes.values()),
        labels=max(labelled, default=0),
        labels_per_commit=0,
        derivation=(
            f"Sized for {reckoned.words}: α = {probability(levels.safety)} for safety, "
            f"β = {probability(levels.sensitivity)} for sensitivity, for each clause",
            *(line for clause, size in sizes.items() for line in _lines(script, clause, size)),
        ),
    )


def _size(script: Script, clause: LinearClause, levels: StepLevels) -> int:
    aim = Aim.of(clause, script.mode)
    alpha, beta = levels.safety, levels.sensitivity
    tolerance = (aim.clear - aim.bound) / 2.0
    single = single_variable(clause.score)
    if single is not None:
        unit = abs(float(single[1]))
        positive = sum((aim.score.new, aim.score.old, aim.score.difference)) > 0
        # A score −x asks for few x: count the examples without it instead.
        threshold = aim.bound / unit if positive else 1.0 + aim.bound / unit
        return binomial.contract_sample_size(threshold, tolerance / unit, alpha, beta)
    scale = difference_of_accuracies(clause.score)
    if scale is not None:
        unit = abs(float(scale))
        reach = 1.01 * max(abs(aim.bound), abs(aim.clear)) / unit
        difference = min(1.0, max(float(planned_difference(script, clause).share), reach))
        return trinomial.contract_sample_size(
            aim.bound / unit, tolerance / unit, difference, alpha, beta
        )
    known = known_difference(script.clauses, clause)
    scores = Scores.of_linear(
        float(aim.score.new), float(aim.score.old), float(aim.score.difference), float(known or 1)
    )
    return chernoff.contract_sample_size(scores, aim.bound, tolerance, alpha, beta)


def _lines(script: Script, clause: LinearClause, size: int) -> list[str]:
    if single_variable(clause.score) is not None:
        method = "exact binomial cut-off"
    elif difference_of_accuracies(clause.score) is not None:
        method = f"exact trinomial cut-off, {planned_difference(script, clause).why}"
    else:
        method = "Chernoff on the joint score of the five cells"
    doubled = exact(clause.tolerance * Fraction(2))
    return [f"{clause.text}: {method}, zone of {doubled}: {count(size)} examples"]
