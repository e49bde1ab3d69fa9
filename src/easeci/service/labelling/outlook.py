"""How many labels the open step still waits for: surely, by the plan, and at most.

Only the owner reads it. The evidence so far goes into it, and labellers are blind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from easeci.ledger.state import Testset
from easeci.plan.assumptions import planned_difference
from easeci.plan.sequential import labels_alone
from easeci.script import Estimator
from easeci.service.commits.advance import evidence_of
from easeci.service.project import Project
from easeci.tables.answers import KNOWN
from easeci.vault.testset import SealedTestset
from easeci.verdict.decide import Evaluation

SECONDS_A_LABEL = 5
HOURS_A_DAY = 6
"""A working day of labelling, with pauses."""
A_DAY_OF_LABELS = HOURS_A_DAY * 3600 // SECONDS_A_LABEL


@dataclass(frozen=True)
class LabelOutlook:
    """The next labels to ask for, and how many more the step takes.

    ``positions`` are along the secret order. ``needed`` is how many labels must come before any
    verdict is possible; None if the estimator can't tell. ``expected`` is how many are still to
    come by the plan, and ``most`` how many can matter at all.
    """

    positions: tuple[int, ...]
    needed: int | None
    expected: int
    most: int

    def files(self, labels: int) -> int:
        """How many files of this size hold so many labels."""
        return math.ceil(labels / max(len(self.positions), 1))


NOTHING_WANTED = LabelOutlook((), None, 0, 0)


def label_outlook(project: Project, testset: Testset, count: int) -> LabelOutlook:
    """The next ``count`` labels that the open step may use, in order, and what comes after them.

    A verdict never uses labels behind the point where it is reached. So more than is needed may be
    asked for: it changes no answer, it only costs labels.
    """
    step = testset.undecided_step
    if step is None:
        return NOTHING_WANTED
    evidence = evidence_of(project, testset, step)
    script, evaluation = evidence.script, Evaluation(*evidence)
    verdict = evaluation.verdict(batch=count)
    if verdict.passed is not None:
        return NOTHING_WANTED
    wanted = unlabelled_among(project.sealed(testset), testset, verdict.wanted)
    if script.estimator not in (Estimator.AUTO, Estimator.SEQUENTIAL):
        return LabelOutlook(wanted[:count], None, len(wanted), len(wanted))
    needed, most = len(evaluation.verdict(batch=1).wanted), evaluation.missing_labels
    expected = max(min(expected_labels(testset) - verdict.labels, most), needed)
    return LabelOutlook(wanted[:count], needed, expected, most)


def unlabelled_among(
    sealed: SealedTestset, testset: Testset, positions: tuple[int, ...]
) -> tuple[int, ...]:
    """Of these positions, those whose reference is not known; an example may wait for its scorer.

    Without a scorer, all of them.
    """
    if not positions or not testset.script.needs_references:
        return positions
    known = sealed.labels.known(testset.label_files)["state"].is_in(list(KNOWN)).fill_null(False)
    waits = ~known.to_numpy()[sealed.examples.order]
    return tuple(position for position in positions if waits[position])


def expected_labels(testset: Testset) -> int:
    """How many labels a commit takes by the plan.

    If a method needs all labels that matter, this uses the plan's difference d. The real number
    would tell labellers on how many examples the models differ.
    """
    script = testset.decides_by
    if script.estimator is Estimator.SEQUENTIAL:
        return labels_alone(script).middle
    if any(clause.score.counts_everywhere for clause in script.clauses):
        return testset.examples
    shares = [planned_difference(script, clause).share for clause in script.clauses]
    return math.ceil(max(shares) * testset.examples)
