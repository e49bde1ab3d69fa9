"""The decision of one commit from its cells, by the estimator that the script names.

Labels may be missing. An example whose score does not depend on its label needs none. The
published and the exact estimators count any other at both of its extremes, and the sequential one
never looks behind the first that is missing; so an answer is given only if no missing label could
change it. Unsettled labels are not missing: they count at their worst, see
:mod:`easeci.evidence.cells`.
"""

from __future__ import annotations

from easeci.evidence.cells import Codes, Counts
from easeci.evidence.levels import StepLevels, step_levels, uniform_levels
from easeci.plan import design
from easeci.script import Estimator, Script
from easeci.verdict import exact, published
from easeci.verdict.labels import consulted, wanted
from easeci.verdict.logic import best, conjunction, passes, worst
from easeci.verdict.result import ClauseResult, Verdict
from easeci.verdict.sequential import decide_sequentially

BATCH = 20
"""How many labels are asked for at a time, where fewer might do but each asking is a nuisance."""


def decide(script: Script, codes: Codes, history: str | None = None, batch: int = BATCH) -> Verdict:
    """The verdict on a commit whose examples have these codes, in the testset's order.

    ``history`` holds the answers given so far, as letters P and F. Who doesn't know it gets the
    published levels, the same for every step; published estimators have no others. ``auto`` is
    sequential: whoever has all labels at hand asks for ``exact``.
    """
    if script.estimator in (Estimator.AUTO, Estimator.SEQUENTIAL):
        levels = levels_of(script, history)
        return decide_sequentially(script.clauses, script.mode, levels, codes, batch=batch)
    whole = Counts.of(codes)
    if script.estimator is Estimator.EXACT:
        results = exact.measure(script.clauses, script.mode, levels_of(script, history), whole)
    else:
        results = tuple(published.measure(test, whole, codes) for test in design(script))
    return _combined(script, results, whole, codes)


def levels_of(script: Script, history: str | None) -> StepLevels:
    """The levels of the next step."""
    if history is None:
        return uniform_levels(
            delta=script.delta, beta=script.beta, adaptivity=script.adaptivity, steps=script.steps
        )
    return step_levels(
        delta=script.delta,
        beta=script.beta,
        mode=script.mode,
        adaptivity=script.adaptivity,
        steps=script.steps,
        history=history,
        fixed_models=not script.needs_old_model,
    )


def _combined(
    script: Script, results: tuple[ClauseResult, ...], whole: Counts, codes: Codes
) -> Verdict:
    # Conjunction and verdict both grow with each clause's outcome: the two ends say it all.
    least = conjunction(worst(result.possible) for result in results)
    most = conjunction(best(result.possible) for result in results)
    answers = {passes(outcome, script.mode) for outcome in (least, most)}
    passed = answers.pop() if len(answers) == 1 else None
    return Verdict(
        estimator=script.estimator,
        outcome=conjunction(result.outcome for result in results),
        passed=passed,
        clauses=results,
        examples=whole.examples,
        labels=consulted(results, whole, codes),
        wanted=() if passed is not None else wanted([r for r in results if not r.settled], codes),
    )
