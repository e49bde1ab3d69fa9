"""The decision of one commit from its outcomes, by the estimator that the script names.

Labels may be missing. An example whose score does not depend on its label needs none. The
published and the exact estimators count any other missing label at both of its extremes, and the
sequential one never looks beyond the first missing label. So an answer is given only if no missing
label could change it. Unsettled labels are not missing: they count at their worst, see
:mod:`easeci.evidence.codes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from easeci.errors import ScriptError
from easeci.evidence.codes import Codes, Flags
from easeci.evidence.facts import Facts, Known
from easeci.evidence.labelled import LabelledTestset
from easeci.evidence.levels import StepLevels, step_levels, uniform_levels
from easeci.plan import ClauseTest, design
from easeci.plan.clause_shapes import exact_obstacle
from easeci.plan.prefix import Prefixes, recorded_prefixes, shared_prefixes, step_risks
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
    facts: Facts | Codes,
    history: str | None = None,
    batch: int = BATCH,
    at_hand: Flags | None = None,
) -> Verdict:
    """The verdict on a commit of whose examples this is known, in the testset's order.

    For conditions over n, o and d their codes are enough (:mod:`easeci.evidence.cells`).

    ``history`` holds the answers given so far, as letters P and F. Without it, the step gets the
    published levels, the same for every step; published estimators always use these. ``auto`` means
    sequential; callers that had all labels beforehand may choose ``exact`` themselves.

    ``at_hand`` says of each example whether its label was known when the commit's turn came; None
    means of none. The sequential estimator uses such labels even where it would ask for no more.
    """
    return Evaluation(script, facts, history, at_hand).verdict(batch)


class Evaluation:
    """The decision of one commit while its labels come in, in any order.

    Its verdict is always the one that :func:`decide` gives for the current codes. The time of a
    sequential verdict depends on its labels, not on the size of the testset.
    """

    def __init__(
        self,
        script: Script,
        facts: Facts | Codes,
        history: str | None = None,
        at_hand: Flags | None = None,
        prefixes: Mapping[str, int] | None = None,
    ) -> None:
        """``prefixes`` are recorded lengths by clause; None: as the plan chooses them."""
        self._script, self._testset = script, LabelledTestset(facts, at_hand)
        self._history, self._lengths = history, prefixes

    def known_at(self, position: int) -> Known:
        """What is known of one example."""
        return self._testset.facts.known_at(position)

    def put(self, position: int, known: Known) -> None:
        """Change what is known of one example: a label came in, or was taken back."""
        self._testset.put(position, known)

    @property
    def missing_labels(self) -> int:
        """How many missing labels matter to some clause."""
        return self._testset.missing_labels([clause.score for clause in self._script.clauses])

    def verdict(self, batch: int = BATCH) -> Verdict:
        """The verdict by the labels that are known now."""
        if self._script.estimator in (Estimator.AUTO, Estimator.SEQUENTIAL):
            return decide_by(self._test, self._testset, batch=batch)
        if self._script.estimator is Estimator.EXACT:
            _require_exact(self._script)
            results = exact.measure(
                self._script.clauses, self._script.mode, self._levels, self._testset
            )
        else:
            cells = self._testset.cells
            results = tuple(
                published.measure(test, cells.counts, cells.codes) for test in self._designed
            )
        return _combined(self._script, results, self._testset)

    @cached_property
    def _levels(self) -> StepLevels:
        return levels_of(self._script, self._history, self._lengths)

    @cached_property
    def _test(self) -> ConditionTest:
        script = self._script
        levels, prefixes = self._levels, prefixes_of(script, self._lengths)
        return ConditionTest.of(script.clauses, script.mode, levels, self._testset, prefixes)

    @cached_property
    def _designed(self) -> tuple[ClauseTest, ...]:
        return tuple(design(self._script))


def _require_exact(script: Script) -> None:
    obstacle = exact_obstacle(script.clauses)
    if obstacle is not None:
        raise ScriptError(
            f"estimator exact does not fit '{obstacle.text}'", hint="Choose sequential, or auto."
        )


def prefixes_of(script: Script, lengths: Mapping[str, int] | None) -> Prefixes:
    """The prefixes of these lengths; None: as the plan chooses them."""
    return shared_prefixes(script) if lengths is None else recorded_prefixes(script, lengths)


def levels_of(
    script: Script, history: str | None, lengths: Mapping[str, int] | None = None
) -> StepLevels:
    """The levels of the next step."""
    delta, beta = step_risks(script, prefixes_of(script, lengths))
    if history is None:
        return uniform_levels(
            delta=delta, beta=beta, adaptivity=script.adaptivity, steps=script.steps
        )
    return step_levels(
        delta=delta,
        beta=beta,
        mode=script.mode,
        adaptivity=script.adaptivity,
        steps=script.steps,
        history=history,
        fixed_models=not script.needs_old_model,
    )


def _combined(
    script: Script, results: tuple[ClauseResult, ...], testset: LabelledTestset
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
        examples=len(testset),
        labels=consulted(results, testset),
        wanted=() if passed is not None else wanted([r for r in results if not r.final], testset),
    )
