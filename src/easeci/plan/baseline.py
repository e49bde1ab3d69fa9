"""The paper's baseline: every variable by Hoeffding's inequality."""

from __future__ import annotations

import math

from easeci.evidence.levels import log_level
from easeci.plan.clause_shapes import first_beyond_cells
from easeci.plan.estimate import Estimate, HoeffdingTest, does_not_apply
from easeci.plan.wording import count, exact, histories, probability, why_histories
from easeci.script import Estimator, NormalClause, Script


def beyond_published(script: Script, estimator: Estimator) -> Estimate | None:
    """The answer of a published estimator to a condition on anything but n, o and d, or None."""
    clause = first_beyond_cells(script.clauses)
    if clause is None:
        return None
    return does_not_apply(
        estimator, f"speaks of n, o and d over all examples only: not of '{clause.score}'"
    )


def hoeffding(script: Script) -> Estimate:
    """Size the testset by Hoeffding's inequality. Applies to every condition on n, o and d.

    δ is divided evenly over the clauses, the variables of each clause, and the histories. The
    tolerance of a clause is divided over its variables in proportion to their coefficients: that
    split needs the fewest examples.
    """
    beyond = beyond_published(script, Estimator.HOEFFDING)
    if beyond is not None:
        return beyond
    tests = tuple(_test(script, clause) for clause in script.clauses)
    examples = max(test.sample_size for test in tests)
    labelled = [test.sample_size for test in tests if test.clause.score.needs_labels]
    return Estimate(
        estimator=Estimator.HOEFFDING,
        applies=True,
        reason="fits every condition; assumes nothing about how the models differ",
        examples=examples,
        labels=max(labelled, default=0),
        labels_per_commit=0,
        tests=tests,
        derivation=tuple(_derivation(script, tests)),
    )


def _test(script: Script, clause: NormalClause) -> HoeffdingTest:
    level = log_level(script.delta, script.adaptivity, script.steps)
    shares = len(script.clauses) * clause.score.variables
    return HoeffdingTest(clause, level - math.log(shares))


def _derivation(script: Script, tests: tuple[HoeffdingTest, ...]) -> list[str]:
    lines = [
        f"δ = 1 − {exact(script.reliability)} = {exact(script.delta)}, divided by "
        f"{histories(script)} ({why_histories(script)})",
    ]
    clauses = len(tests)
    if clauses > 1:
        lines.append(f"and by {clauses}, one share for each clause")
    for test in tests:
        lines += _clause_derivation(script, test, clauses)
    if clauses > 1:
        lines.append(f"The largest of these: {count(max(t.sample_size for t in tests))} examples.")
    return lines


def _clause_derivation(script: Script, test: HoeffdingTest, clauses: int) -> list[str]:
    clause, score = test.clause, test.clause.score
    variables = score.variables
    divisors = [histories(script), *(str(n) for n in (clauses, variables) if n > 1)]
    divisor = divisors[0] if len(divisors) == 1 else f"({' · '.join(divisors)})"
    weight = exact(score.weight)
    lines = [f"{clause.text}:"]
    if variables > 1:
        lines.append(f"  {variables} variables, one share of δ for each")
        parts = [
            f"ε_{name} = {exact(abs(coefficient) / score.weight * clause.tolerance)}"
            for name, coefficient in (("n", score.new), ("o", score.old), ("d", score.difference))
            if coefficient != 0
        ]
        lines.append(
            f"  ε = {exact(clause.tolerance)} split in proportion to |coefficient| · range: "
            + ", ".join(parts)
        )
    lines += [
        f"  δ′ = {exact(script.delta)} / {divisor} = {probability(test.log_level)}",
        "  Hoeffding, one-sided: N = −(Σ|coefficient| · range)² ln δ′ / (2 ε²)",
        f"  N = {weight}² · {-test.log_level:.4f} / (2 · {exact(clause.tolerance)}²) "
        f"= {count(test.sample_size)} examples"
        + ("" if score.needs_labels else ", none of which needs a label"),
    ]
    return lines
