"""What all examples of a check show, and how many more of them would decide.

A verdict stops as soon as it is known. Where every score is there, looking at the rest costs
nothing, and intervals hold at every label, so those of all examples hold too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from easeci.evidence.clause_test import Walk
from easeci.evidence.codes import Counts
from easeci.evidence.endings import Ending
from easeci.evidence.facts import Facts
from easeci.evidence.labelled import LabelledTestset
from easeci.evidence.sizing import Walls, law_path_ends
from easeci.script import Mode, Script
from easeci.verdict.decide import levels_of
from easeci.verdict.result import Verdict
from easeci.verdict.sequential import AnyWalk, ConditionTest, estimate_at

MOST = 10**8
"""With more examples than this, nothing is promised."""


@dataclass(frozen=True)
class WholeClause:
    """The score of a clause over all examples whose scores are known, and its interval."""

    estimate: float
    low: float
    high: float
    examples: int


@dataclass(frozen=True)
class Outlook:
    """What all examples show of each clause; and about how many more examples would decide.

    ``more_examples`` is None if the condition is decided, or if that is not known.
    """

    whole: tuple[WholeClause, ...]
    more_examples: int | None

    @staticmethod
    def of(script: Script, facts: Facts, history: str | None, verdict: Verdict) -> Outlook:
        """The outlook of a verdict on these facts; empty while labels are missing."""
        if verdict.passed is None:
            return Outlook((), None)
        testset = LabelledTestset(facts)
        test = ConditionTest.of(script.clauses, script.mode, levels_of(script, history), testset)
        walks, _ = test.walk(testset)
        whole = [_whole(walk, place, test, testset) for place, walk in enumerate(walks)]
        complete = tuple(found for found in whole if found is not None)
        return Outlook(
            complete if len(complete) == len(walks) else (),
            _more_examples(script.mode, walks, len(testset)),
        )


def _whole(
    walk: AnyWalk, place: int, test: ConditionTest, testset: LabelledTestset
) -> WholeClause | None:
    clause, labels = test.clauses[place], walk.track.gap
    estimate = estimate_at(clause, walk, labels, testset)
    if estimate is None or not isinstance(walk, Walk):
        return None
    low, high = walk.seen(clause.score, labels, test.log_side).interval
    examples = labels if clause.score.needs_labels else walk.test.examples
    return WholeClause(float(estimate), low, high, examples)


def _more_examples(mode: Mode, walks: list[AnyWalk], examples: int) -> int | None:
    """A forecast: further examples are like these, whose mean is taken for the true one.

    Only clauses that ended because the examples ran out are looked at. In fp-free all of them must
    end, and in fn-free the first that is shown to be false decides.
    """
    ends = [
        _examples_until_end(walk)
        for walk in walks
        if isinstance(walk, Walk) and walk.ending is Ending.EXHAUSTED
    ]
    known = [end for end in ends if end is not None]
    if not known:
        return None
    needed = max(known) if mode is Mode.FP_FREE else min(known)
    return max(needed - examples, 1) if needed < MOST else None


def _examples_until_end(walk: Walk) -> int | None:
    """How long a walk over examples with the observed outcomes is likely to be, in examples."""
    goal, test = walk.test.goal, walk.test
    if not goal.score.is_mean or not goal.score.needs_labels or not len(walk.codes):
        return None
    counts = np.array(Counts.of(goal.proof.cautious(walk.codes), goal.score.alphabet).by_code)
    outcomes = counts[: goal.score.alphabet.outcomes].astype(np.float64)
    share = 1.0 if goal.proof.everywhere else test.relevant / max(test.examples, 1)
    law = outcomes / outcomes.sum() * share
    walls = Walls(goal.proof, test.proof, test.futility, test.targets)
    ends = law_path_ends(walls, law, MOST)
    return round(float(np.median(ends.labels)) / share)
