"""How many more examples would decide a condition that these examples leave undecided."""

from __future__ import annotations

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
from easeci.verdict.sequential import ConditionTest

MOST = 10**8
"""With more examples than this, nothing is promised."""


def examples_to_decide(
    script: Script, facts: Facts, history: str | None, verdict: Verdict
) -> int | None:
    """About how many more examples would decide the condition; None if it is decided, or unknown.

    A forecast: it assumes that further examples are like these, whose mean is taken for the true
    one. Only clauses that ended because the examples ran out are looked at; in fp-free all of them
    must end, and in fn-free the first that is shown to be false decides.
    """
    if verdict.passed is None:
        return None
    testset = LabelledTestset(facts)
    test = ConditionTest.of(script.clauses, script.mode, levels_of(script, history), testset)
    walks, _ = test.walk(testset)
    ends = [
        _examples_until_end(walk)
        for walk in walks
        if isinstance(walk, Walk) and walk.ending is Ending.EXHAUSTED
    ]
    known = [end for end in ends if end is not None]
    if not known:
        return None
    needed = max(known) if script.mode is Mode.FP_FREE else min(known)
    return max(needed - len(testset), 1) if needed < MOST else None


def _examples_until_end(walk: Walk) -> int | None:
    """How long a walk over examples with the observed outcomes is likely to be, in examples."""
    goal, test = walk.test.goal, walk.test
    if not goal.score.is_mean or not goal.score.needs_labels or not len(walk.codes):
        return None
    counts = np.array(Counts.of(goal.proof.cautious(walk.codes), goal.score.alphabet).by_code)
    outcomes = counts[: goal.score.alphabet.outcomes].astype(np.float64)
    share = test.relevant / max(test.examples, 1)
    if goal.proof.everywhere:
        share = 1.0
    law = outcomes / outcomes.sum() * share
    walls = Walls(goal.proof, test.proof, test.futility, test.targets)
    ends = law_path_ends(walls, law, MOST)
    return round(float(np.median(ends.labels)) / share)
