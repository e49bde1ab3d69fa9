"""The owner ends a testset's life by hand."""

from __future__ import annotations

from collections.abc import Callable

from easeci.ledger.mail_rules import Letters
from easeci.ledger.reasons import ByHand
from easeci.ledger.state import Testset
from easeci.ledger.turns import retirement
from easeci.service.commits.advance import acting
from easeci.service.project import Project, require_number


def retire_testset(
    project: Project,
    reason: str,
    waiting: Callable[[], None] | None = None,
    *,
    number: int | None = None,
) -> Testset:
    """End a testset's life by hand: no more commits are tested on it.

    With ``number``, only if the active testset has that number.
    """
    with acting(project, waiting):
        testset = project.state.active_testset
        if testset is None:
            testset = project.require_active()
        require_number(testset, number)
        letters = Letters(project.state, testset.number)
        project.append(*retirement(testset, ByHand(reason), letters))
        return testset
