"""What a simulation found: rates of broken promises with exact limits, and the labels used."""

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
"""ln of the probability that the truth is beyond one of the two limits: 95% in all."""
BINS = 24


class Finding(StrEnum):
    """How a measured rate compares with what was promised."""

    KEPT = "kept"
    UNSEEN = "too rare to see at this δ"
    BROKEN = "BROKEN"
    NOT_PROMISED = "no promise here"


@dataclass(frozen=True)
class Rate:
    """Broken promises among testsets, with exact 95% limits (Clopper and Pearson's)."""

    broken: int
    testsets: int

    @property
    def share(self) -> float:
        """The share of testsets with a broken promise."""
        return self.broken / self.testsets

    @property
    def low(self) -> float:
        """The lower limit of the true rate."""
        return binomial.lower_limit(self.broken, self.testsets, LOG_TAIL)

    @property
    def high(self) -> float:
        """The upper limit of the true rate."""
        return binomial.upper_limit(self.broken, self.testsets, LOG_TAIL)

    def against(self, promised: Fraction | None) -> Finding:
        """Compare with a promise: broken only if even the lower limit is above it.

        If less than one error is expected, a simulation can show that the promise is broken, but
        not that it is kept.
        """
        if promised is None:
            return Finding.NOT_PROMISED
        if self.low > float(promised):
            return Finding.BROKEN
        return Finding.UNSEEN if promised * self.testsets < 1 else Finding.KEPT


@dataclass(frozen=True)
class LabelUse:
    """How many labels commits took.

    ``nine_tenths`` is the number that 90% of the commits did not exceed. ``histogram`` counts
    commits in equal bins from 0 to ``histogram_end``.
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
        """Summarise the labels of each commit; the histogram ends at ``end``."""
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
class MeanLabels:
    """A mean number of labels, and its standard error (0 for a single testset)."""

    mean: float
    error: float

    @staticmethod
    def of(values: Sequence[float]) -> MeanLabels:
        """The mean of independent values."""
        count = len(values)
        error = float(np.std(values, ddof=1)) / math.sqrt(count) if count > 1 else 0.0
        return MeanLabels(float(np.mean(values)), error)


@dataclass(frozen=True)
class LifeLabels:
    """Labels of whole lives of testsets, each label counted once however many commits used it.

    ``per_commit`` is a life's labels divided by its own number of commits, weighted by commits.
    ``commits`` is how many commits each life had at most.
    """

    commits: int
    per_life: MeanLabels
    per_commit: MeanLabels

    @staticmethod
    def of(lives: Sequence[Life], commits: int) -> LifeLabels:
        """Summarise the new labels of lives."""
        labels = np.array([sum(life.new_labels) for life in lives], np.float64)
        tested = np.array([len(life.new_labels) for life in lives], np.float64)
        share = float(labels.sum() / tested.sum())
        residuals = MeanLabels.of(list((labels - share * tested) / tested.mean()))
        return LifeLabels(commits, MeanLabels.of(list(labels)), MeanLabels(share, residuals.error))


@dataclass(frozen=True)
class Measured:
    """What one developer's testsets showed.

    ``wrong`` names the answers that would break the promise, ``promised`` is how often that may
    happen to a testset; both are None if nothing is promised. ``life`` is known if the commits of a
    testset share labels.
    """

    developer: Developer
    wrong: str | None
    rate: Rate
    promised: Fraction | None
    labels: LabelUse
    life: LifeLabels | None = None

    @property
    def finding(self) -> Finding:
        """How the rate compares with the promise."""
        return self.rate.against(self.promised)


@dataclass(frozen=True)
class Round:
    """All developers at one reliability.

    ``examples_planned`` is what the plan asks for. A smaller testset (``capped``) keeps its safety
    and promises no sensitivity.
    """

    script: Script
    estimator: Estimator
    examples: int
    examples_planned: int
    commits: int
    measured: tuple[Measured, ...]

    @property
    def capped(self) -> bool:
        """Whether the testsets are smaller than planned."""
        return self.examples < self.examples_planned

    @property
    def testsets(self) -> int:
        """The largest number of testsets of any developer."""
        return max((measured.rate.testsets for measured in self.measured), default=0)


@dataclass(frozen=True)
class Simulation:
    """The script as written, and a less reliable one if errors would be too rare to see."""

    seed: int
    rounds: tuple[Round, ...]

    @property
    def broken(self) -> tuple[Measured, ...]:
        """The measurements that broke their promise."""
        found = (measured for one in self.rounds for measured in one.measured)
        return tuple(measured for measured in found if measured.finding is Finding.BROKEN)


def measure(case: Case, lives: Sequence[Life], end: int, *, capped: bool) -> Measured:
    """Summarise the lives of all testsets with one developer."""
    labels = [count for life in lives for count in life.labels]
    return Measured(
        developer=case.developer,
        wrong=_wrong(case),
        rate=Rate(sum(life.broken for life in lives), len(lives)),
        promised=_promised(case, capped=capped),
        labels=LabelUse.of(labels, end),
        life=LifeLabels.of(lives, case.commits) if case.developer is Developer.MIXED else None,
    )


def _wrong(case: Case) -> str | None:
    passes = case.script.mode is Mode.FP_FREE
    match case.developer:
        case Developer.MIDDLE | Developer.MIXED:
            return None
        case Developer.CLEAR:
            return "wrong fails" if passes else "wrong passes"
        case Developer.EDGE | Developer.ADAPTIVE:
            return "wrong passes" if passes else "wrong fails"


def _promised(case: Case, *, capped: bool) -> Fraction | None:
    """δ for safety; β for sensitivity, which published estimators promise at δ too."""
    match case.developer:
        case Developer.MIDDLE | Developer.MIXED:
            return None
        case Developer.CLEAR if capped:
            return None
        case Developer.CLEAR if case.plan.chosen.estimator in EXACT_LEVELS:
            return case.script.beta
        case _:
            return case.script.delta
