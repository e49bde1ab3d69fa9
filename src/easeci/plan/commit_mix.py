"""Stated mixes of commits: what a forecast assumes about the commits of a testset's life.

Nobody knows the commits of the next month. So a forecast names what it assumes: how much commits
gain, and how many predictions they change. No guarantee depends on it.

Two things are fitted to the script. If it says how much its commits change (a clause d < A, or
``difference``), the mix changes no more than that. If the accuracy itself decides (n > 0.9), the
first model is at the threshold, because owners choose a threshold near what they have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from easeci.evidence.cells import CODE_OF
from easeci.plan.assumptions import planned_difference
from easeci.script import Mode, NormalClause, Script
from easeci.script.outcomes import DIFFERING, Cell

Law = npt.NDArray[np.float64]
"""Probabilities of outcomes, in the order of their codes, along the last axis."""


@dataclass(frozen=True)
class CommitMix:
    """A law of commits: gains are normal with mean 0, cut off at ``largest``.

    ``changed`` is the share of predictions that become right or wrong, ``shuffled`` the share of
    wrong predictions that change and stay wrong. ``accuracy`` is that of the first model.

    The sentence about it begins with ``opening``. It says that ``many`` commits gain or lose less
    than ``usual``, and how many gain more than ``notable``.
    """

    name: str
    opening: str
    many: str
    usual: float
    spread: float
    largest: float
    changed: float
    shuffled: float
    accuracy: float = 0.7
    notable: float | None = None

    @property
    def difference(self) -> float:
        """d: the share of predictions that a commit changes."""
        return self.changed + self.shuffled

    def sentence(self, *, scored: bool = False) -> str:
        """What is assumed of the commits of a testset, from the numbers of this mix."""
        changes = f"each changes {100 * self.usual_difference:.3g}% of the predictions"
        if scored:
            changes = f"scores are 0 or 1 and change on {100 * self.usual_difference:.3g}%"
        return f"{self.opening}{self._gains()}; {changes}"

    def _gains(self) -> str:
        most = self.largest_gain
        if self.largest <= self.usual:
            return f"no commit gains or loses more than {100 * self.largest:.2g} points"
        usual = f"{self.many} gain or lose less than {100 * self.usual:.2g} points"
        if self.notable is None or most <= self.usual:
            return usual
        if most <= self.notable:
            return f"{usual}, none gains more than {100 * most:.2g}"
        share = normal_cdf(-self._stated_gain(self.notable) / self.spread)
        return f"{usual}, 1 in {1.0 / share:.0f} gains more than {100 * self.notable:.2g}"

    @property
    def usual_difference(self) -> float:
        """d of a commit that gains nothing; smaller than stated if few predictions are wrong."""
        law = self.law(np.array(0.0), np.array(self.accuracy))
        return float(law[..., [CODE_OF[cell] for cell in DIFFERING]].sum())

    @property
    def largest_gain(self) -> float:
        """n − o of the best commit, which can't correct more than the first model gets wrong."""
        return float(self._gain(np.array(self.largest)))

    def _gain(self, stated: Law) -> Law:
        """n − o of commits on the first model; less than stated if few predictions are wrong."""
        law = self.law(stated, np.array(self.accuracy))
        return np.asarray(law[..., CODE_OF[Cell.NEW_RIGHT]] - law[..., CODE_OF[Cell.OLD_RIGHT]])

    def _stated_gain(self, gain: float) -> float:
        """The stated gain from which on a commit really gains this much."""
        stated = np.linspace(0.0, self.largest, 1001)
        return float(np.interp(gain, self._gain(stated), stated))

    def fitted(self, script: Script) -> CommitMix:
        """The same mix, within what the script says about its commits."""
        share = min(1.0, _stated_difference(script) / self.difference)
        fitted = replace(
            self,
            largest=self.largest * share,
            changed=self.changed * share,
            shuffled=self.shuffled * share,
        )
        return replace(fitted, accuracy=_first_accuracy(script, fitted))

    def law(self, gain: Law, accuracy: Law) -> Law:
        """The probabilities of the five cells for a commit with this true gain.

        A model can't correct more than is wrong, or spoil more than is right.
        """
        gain, accuracy = np.broadcast_arrays(gain, accuracy)
        new = np.minimum((self.changed + gain) / 2.0, 1.0 - accuracy)
        both = np.minimum(self.shuffled, 1.0 - accuracy - new)
        old = np.minimum((self.changed - gain) / 2.0, accuracy)
        law = np.zeros((*gain.shape, len(Cell)))
        for cell, share in (
            (Cell.NEW_RIGHT, new),
            (Cell.OLD_RIGHT, old),
            (Cell.BOTH_WRONG, both),
            (Cell.AGREE_RIGHT, accuracy - old),
            (Cell.AGREE_WRONG, 1.0 - accuracy - new - both),
        ):
            law[..., CODE_OF[cell]] = share
        return law


def normal_cdf(z: float) -> float:
    """The distribution function of the normal distribution."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def _stated_difference(script: Script) -> float:
    """The largest d that the script speaks of, or 1 if it says nothing."""
    bounds = [c for c in script.clauses if c.score.is_linear and not c.score.needs_labels]
    if script.difference is None and not bounds:
        return 1.0
    labelled = [clause for clause in script.clauses if clause.score.needs_labels]
    # In either mode, a mix of commits that all change too much would say nothing.
    clearly_good = replace(script, mode=Mode.FP_FREE)
    return min((float(planned_difference(clearly_good, c).share) for c in labelled), default=1.0)


def _first_accuracy(script: Script, mix: CommitMix) -> float:
    """The accuracy at which an average commit is at a threshold, if that is an accuracy.

    Of a conjunction, the largest.
    """
    found = [_accuracy_at(script, clause, mix) for clause in script.clauses]
    return max((a for a in found if mix.difference < a < 1.0), default=mix.accuracy)


def _accuracy_at(script: Script, clause: NormalClause, mix: CommitMix) -> float:
    score = clause.greater.score
    if score.coefficients is None:
        # Here and not above: a plan of a condition on n, o and d must start fast.
        from easeci.plan.outcome_laws import accuracy_of_both, shares_of

        threshold = float(clause.greater.threshold)
        return accuracy_of_both(score, threshold, shares_of(script, score), mix.difference)
    slope = float(score.new + score.old)
    if slope == 0.0:
        return 0.0
    rest = float(score.difference) * mix.difference
    return (float(clause.greater.threshold) - rest) / slope


MIXED = CommitMix(
    "mixed",
    opening="",
    many="most commits",
    usual=0.02,
    notable=0.04,
    spread=0.02,
    largest=0.0576,
    changed=0.064,
    shuffled=0.016,
)
"""The law of the benchmark "a month of commits"."""

REFACTORING = CommitMix(
    "refactoring",
    opening="commits should change nothing: ",
    many="9 of 10",
    usual=0.002,
    spread=0.0012,
    largest=0.0036,
    changed=0.004,
    shuffled=0.001,
)
TUNING = CommitMix(
    "tuning",
    opening="commits improve little by little: ",
    many="2 of 3",
    usual=0.007,
    spread=0.007,
    largest=0.0216,
    changed=0.024,
    shuffled=0.006,
)
BOLD = CommitMix(
    "bold",
    opening="commits bring new models: ",
    many="2 of 3",
    usual=0.04,
    spread=0.04,
    largest=0.144,
    changed=0.16,
    shuffled=0.04,
)

MIXES = {mix.name: mix for mix in (MIXED, REFACTORING, TUNING, BOLD)}
"""Every mix by its name."""
