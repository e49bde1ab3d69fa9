"""A mix of commits on one testset whose labels are bought when needed, and kept.

The models are drawn by the law that the plan's forecast states (:mod:`easeci.plan.commit_mix`).
They share their mistakes: a commit changes a few predictions of the baseline. So the label that one
commit asked for serves later ones.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from easeci.evidence.cells import Code, Codes, Flags, differs
from easeci.plan.commit_mix import CommitMix
from easeci.verdict.result import Verdict


def draw_gains(mix: CommitMix, commits: int, draw: np.random.Generator) -> npt.NDArray[np.float64]:
    """The true gain of each commit over its baseline."""
    return np.clip(draw.normal(0.0, mix.spread, commits), -mix.largest, mix.largest)


def draw_commit(right: Flags, gain: float, mix: CommitMix, draw: np.random.Generator) -> Codes:
    """A commit with this true gain over a baseline that is right on these examples.

    It corrects some wrong predictions, changes others without correcting them, and spoils some
    right ones: in all, as many as the mix says, or as far as there are so many.
    """
    accuracy = float(right.mean())
    chance = draw.random(len(right))
    with np.errstate(divide="ignore", invalid="ignore"):
        wrong = np.float64(1.0 - accuracy)
        gained = (mix.changed + gain) / 2.0 / wrong
        shuffled = gained + mix.shuffled / wrong
        lost = (mix.changed - gain) / 2.0 / np.float64(accuracy)
    codes = np.where(right, Code.AGREE_RIGHT, Code.AGREE_WRONG).astype(np.uint8)
    codes[right & (chance < lost)] = Code.OLD_RIGHT
    codes[~right & (chance < shuffled)] = Code.BOTH_WRONG
    codes[~right & (chance < gained)] = Code.NEW_RIGHT
    return codes


def right_after(codes: Codes) -> Flags:
    """Where the new model of a commit is right."""
    return np.asarray((codes == Code.AGREE_RIGHT) | (codes == Code.NEW_RIGHT))


class SharedLabels:
    """The labels of a testset that were asked for so far."""

    def __init__(self, examples: int) -> None:
        self.known = np.zeros(examples, bool)

    def add(self, verdict: Verdict, codes: Codes) -> int:
        """Add the labels that a verdict used. Returns how many of them are new."""
        used = used_labels(verdict, codes)
        new = int(np.count_nonzero(used & ~self.known))
        self.known |= used
        return new


def used_labels(verdict: Verdict, codes: Codes) -> Flags:
    """The examples whose labels a verdict used.

    A walk uses the first labels among the examples that count. Published and exact estimators use
    every label that matters in their sample.
    """
    used = np.zeros(len(codes), bool)
    for result in verdict.clauses:
        score = result.clause.score
        if not score.needs_labels:
            continue
        if score.label_matters_when_agreeing:
            used[: result.sample] = True
        elif result.evidence is not None:
            used[np.flatnonzero(differs(codes))[: result.sample]] = True
        else:
            used[: result.sample] |= differs(codes[: result.sample])
    return used
