"""What a simulation found: rates of broken promises with exact limits, and the labels it took."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np

from easeci.bounds import binomial
from easeci.script import Estimator, Mode, Script
from easeci.simulation.developers import EXACT_LEVELS, Case, Developer, Life

LOG_TAIL = math.log(0.025)
"""Each limit of the two is missed by the truth with this probability: 95% in all."""
BINS = 24


class Finding(StrEnum):
    """How a measured rate stands to what was promised."""

    KEPT = "kept"
    UNSEEN = "cannot be seen at this δ"
    BROKEN = "BROKEN"
    NOT_PROMISED = "no promise here"


@dataclass(frozen=True)
class Rate:
    """Broken promises among testsets, with exact 95% limits (Clopper and Pearson's)."""

    broken: int
    testsets: int

    @property
    def share(self) -> float:
        return self.broken / self.testsets

    @property
    def low(self) -> float:
        return binomial.lower_limit(self.broken, self.testsets, LOG_TAIL)

    @property
    def high(self) -> float:
        return binomial.upper_limit(self.broken, self.testsets, LOG_TAIL)

    def against(self, promised: Fraction | None) -> Finding:
        """Broken only if even the lower limit is above the promise.

        A promise so small that not one error would be expected can be seen broken, never kept.
        """
        if promised is None:
            return Finding.NOT_PROMISED
        if self.low > float(promised):
            return Finding.BROKEN
        return Finding.UNSEEN if promised * self.testsets < 1 else Finding.KEPT


@dataclass(frozen=True)
class LabelUse:
    """Labels that a commit took: ``nine_tenths`` of the commits took no more than so many.

    ``histogram`` counts commits in equal bins from 0 to ``histogram_end``.
    """

    commits: int
    mean: float
    median: int
    nine_tenths: int
    most: int
    histogram: tuple[int, ...]
    histogram_end: int

    @staticmethod
    def of(labels: Sequence[int], end: int) -> LabelUse:
        counted = np.asarray(labels)
        median, nine_tenths = np.quantile(counted, (0.5, 0.9), method="inverted_cdf")
        bins, _ = np.histogram(counted, BINS, (0, max(end, 1)))
        return LabelUse(
            commits=len(labels),
            mean=float(counted.mean()),
            median=int(median),
            nine_tenths=int(nine_tenths),
            most=int(counted.max()),
            histogram=tuple(int(count) for count in bins),
            histogram_end=max(end, 1),
        )


@dataclass(frozen=True)
class Measured:
    """What one developer's testsets showed.

    ``wrong`` names the answers that would break the promise, ``promised`` is how often that may
    happen to a testset; both None where there is no promise.
    """

    developer: Developer
    wrong: str | None
    rate: Rate
    promised: Fraction | None
    labels: LabelUse

    @property
    def finding(self) -> Finding:
        return self.rate.against(self.promised)


@dataclass(frozen=True)
class Round:
    """All developers at one reliability.

    ``examples_planned`` is what the plan asks for; a testset that is smaller (``capped``) keeps
    its safety and promises no sensitivity.
    """

    script: Script
    estimator: Estimator
    examples: int
    examples_planned: int
    commits: int
    measured: tuple[Measured, ...]

    @property
    def capped(self) -> bool:
        return self.examples < self.examples_planned

    @property
    def testsets(self) -> int:
        return max((measured.rate.testsets for measured in self.measured), default=0)


@dataclass(frozen=True)
class Simulation:
    """The script as written, and where that is too reliable to see an error, one less so."""

    seed: int
    rounds: tuple[Round, ...]

    @property
    def broken(self) -> tuple[Measured, ...]:
        found = (measured for one in self.rounds for measured in one.measured)
        return tuple(measured for measured in found if measured.finding is Finding.BROKEN)


def measure(case: Case, lives: Sequence[Life], end: int, *, capped: bool) -> Measured:
    """Sum up the lives of testsets with one developer."""
    labels = [count for life in lives for count in life.labels]
    return Measured(
        developer=case.developer,
        wrong=_wrong(case),
        rate=Rate(sum(life.broken for life in lives), len(lives)),
        promised=_promised(case, capped=capped),
        labels=LabelUse.of(labels, end),
    )


def _wrong(case: Case) -> str | None:
    passes = case.script.mode is Mode.FP_FREE
    match case.developer:
        case Developer.MIDDLE:
            return None
        case Developer.CLEAR:
            return "wrong fails" if passes else "wrong passes"
        case Developer.EDGE | Developer.ADAPTIVE:
            return "wrong passes" if passes else "wrong fails"


def _promised(case: Case, *, capped: bool) -> Fraction | None:
    """δ for safety; β for sensitivity, which published estimators promise at δ too."""
    match case.developer:
        case Developer.MIDDLE:
            return None
        case Developer.CLEAR if capped:
            return None
        case Developer.CLEAR if case.plan.chosen.estimator in EXACT_LEVELS:
            return case.script.beta
        case _:
            return case.script.delta
