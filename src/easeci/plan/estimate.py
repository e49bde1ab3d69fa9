"""An estimator's answer, and the tests that it designs for the clauses."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Protocol

from easeci.bounds import Bennett, Bound, Hoeffding
from easeci.script import Estimator, NormalClause


@dataclass(frozen=True)
class Observation:
    """What a testset shows about one clause.

    ``difference`` is the share of all ``examples`` on which the models differ, and ``mean`` is the
    mean score of the first ``sample`` of them.
    """

    examples: int
    difference: Fraction
    sample: int
    mean: Fraction


class ClauseTest(Protocol):
    """How one clause will be decided: by a mean score and a bound on its error."""

    @property
    def clause(self) -> NormalClause:
        """The clause that it decides."""
        ...

    def needed(self, observation: Observation) -> int:
        """How many examples reach the script's tolerance, given what a first stage shows."""
        ...

    def tolerance(self, observation: Observation) -> Fraction:
        """The script's tolerance if the sample is large enough, or else a wider one."""
        ...


def _tolerance(bound: Bound, clause: NormalClause, sample: int, log_level: float) -> Fraction:
    if sample >= bound.sample_size(float(clause.tolerance), log_level):
        return clause.tolerance
    return max(clause.tolerance, Fraction(bound.tolerance(sample, log_level)))


@dataclass(frozen=True)
class HoeffdingTest:
    """Every variable estimated separately, with tolerances in proportion to |coefficient|.

    With this split all variables need the same number of examples, and the clause as a whole has
    Hoeffding's bound for a range of Σ |coefficient|.
    """

    clause: NormalClause
    log_level: float

    @property
    def bound(self) -> Hoeffding:
        """The bound on the error of the clause's score."""
        return Hoeffding(value_range=float(self.clause.score.weight), sides=1)

    @property
    def sample_size(self) -> int:
        """How many examples reach the script's tolerance."""
        return self.bound.sample_size(float(self.clause.tolerance), self.log_level)

    def needed(self, observation: Observation) -> int:  # noqa: ARG002 - known beforehand
        """The same for every observation."""
        return self.sample_size

    def tolerance(self, observation: Observation) -> Fraction:
        """The script's tolerance if the sample is large enough, or else a wider one."""
        return _tolerance(self.bound, self.clause, observation.sample, self.log_level)


class Rare(Enum):
    """What a first stage measures: the share of examples whose score is not the usual one."""

    DIFFERENCE = "d"
    ERROR = "1 - n"


@dataclass(frozen=True)
class FirstStage:
    """A coarse estimate of a share, to ``tolerance``, that bounds the variance in the second stage.

    With a ``ceiling`` A: if at most A + tolerance is measured, the share is below A + 2·tolerance,
    a bound that is known before any data are seen. Without a ceiling, the bound is the measured
    share + tolerance.
    """

    rare: Rare
    tolerance: Fraction
    log_level: float
    ceiling: Fraction | None

    @property
    def sample_size(self) -> int:
        """How many examples measure the share to the tolerance."""
        return Hoeffding().sample_size(float(self.tolerance), self.log_level)

    def share(self, measured: Fraction, examples: int) -> Fraction:
        """An upper bound on the true share, given the share ``measured`` on ``examples``."""
        tolerance = self.tolerance
        if examples < self.sample_size:
            tolerance = Fraction(Hoeffding().tolerance(examples, self.log_level))
        if self.ceiling is not None and measured <= self.ceiling + tolerance:
            return min(Fraction(1), self.ceiling + 2 * tolerance)
        return min(Fraction(1), measured + tolerance)


@dataclass(frozen=True)
class BennettTest:
    """A test of the mean score by Bennett's bound, with a variance bounded by a first stage.

    ``scale`` is the coefficient of ``n - o`` (or of ``n``). The same examples may serve both
    stages, because the bound grows with the share: if the first stage's share is not below the
    true one, its tolerance is not too small.
    """

    clause: NormalClause
    log_level: float
    scale: Fraction
    first_stage: FirstStage

    def needed(self, observation: Observation) -> int:
        """How many examples reach the script's tolerance, given what the first stage shows."""
        size = self.sample_size_for(self.share(observation))
        if self.first_stage.rare is Rare.ERROR:
            return max(size, self.first_stage.sample_size)
        return size

    def tolerance(self, observation: Observation) -> Fraction:
        """The script's tolerance if the sample is large enough, or else a wider one."""
        bound = self.bound_for(self.share(observation))
        return _tolerance(bound, self.clause, observation.sample, self.log_level)

    def share(self, observation: Observation) -> Fraction:
        """The first stage's bound on the share, and so on the variance."""
        if self.first_stage.rare is Rare.DIFFERENCE:
            return self.first_stage.share(observation.difference, observation.examples)
        errors = 1 - observation.mean / self.scale
        return self.first_stage.share(errors, observation.sample)

    def bound_for(self, share: Fraction) -> Bennett:
        """Bennett's bound if the true share is at most this."""
        scale = abs(float(self.scale))
        return Bennett(second_moment=scale**2 * float(share), magnitude=scale, sides=2)

    def sample_size_for(self, share: Fraction) -> int:
        """How many examples reach the script's tolerance if the true share is at most this."""
        return self.bound_for(share).sample_size(float(self.clause.tolerance), self.log_level)


@dataclass(frozen=True)
class Estimate:
    """One estimator's answer for a script.

    ``examples`` is the size of the testset that its test needs, ``labels`` how many of them need
    a label before the first commit, ``labels_per_commit`` how many more each commit may need.
    ``unlabelled`` is how many examples its first stage needs: they need no labels and may be the
    same ones. All are None if the estimator doesn't apply, or can't tell before it runs. If labels
    are asked for until the answer is known, ``labels_per_commit`` is None too: a forecast tells.
    ``tests`` are the tests of a published estimator. ``in_each_slice`` is how many examples every
    slice must have that a clause names; None if none does.
    """

    estimator: Estimator
    applies: bool
    reason: str
    examples: int | None = None
    labels: int | None = None
    labels_per_commit: int | None = None
    unlabelled: int | None = None
    tests: tuple[ClauseTest, ...] = ()
    derivation: tuple[str, ...] = ()
    in_each_slice: int | None = None

    @property
    def testset_size(self) -> int | None:
        """How many examples, labelled or not, a testset needs for the test and its first stage."""
        if self.examples is None:
            return None
        return max(self.examples, self.unlabelled or 0)

    def labels_in_all(self, steps: int) -> int | None:
        """Labels over the testset's whole life; no example is ever labelled twice."""
        if self.examples is None or self.labels is None or self.labels_per_commit is None:
            return None
        return min(self.labels + steps * self.labels_per_commit, max(self.examples, self.labels))


def does_not_apply(estimator: Estimator, reason: str) -> Estimate:
    """The answer of an estimator that does not fit the script."""
    return Estimate(estimator, applies=False, reason=reason)
