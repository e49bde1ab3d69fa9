"""The numbers of a plan: what to bring, what a testset's life costs, and every estimator's numbers.

A plan computes only what is asked of it, because the numbers that most people read take a fraction
of the time that all of them take.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

from easeci.plan.assumptions import COMMON_DIFFERENCE
from easeci.plan.bring import Bring, examples_to_bring
from easeci.plan.cheaper import Change, change_to_auto, cheapest_change
from easeci.plan.clause_shapes import exact_obstacle
from easeci.plan.commit_mix import MIXED, CommitMix
from easeci.plan.estimate import Estimate
from easeci.plan.forecast import Forecast, forecast
from easeci.plan.meaning import meaning
from easeci.plan.prefix import shared_prefixes
from easeci.plan.sequential import sequential
from easeci.plan.wording import count
from easeci.script import Estimator, Script

NAMES = tuple(name for name in Estimator if name is not Estimator.AUTO)

PRACTICAL_LABELS = 60_000
"""According to the paper, 30,000 to 60,000 labels per 32 evaluations are practical for many."""
PRACTICAL_STEPS = 32


@dataclass(frozen=True)
class Saving:
    """The paper's cheap mode: every tolerance ``points`` accuracy points wider.

    ``labels_in_all`` and ``factor`` are those of the best published estimator.
    """

    points: int
    labels_in_all: int
    factor: float


@dataclass(frozen=True)
class Row:
    """One estimator's numbers as they are shown.

    Labels are None where the estimator does not apply, or can't tell before it runs. Those of
    ``sequential`` are the forecast's: the expected labels over the life, and of a commit.
    """

    estimate: Estimate
    labels_up_front: int | None
    labels_per_commit: int | None
    labels_in_all: int | None
    practical: bool | None


@dataclass(frozen=True)
class ExpectedLife:
    """The labels of a testset's life by the forecast, as they are shown: in whole numbers."""

    in_all: int
    per_commit: int
    worst_commit: int

    @staticmethod
    def of(life: Forecast) -> ExpectedLife:
        """The numbers of a forecast; a commit takes at least 1 label if any does."""
        in_all = round(life.labels)
        return ExpectedLife(
            in_all, max(round(life.per_commit), min(1, in_all)), round(life.worst_commit)
        )


