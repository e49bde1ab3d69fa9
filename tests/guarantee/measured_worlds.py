"""Testsets for each measure, drawn at a value of the measure, with labels skipped by an adversary."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from easeci.evidence.bets import Floats
from easeci.evidence.cells import Code
from easeci.evidence.clause_test import Goal
from easeci.evidence.codes import Codes, Flags
from easeci.evidence.endings import Ending
from easeci.evidence.facts import ClassColumns, Facts, RankColumns
from easeci.evidence.labelled import LabelledTestset
from easeci.evidence.levels import StepLevels
from easeci.evidence.shared_prefix import Prefix
from easeci.script import Mode, NormalClause, Score
from easeci.script.score import Blocks
from easeci.verdict.sequential import ConditionTest
from tests.measures import Shown, alphabet_of, hurting, law_at, unsettled_code

NEVER = -1e6
"""ln of a level that nothing reaches."""


@dataclass(frozen=True)
class World(ABC):
    """A clause, and testsets on which its measure has a given value."""

    clause: NormalClause
    size: int

    @abstractmethod
    def draw(self, value: float, random: np.random.Generator, skip: Score | None) -> Facts:
        """A testset at a value. With ``skip``, labels that hurt the proof of it are unsettled."""

    @property
    def prefixes(self) -> Mapping[NormalClause, Prefix]:
        """Prefixes for the tests."""
        return {}

    @property
    def extra(self) -> float:
        """What the limits of a prefix add to the probability of an error."""
        return 0.0

    def ending(self, mode: Mode, levels: StepLevels, facts: Facts) -> Ending:
        """How the walk ends, with all labels there."""
        testset = LabelledTestset(facts)
        test = ConditionTest.of([self.clause], mode, levels, testset, self.prefixes)
        (walk,), _ = test.walk(testset)
        return walk.ending

    def _errors(
        self, mode: Mode, value: float, levels: StepLevels, skip: Score, wrong: Ending, runs: int
    ) -> int:
        count = 0
        for run in range(runs):
            # In three of four runs, somebody skips exactly the labels that hurt.
            random = np.random.default_rng((run, self.size, mode is Mode.FP_FREE))
            facts = self.draw(value, random, skip if run % 4 else None)
            count += self.ending(mode, levels, facts) is wrong
        return count

    def wrong_proofs(self, mode: Mode, level: float, runs: int) -> int:
        """How many walks ever reach a proof at the threshold; they never stop for futility."""
        goal = Goal.of(self.clause, mode)
        levels = StepLevels(math.log(level), NEVER, NEVER)
        value = float(self.clause.threshold)
        return self._errors(mode, value, levels, goal.score, Ending.PROVEN, runs)

    def wrong_futility(self, mode: Mode, level: float, runs: int) -> int:
        """How many walks are ever futile where the proof is promised; they never stop for it."""
        goal = Goal.of(self.clause, mode)
        levels = StepLevels(NEVER, math.log(level), NEVER)
        value = goal.clear if mode is Mode.FP_FREE else -goal.clear
        return self._errors(mode, value, levels, -goal.score, Ending.FUTILE, runs)

    def right_endings(self, level: float, runs: int) -> tuple[int, int]:
        """How many walks find a proof at c + 2ε, and how many are futile at c; in fp-free mode."""
        clear = Goal.of(self.clause, Mode.FP_FREE).clear
        proofs = StepLevels(math.log(level), NEVER, NEVER)
        futility = StepLevels(NEVER, math.log(level), NEVER)
        found = []
        for value, levels in ((clear, proofs), (float(self.clause.threshold), futility)):
            drawn = (self.draw(value, np.random.default_rng((9, r)), None) for r in range(runs))
            endings = [self.ending(Mode.FP_FREE, levels, facts) for facts in drawn]
            found.append(sum(ending is not Ending.EXHAUSTED for ending in endings))
        return found[0], found[1]


@dataclass(frozen=True)
class ExampleWorld(World):
    """Examples with outcomes between two laws: in one the measure is low, in the other it is high.

    With a slice, its members have these laws, and all other examples are as good as can be.
    """

    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    prefix: Prefix | None = None
    members: float = 1.0

    @property
    def prefixes(self) -> Mapping[NormalClause, Prefix]:
        return {} if self.prefix is None else {self.clause: self.prefix}

    @property
    def extra(self) -> float:
        return 0.0 if self.prefix is None else math.exp(self.prefix.log_level)

    @cached_property
    def _laws(self) -> dict[float, Floats]:
        return {}

    def draw(self, value: float, random: np.random.Generator, skip: Score | None) -> Facts:
        score = self.clause.score
        if value not in self._laws:
            self._laws[value] = law_at(score, value, self.low, self.high)
        outcomes = random.choice(score.alphabet.outcomes, self.size, p=self._laws[value])
        inside = random.random(self.size) < self.members
        codes = np.where(inside, outcomes, 0).astype(np.uint8)
        skipped = None if skip is None else hurting(skip, _side(skip, score) * value)[codes]
        facts = Shown(alphabet_of(score)).facts(codes, skipped)
        if score.slice is None:
            return facts
        return Facts(facts.cells, facts.classes, {score.slice: np.flatnonzero(inside)})


def _side(score: Score, original: Score) -> float:
    return 1.0 if score.ratio == original.ratio else -1.0


@dataclass(frozen=True)
class BlockWorld(World):
    """Scores of two models, on two levels so that there are many ties.

    A positive example is on the higher of two levels with probability a and on the lower with
    1 − a; for a negative one these are exchanged: the AUC is a.
    """

    share: float = 0.5
    gain: bool = False
    old: float = 0.6

    def draw(self, value: float, random: np.random.Generator, skip: Score | None) -> Facts:
        label = random.random(self.size) < self.share
        auc = value + self.old if self.gain else value
        new = _levels(label, auc, random)
        old = _levels(label, self.old, random) if self.gain else None
        cells = np.full(self.size, Code.AGREE_RIGHT, np.uint8)
        if skip is not None:
            # The walk stops at an unsettled label: the first that hurts, near the end.
            hurts = (label & (new == 0)) if skip.ratio == self.clause.score.ratio else ~label
            later = np.flatnonzero(hurts & (np.arange(self.size) > 0.8 * self.size))
            cells[later[:1]] = Code.AGREE_UNSETTLED
        places = np.where(label, 0, 1).astype(np.uint16)
        names = (self._blocks.positive,)
        ranks = {names[0]: RankColumns(new, old)}
        return Facts(cells, ClassColumns(names, places, places, places), {}, ranks)

    @property
    def _blocks(self) -> Blocks:
        assert self.clause.score.blocks is not None
        return self.clause.score.blocks


def _levels(label: Flags, auc: float, random: np.random.Generator) -> Floats:
    return np.where(random.random(len(label)) < auc, label, ~label).astype(np.float64)


@dataclass(frozen=True)
class RivalWorld(World):
    """Earlier models whose rightness is correlated with each other's and with the new model's.

    As hard as can be: ``rank`` of them at the threshold and all others worse by far; for futility
    the others are those at the value, and the first are better by far.
    """

    rivals: int = 4
    accuracy: float = 0.7
    tie: float = 0.6

    @property
    def _rank(self) -> int:
        assert self.clause.score.top is not None
        return min(self.clause.score.top, self.rivals)

    def draw(self, value: float, random: np.random.Generator, skip: Score | None) -> Facts:
        at, far = self.accuracy - value, 0.35
        # n − m = value for the K best and more for the others, or for all but K − 1 better ones.
        accuracies = [at] * self._rank + [at - far] * (self.rivals - self._rank)
        if value != float(self.clause.threshold):
            better = self._rank - 1
            accuracies = [at + 0.25] * better + [at] * (self.rivals - better)
        shared = random.random(self.size)
        new, *others = (
            np.where(random.random(self.size) < self.tie, shared, random.random(self.size)) < p
            for p in (self.accuracy, *accuracies)
        )
        skipped = np.zeros(self.size, bool)
        if skip is not None:
            positive = skip.ratio == self.clause.score.ratio
            skipped = others[0] & ~new if positive else new & ~others[0]
        cells = tuple(unsettled_code(_cells(new, old), skipped) for old in others)
        return Facts(cells[0], rivals=cells)


def _cells(new: Flags, old: Flags) -> Codes:
    agree = np.where(new, Code.AGREE_RIGHT, Code.AGREE_WRONG)
    differ = np.where(new, Code.NEW_RIGHT, Code.OLD_RIGHT)
    return np.where(new == old, agree, differ).astype(np.uint8)
