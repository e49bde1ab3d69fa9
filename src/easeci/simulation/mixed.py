"""A mix of commits on one testset whose labels are bought when needed, and kept.

The models are drawn by the law that the plan's forecast states (:mod:`easeci.plan.commit_mix`).
They share their mistakes: a commit changes a few predictions of the baseline. So the label that one
commit asked for serves later ones.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from easeci.evidence.cells import Code, differs
from easeci.evidence.codes import Codes, Flags, in_groups
from easeci.evidence.facts import Facts
from easeci.plan.commit_mix import CommitMix
from easeci.plan.prefix import shared_prefixes
from easeci.script import NormalClause, Script
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

    def add(self, verdict: Verdict, found: Codes | Facts, script: Script | None = None) -> int:
        """Add the labels that a verdict used. Returns how many of them are new.

        The script may be left out if its condition is on n, o and d.
        """
        facts = Facts.of(found)
        if script is None or all(clause.score.is_linear for clause in script.clauses):
            used = used_labels(verdict, facts.cells)
        else:
            used = used_labels_beyond(verdict, facts, script)
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
        if score.counts_everywhere:
            used[: result.sample] = True
        elif result.evidence is not None:
            used[np.flatnonzero(differs(codes))[: result.sample]] = True
        else:
            used[: result.sample] |= differs(codes[: result.sample])
    return used


def used_labels_beyond(verdict: Verdict, facts: Facts, script: Script) -> Flags:
    """Like :func:`used_labels`, for conditions that n, o and d don't describe."""
    used = np.zeros(len(facts), bool)
    for result in verdict.clauses:
        if result.clause.score.needs_labels:
            counting = _counting(result.clause, facts, script)
            if result.evidence is not None:
                counting = counting[: result.sample]
            used[counting] = True
    return used


def _counting(clause: NormalClause, facts: Facts, script: Script) -> npt.NDArray[np.intp]:
    """The positions of the examples whose labels a clause asks for, in order."""
    score = clause.score
    positions = facts.positions(score)
    if positions is None:
        positions = np.arange(len(facts))
    prefix = shared_prefixes(script).get(clause)
    if score.blocks is not None or (score.counts_everywhere and prefix is None):
        return positions
    if score.top is not None:
        differing = np.any([differs(codes) for codes in facts.rivals], axis=0)
        return np.asarray(positions[differing[positions]])
    tested = score if prefix is None else score.without_share()
    inside = in_groups(facts.codes(score), score.alphabet, tested.relevant)
    if prefix is not None:
        inside[: prefix.length] = True
    return np.asarray(positions[inside])