@dataclass(frozen=True)
class PlanNumbers:
    """What a script needs, if commits are like those of the ``mix``."""

    script: Script
    mix: CommitMix = MIXED

    @property
    def useless(self) -> bool:
        """Whether all commits get the same answer, whatever they are: nothing is recommended."""
        return any(warning.obstacle.final for warning in self.script.reach_warnings)

    @property
    def decides_by(self) -> Estimator:
        """The estimator of the numbers: the script's own; for ``auto``, the one without labels.

        A project whose testset comes with every label decides ``auto`` by ``exact`` instead. A
        condition on d alone needs no label, so it always does.
        """
        if self.script.estimator is not Estimator.AUTO:
            return self.script.estimator
        return Estimator.SEQUENTIAL if self.script.needs_labels else Estimator.EXACT

    @property
    def by_need(self) -> bool:
        """Whether labels are asked for only when a commit needs them, so that a forecast counts."""
        return self.decides_by is Estimator.SEQUENTIAL and self.script.needs_labels

    @property
    def recommended(self) -> Estimator | None:
        """The estimator to use; None if every commit would get the same answer, or none fits."""
        best = Estimator.SEQUENTIAL if self.script.needs_labels else Estimator.EXACT
        return None if self.useless or not self.estimate(best).applies else best

    @property
    def why(self) -> str:
        """Why that estimator is recommended, or why none is."""
        if self.useless:
            return self.script.warnings()[0].rstrip(".")
        if not self.script.needs_labels:
            return "the condition is on d alone, so it needs no labels and the fewest examples"
        if self.recommended is None:
            return f"sequential {self.estimate(Estimator.SEQUENTIAL).reason}"
        best = _best_published(self.script)
        if best is None:
            return (
                f"about {count(self.labels.in_all)} labels over the testset's life; no published "
                f"estimator fits; it {self.estimate(Estimator.SEQUENTIAL).reason}"
            )
        return (
            f"about {count(self.labels.in_all)} labels over the testset's life, where the best "
            f"published estimator, {best.estimator}, needs {_effort(best)}; it "
            f"{self.estimate(Estimator.SEQUENTIAL).reason}"
        )

    def estimate(self, estimator: Estimator) -> Estimate:
        """The estimate of one estimator."""
        return estimate_by(self.script, estimator)

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """The estimates of all estimators."""
        return tuple(self.estimate(name) for name in NAMES)

    @property
    def chosen(self) -> Estimate:
        """The estimate that decides commits: the script's own choice, or the recommended one."""
        return self.estimate(self.decides_by)

    @property
    def bring(self) -> Bring | None:
        """The examples to bring; None if their number is known only when the estimator runs."""
        size = self.chosen.testset_size
        if size is None:
            return None
        bring = examples_to_bring(size, self.script.sample)
        each = self.chosen.in_each_slice
        return bring if each is None else replace(bring, each_slice=each)

    @property
    def exact_fits(self) -> bool:
        """Whether the exact estimator can decide the condition, if all labels are there."""
        return exact_obstacle(self.script.clauses) is None

    @property
    def prefix(self) -> int:
        """How many examples are labelled once for all commits: the longest shared prefix, or 0."""
        if all(clause.score.is_linear for clause in self.script.clauses) or not self.by_need:
            return 0
        return max((prefix.length for prefix in shared_prefixes(self.script).values()), default=0)

    @cached_property
    def life(self) -> Forecast:
        """What a testset's life costs with the sequential estimator, labels shared by commits."""
        estimate = self.estimate(Estimator.SEQUENTIAL)
        asked = replace(self.script, estimator=Estimator.SEQUENTIAL)
        return forecast(asked, self.mix, estimate.examples)

    @property
    def assumption(self) -> str:
        """What the forecast assumes of commits."""
        return self.life.mix.sentence(scored=self.script.is_scored)

    @property
    def none_passes(self) -> bool:
        """Whether the forecast expects no pass, although some commit could pass."""
        return self.by_need and not self.useless and self.life.none_passes

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings about the script, and one if no assumed commit is expected to pass."""
        return (*self.script.warnings(), *self.warnings_of_commits)

    @property
    def warnings_of_commits(self) -> tuple[str, ...]:
        """What is wrong only for commits like the assumed ones."""
        if not self.none_passes:
            return ()
        mix = self.life.mix
        return (
            f"no commit like the assumed ones is expected to pass: they gain at most "
            f"{100 * mix.largest_gain:.2g} points and change {100 * mix.usual_difference:.2g}% of "
            "the predictions. Change the threshold or the tolerance, or assume other commits.",
        )

    @property
    def labels(self) -> ExpectedLife:
        """The numbers of :attr:`life` as they are shown."""
        return ExpectedLife.of(self.life)

    @property
    def labels_in_all(self) -> int | None:
        """The labels of the testset's life: expected, or those that the estimator asks for."""
        return self.row(self.decides_by).labels_in_all

    @cached_property
    def cheaper(self) -> Change | None:
        """The smallest change that would halve the labels; None if none does."""
        if self.script.reach_warnings or not self.labels_in_all:
            return None
        if not self.estimate(Estimator.SEQUENTIAL).applies:
            return None
        if self.decides_by is not Estimator.SEQUENTIAL:
            return change_to_auto(self.script, self.labels_in_all, self.mix)
        return cheapest_change(self.script, self.mix, self.life)

    @property
    def meaning(self) -> str:
        """What the condition means for a commit."""
        return meaning(self.script)

    def row(self, estimator: Estimator) -> Row:
        """The numbers of one estimator."""
        estimate = self.estimate(estimator)
        labels, a_commit = estimate.labels, estimate.labels_per_commit
        in_all = estimate.labels_in_all(self.script.steps)
        if estimator is Estimator.SEQUENTIAL and estimate.applies:
            a_commit, in_all = self.labels.per_commit, self.labels.in_all
        practical = None
        if in_all is not None:
            practical = in_all * PRACTICAL_STEPS <= PRACTICAL_LABELS * self.script.steps
        return Row(estimate, labels, a_commit, in_all, practical)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The numbers of all estimators."""
        return tuple(self.row(name) for name in NAMES)

    @property
    def savings(self) -> tuple[Saving, ...]:
        """The paper's cheap mode: what the best published estimator saves at wider tolerances."""
        return () if self.useless else _savings(self.script)


@lru_cache(maxsize=256)
def estimate_by(script: Script, name: Estimator) -> Estimate:
    """The estimate of one estimator for a script."""
    if name is Estimator.SEQUENTIAL:
        return sequential(script)
    from easeci.plan.estimators import ESTIMATORS  # not above: most plans show no other

    return ESTIMATORS[name](script)


def _best_published(script: Script) -> Estimate | None:
    """The published estimator with the fewest labels; Pattern 2 assumes a common difference.

    None if the condition is not on n, o and d alone.
    """
    from easeci.plan.estimators import PUBLISHED

    if script.difference is None:
        script = replace(script, difference=COMMON_DIFFERENCE)
    sized = [
        e for e in (estimator(script) for estimator in PUBLISHED.values()) if e.examples is not None
    ]
    return min(sized, key=lambda e: (_labels_in_all(e, script), e.labels), default=None)


def _effort(estimate: Estimate) -> str:
    if estimate.labels_per_commit:
        return f"{count(estimate.labels_per_commit)} per commit"
    return f"{count(estimate.labels or 0)} up front"


def _labels_in_all(estimate: Estimate, script: Script) -> int:
    labels = estimate.labels_in_all(script.steps)
    assert labels is not None
    return labels


def _savings(script: Script) -> tuple[Saving, ...]:
    if not script.needs_labels:
        return ()
    best = _best_published(script)
    if best is None:
        return ()
    now = _labels_in_all(best, script)
    savings = []
    for points in (1, 2):
        wider = _best_published(_loosened(script, points))
        assert wider is not None
        labels = _labels_in_all(wider, script)
        savings.append(Saving(points, labels, now / labels))
    return tuple(savings)


def _loosened(script: Script, points: int) -> Script:
    return replace(
        script,
        clauses=tuple(
            replace(clause, tolerance=clause.tolerance + Fraction(points, 100))
            for clause in script.clauses
        ),
    )
