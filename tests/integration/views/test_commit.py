"""The evidence on a commit: what the owner sees of it, the same whenever it is looked at."""

from __future__ import annotations

import pytest

from easeci.errors import UsageError
from easeci.evidence.endings import Ending
from easeci.ledger.signals import Signal
from easeci.service.labelling.files import import_labels
from easeci.service.project import Project
from easeci.verdict.logic import Result
from easeci.views.commit import CommitEvidence, commit_curves, commit_view, curves_key
from easeci.views.status import owner_status, status
from tests.projects import opened
from tests.repositories import Workplace


def evidence(project: Project, number: int) -> CommitEvidence:
    owner = commit_view(project, number, owner=True).owner
    assert owner is not None
    return owner


def test_a_commit_waits_is_decided_and_stays_as_it_was(place: Workplace) -> None:
    """Its course is the same after labels were added and corrected that it never saw."""
    project = opened(place)
    waiting = commit_view(project, 2, owner=True)
    assert waiting.shown.signal is Signal.PENDING
    assert waiting.owner is not None
    assert (waiting.owner.waiting, waiting.owner.passed) == (True, None)
    assert waiting.owner.verdict is None
    (course,) = commit_curves(project, 2)
    assert (course.ending, course.labels) == (Ending.OPEN, (0,))
    before = curves_key(project, 2)

    import_labels(opened(place), place.labels)
    project = opened(place)
    decided = evidence(project, 2)
    assert (decided.waiting, decided.passed) == (False, True)
    assert decided.verdict is not None
    assert decided.verdict.result is Result.TRUE
    assert decided.became_baseline
    assert decided.baseline == project.state.submission(1).commit
    (finding,) = decided.verdict.clauses
    assert finding.estimate is not None
    assert finding.low <= finding.estimate <= finding.high
    assert finding.interval_error is not None
    assert 0.0 < finding.interval_error < 0.05
    assert decided.why is not None
    assert "shown to " in decided.why
    (course,) = commit_curves(project, 2)
    assert course.ending is Ending.PROVEN
    assert course.labels[-1] == decided.verdict.labels
    assert course.proof.evidence[-1] >= course.proof.target
    key = curves_key(project, 2)
    assert key != before

    head, *rows = place.labels.read_text().splitlines()
    turned = [row.replace("high", "x").replace("low", "high").replace("x", "low") for row in rows]
    correction = place.folder / "corrected.csv"
    correction.write_text("\n".join([head, *turned, ""]))
    assert import_labels(opened(place), correction, correct=True).corrected
    project = opened(place)
    assert commit_curves(project, 2) == (course,)
    assert curves_key(project, 2) == key
    assert evidence(project, 2) == decided


def test_the_first_commit_has_no_step_and_no_course(place: Workplace) -> None:
    project = opened(place)
    found = evidence(project, 1)
    assert (found.step, found.passed, found.waiting, found.failure) == (None, None, False, None)
    assert not found.has_log
    assert commit_curves(project, 1) == ()


def test_developers_see_the_row_and_nothing_else(place: Workplace) -> None:
    project = opened(place)
    assert commit_view(project, 2).owner is None
    assert commit_view(project, 2).shown == commit_view(project, 2, owner=True).shown


def test_a_number_of_labels_that_is_known_is_not_counted_again(place: Workplace) -> None:
    project = opened(place)
    found = owner_status(project, project.state.testsets[1], labels_wanted=17)
    assert found.labels_wanted == 17
    owner = status(project, owner=True, labels_wanted=5).owner
    assert owner is not None
    assert owner.labels_wanted == 5


@pytest.mark.parametrize("number", [0, 99, -1])
def test_a_commit_that_is_not_there_is_said_so(place: Workplace, number: int) -> None:
    for view in (commit_view, commit_curves, curves_key):
        with pytest.raises(UsageError, match="there is no commit number"):
            view(opened(place), number)
