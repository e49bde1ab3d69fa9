"""The models of a testset's life for conditions that n, o and d don't describe.

A commit changes a few predictions of the baseline, as in :mod:`easeci.simulation.mixed`. Labels and
classes stay, so labels are shared between commits as they are in reality. The AUC of a model is
its accuracy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from easeci.evidence.cells import Code
from easeci.evidence.codes import Codes
from easeci.evidence.facts import ClassColumns, Facts, RankColumns
from easeci.plan.commit_mix import CommitMix
from easeci.plan.outcome_laws import EVEN, RARE, class_share
from easeci.script import Script
from easeci.simulation.mixed import draw_commit
from easeci.simulation.worlds import RANK_CORRELATION, draw_slice, score_distance

MOST_RIVALS = 8
"""A commit is compared with at most so many models that were tested before."""


@dataclass(frozen=True)
class _Model:
    """Predictions: their class, a number that tells wrong ones apart (0: right), and noise."""

    classes: npt.NDArray[np.uint16]
    mistakes: npt.NDArray[np.int64]
    noise: npt.NDArray[np.float64]
    accuracy: float


class MixedModels:
    """The baseline and the models that were tested, on one testset."""

    def __init__(
        self, script: Script, examples: int, mix: CommitMix, draw: np.random.Generator
    ) -> None:
        self._mix, self._draw, self._script = mix, draw, script
        self._names = script.named_classes
        self._positive = tuple(
            dict.fromkeys(c.score.blocks.positive for c in script.clauses if c.score.blocks)
        )
        shares = [
            class_share(script, name, usual=EVEN if name in self._positive else RARE)
            for name in self._names
        ]
        shares.append(max(1.0 - sum(shares), 0.0))
        self._shares = np.array(shares) / sum(shares)
        self._label = draw.choice(len(shares), examples, p=self._shares).astype(np.uint16)
        part = 0.5 if script.slices else 1.0
        self._slices = {where: draw_slice(examples, part, draw) for where in script.slices}
        self._wrong_ids = 0
        right = draw.random(examples) < mix.accuracy
        self._baseline = self._changed(None, right, np.ones(examples, bool), mix.accuracy)
        self._new = self._baseline
        self._tested = [self._baseline]

    def commit(self, gain: float) -> Facts:
        """A commit with this true gain over the baseline."""
        old = self._baseline
        codes = draw_commit(old.mistakes == 0, gain, self._mix, self._draw)
        right = (codes == Code.AGREE_RIGHT) | (codes == Code.NEW_RIGHT)
        change = (codes != Code.AGREE_RIGHT) & (codes != Code.AGREE_WRONG)
        self._new = self._changed(old, right, change, old.accuracy + gain)
        ranks = {name: self._ranks(name) for name in self._positive}
        rivals: tuple[Codes, ...] = ()
        if any(clause.score.top is not None for clause in self._script.clauses):
            rivals = tuple(_codes(self._new, model) for model in self._tested[-MOST_RIVALS:])
        classes = ClassColumns(self._names, self._new.classes, old.classes, self._label)
        return Facts(codes, classes if self._names else None, self._slices, ranks, rivals)

    def answered(self, *, passed: bool) -> None:
        """The last commit was tested; if it passed, it is the baseline of the next ones."""
        self._tested.append(self._new)
        if passed:
            self._baseline = self._new

    def _changed(
        self,
        old: _Model | None,
        right: npt.NDArray[np.bool_],
        change: npt.NDArray[np.bool_],
        accuracy: float,
    ) -> _Model:
        """A model that predicts anew where there is a ``change``, and is ``right`` there or not."""
        draw, size = self._draw, len(right)
        noise = draw.normal(size=size)
        if old is None:
            classes, mistakes = np.zeros(size, np.uint16), np.zeros(size, np.int64)
        else:
            classes, mistakes = old.classes.copy(), old.mistakes.copy()
            noise = RANK_CORRELATION * old.noise + math.sqrt(1.0 - RANK_CORRELATION**2) * noise
        self._wrong_ids += 1
        good, bad = change & right, change & ~right
        classes[good], mistakes[good] = self._label[good], 0
        before = None if old is None else old.classes[bad]
        classes[bad], mistakes[bad] = self._mistaken(self._label[bad], before), self._wrong_ids
        return _Model(classes, mistakes, noise, accuracy)

    def _mistaken(
        self, label: npt.NDArray[np.uint16], before: npt.NDArray[np.uint16] | None
    ) -> npt.NDArray[np.uint16]:
        """Classes of wrong predictions: named ones as often as they occur, and not those before."""
        other, shares = len(self._names), self._shares
        classes = np.full(len(label), other, np.uint16)
        chance = self._draw.random(len(label))
        for name in range(other):
            left = np.where(label < other, 1.0 - shares[label], 1.0 - shares[name])
            share = np.where(label == name, 0.0, shares[name] / np.maximum(left, 1e-12))
            mine = (chance >= 0.0) & (chance < share)
            if before is not None:
                mine &= before != name
            classes[mine] = name
            chance = np.where(mine, -1.0, chance - share)
        return classes

    def _ranks(self, name: str) -> RankColumns:
        positive = self._label == self._names.index(name)
        new, old = (
            model.noise + positive * score_distance(min(max(model.accuracy, 0.01), 0.99))
            for model in (self._new, self._baseline)
        )
        return RankColumns(new, old)


def _codes(new: _Model, old: _Model) -> Codes:
    """The codes of n, o and d for two models."""
    codes = np.full(len(new.mistakes), Code.BOTH_WRONG, np.uint8)
    codes[new.mistakes == old.mistakes] = Code.AGREE_WRONG
    right = (new.mistakes == 0, old.mistakes == 0)
    codes[right[0] & ~right[1]] = Code.NEW_RIGHT
    codes[~right[0] & right[1]] = Code.OLD_RIGHT
    codes[right[0] & right[1]] = Code.AGREE_RIGHT
    return codes
