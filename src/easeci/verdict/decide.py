"""The decision of one commit from its cells, by the estimator that the script names.

Labels may be missing. An example whose score does not depend on its label needs none. The
published and the exact estimators count any other missing label at both of its extremes, and the
sequential one never looks beyond the first missing label. So an answer is given only if no missing
label could change it. Unsettled labels are not missing: they count at their worst, see
:mod:`easeci.evidence.cells`.
"""

from __future__ import annotations

from functools import cached_property

from easeci.evidence.cells import Code, Codes, Counts, Flags
from easeci.evidence.labelled import LabelledCodes
from easeci.evidence.levels import StepLevels, step_levels, uniform_levels
from easeci.plan import ClauseTest, design
from easeci.script import Estimator, Script
from easeci.verdict import exact, published
from easeci.verdict.labels import consulted, wanted
from easeci.verdict.logic import best, conjunction, passes, worst
from easeci.verdict.result import ClauseResult, Verdict
from easeci.verdict.sequential import ConditionTest, decide_by

BATCH = 20
"""How many labels are asked for at a time: fewer might be enough, but more rounds take time."""


def decide(
    script: Script,
    codes: Codes,
    history: str | None = None,
    batch: int = BATCH,
    at_hand: Flags | None = None,
) -> Verdict:
    """The verdict on a commit whose examples have these codes, in the testset's order.

    ``history`` holds the answers given so far, as letters P and F. Without it, the step gets the
    published levels, the same for every step; published estimators always use these. ``auto`` means
    sequential; callers that had all labels beforehand may choose ``exact`` themselves.

    ``at_hand`` says of each example whether its label was known when the commit's turn came; None
    means of none. The sequential estimator uses such labels even where it would ask for no more.
    """
    return Evaluation(script, codes, history, at_hand).verdict(batch)


class Evaluation:
    """The decision of one commit while its labels come in, in any order.

    Its verdict is always the one that :func:`decide` gives for the current codes. The time of a
    sequential verdict depends on its labels, not on the size of the testset.
    """

    def __init__(
        self,
        script: Script,
        codes: Codes,
        history: str | None = None,
        at_hand: Flags | None = None,
    ) -> None:
        self._script, self._testset = script, LabelledCodes(codes, at_hand)
        self._history = history

    def code_at(self, position: int) -> Code:
        """What is known of one example."""
        return Code(int(self._testset.codes[position]))

    def put(self, position: int, code: Code) -> None:
        """Change what is known of one example: a label came in, or was taken back."""
        self._testset.put(position, code)

    def verdict(self, batch: int = BATCH) -> Verdict:
        """The verdict by the labels that are known now."""
        if self._script.estimator in (Estimator.AUTO, Estimator.SEQUENTIAL):
            return decide_by(self._test, self._testset, batch=batch)
        whole, codes = self._testset.counts, self._testset.codes
        if self._script.estimator is Estimator.EXACT:
            results = exact.measure(self._script.clauses, self._script.mode, self._levels, whole)
        else:
            results = tuple(published.measure(test, whole, codes) for test in self._designed)
        return _combined(self._script, results, whole, codes)

    @cached_property
    def _levels(self) -> StepLevels:
        return levels_of(self._script, self._history)

    @cached_property
    def _test(self) -> ConditionTest:
        script = self._script
        return ConditionTest.of(script.clauses, script.mode, self._levels, self._testset)

    @cached_property
    def _designed(self) -> tuple[ClauseTest, ...]:
        return tuple(design(self._script))


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
    # The verdict is monotone in each clause's result, so the two extremes are enough.
    least = conjunction(worst(result.possible) for result in results)
    most = conjunction(best(result.possible) for result in results)
    answers = {passes(result, script.mode) for result in (least, most)}
    passed = answers.pop() if len(answers) == 1 else None
    return Verdict(
        estimator=script.estimator,
        result=conjunction(found.result for found in results),
        passed=passed,
        clauses=results,
        examples=whole.examples,
        labels=consulted(results, whole, codes),
        wanted=() if passed is not None else wanted([r for r in results if not r.final], codes),
    )
