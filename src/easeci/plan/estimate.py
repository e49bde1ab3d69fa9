"""What an estimator answers, and the tests that it designs for the clauses."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Protocol

from easeci.bounds import Bennett, Bound, Hoeffding
from easeci.script import Estimator, LinearClause


@dataclass(frozen=True)
class Observation:
    """What a testset shows of one clause.

    ``difference`` is the share of all ``examples`` on which the models differ; ``mean`` the mean
    score of the first ``sample`` of them.
    """

    examples: int
    difference: Fraction
    sample: int
    mean: Fraction


class ClauseTest(Protocol):
    """How one clause will be decided: by a mean score and a bound on its error."""

    @property
    def clause(self) -> LinearClause: ...

    def needed(self, observation: Observation) -> int:
        """How many examples give the script's own tolerance, for what a first stage shows."""
        ...

    def tolerance(self, observation: Observation) -> Fraction:
        """The script's tolerance if the sample is large enough for it, or else a wider one."""
        ...


def _tolerance(bound: Bound, clause: LinearClause, sample: int, log_level: float) -> Fraction:
    if sample >= bound.sample_size(float(clause.tolerance), log_level):
        return clause.tolerance
    return max(clause.tolerance, Fraction(bound.tolerance(sample, log_level)))


@dataclass(frozen=True)
class HoeffdingTest:
    """Every variable estimated by itself, tolerances in proportion to |coefficient|.

    With this split all variables need the same number of examples, and what remains of the
    clause is Hoeffding's bound for a range of Σ |coefficient|.
    """

    clause: LinearClause
    log_level: float

    @property
    def bound(self) -> Hoeffding:
        return Hoeffding(value_range=float(self.clause.score.weight), sides=1)

    @property
    def sample_size(self) -> int:
        return self.bound.sample_size(float(self.clause.tolerance), self.log_level)

    def needed(self, observation: Observation) -> int:  # noqa: ARG002 - known beforehand
        return self.sample_size

    def tolerance(self, observation: Observation) -> Fraction:
        return _tolerance(self.bound, self.clause, observation.sample, self.log_level)


class Rare(Enum):
    """What a first stage measures: the share of examples whose score is not at its usual value."""

    DIFFERENCE = "d"
    ERROR = "1 - n"


@dataclass(frozen=True)
class FirstStage:
    """A coarse estimate of a share, to ``tolerance``, that bounds the variance of what follows.

    With a ``ceiling`` A, a share measured at most A + tolerance is below A + 2·tolerance, which
    is known before any data are seen; without one, the bound is what was measured + tolerance.
    """

    rare: Rare
    tolerance: Fraction
    log_level: float
    ceiling: Fraction | None

    @property
    def sample_size(self) -> int:
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
    """The mean score against Bennett's bound, its variance bounded by a first stage.

    ``scale`` is the coefficient of ``n - o`` (or of ``n``). The bound grows with the share, so
    the same examples may serve both stages: whatever share the first stage finds, if it is not
    below the true one, neither is the tolerance.
    """

    clause: LinearClause
    log_level: float
    scale: Fraction
    first_stage: FirstStage

    def needed(self, observation: Observation) -> int:
        size = self.sample_size_for(self.share(observation))
        if self.first_stage.rare is Rare.ERROR:
            return max(size, self.first_stage.sample_size)
        return size

    def tolerance(self, observation: Observation) -> Fraction:
        bound = self.bound_for(self.share(observation))
        return _tolerance(bound, self.clause, observation.sample, self.log_level)

    def share(self, observation: Observation) -> Fraction:
        """The bound on the variance that the first stage gives."""
        if self.first_stage.rare is Rare.DIFFERENCE:
            return self.first_stage.share(observation.difference, observation.examples)
        errors = 1 - observation.mean / self.scale
        return self.first_stage.share(errors, observation.sample)

    def bound_for(self, share: Fraction) -> Bennett:
        scale = abs(float(self.scale))
        return Bennett(second_moment=scale**2 * float(share), magnitude=scale, sides=2)

    def sample_size_for(self, share: Fraction) -> int:
        return self.bound_for(share).sample_size(float(self.clause.tolerance), self.log_level)


@dataclass(frozen=True)
class ExpectedLabels:
    """Labels that a commit is expected to take, by what is true of it."""

    unchanged: int
    middle: int
    better: int


@dataclass(frozen=True)
class Estimate:
    """What one estimator says of a script.

    ``examples`` is the size of the testset that its test needs, ``labels`` how many of them need
    a label before the first commit, ``labels_per_commit`` how many more each commit may need.
    ``unlabelled`` is what its first stage needs: examples without labels, which may be the same
    ones. All are None where the estimator doesn't apply, or can't say before it runs. Where labels
    are asked for until the answer is known, ``labels_per_commit`` is what is expected at the worst
    truth, and ``expected`` says more. ``tests`` are the tests of a published estimator.
    """

    estimator: Estimator
    applies: bool
    reason: str
    examples: int | None = None
    labels: int | None = None
    labels_per_commit: int | None = None
    unlabelled: int | None = None
    expected: ExpectedLabels | None = None
    tests: tuple[ClauseTest, ...] = ()
    derivation: tuple[str, ...] = ()

    @property
    def testset_size(self) -> int | None:
        """How many examples a testset must have, labelled or not, for test and first stage."""
        if self.examples is None:
            return None
        return max(self.examples, self.unlabelled or 0)

    def labels_in_all(self, steps: int) -> int | None:
        """Labels over the testset's whole life; no example is ever labelled twice."""
        if self.examples is None or self.labels is None or self.labels_per_commit is None:
            return None
        return min(self.labels + steps * self.labels_per_commit, max(self.examples, self.labels))


def does_not_apply(estimator: Estimator, reason: str) -> Estimate:
    return Estimate(estimator, applies=False, reason=reason)
