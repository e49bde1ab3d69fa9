"""What a project shows: its status and log, for developers and for the owner, and its soundness.

A developer's view is made of what :mod:`easeci.ledger.disclosure` gives and of nothing else. The
owner's view shows more, and that somebody looked is recorded.
"""

from __future__ import annotations

from dataclasses import dataclass

from easeci.ledger.disclosure import (
    DisclosedStatus,
    disclosed_status,
)
from easeci.ledger.events import LABELLING, Looked
from easeci.ledger.state import State, Testset
from easeci.script import Adaptivity
from easeci.service.labelling.files import wanted_labels
from easeci.service.project import Project


@dataclass(frozen=True)
class OwnerStatus:
    """What the owner sees beyond the developers' status."""

    examples: int
    needed: int | None
    labels: int
    labels_wanted: int
    waiting: int
    passed: int
    undecided: int
    build_errors: int
    baseline: str | None
    baseline_how: str | None
    letters_to_send: int
    head: str


@dataclass(frozen=True)
class Status:
    """``owner`` is None in a developer's view."""

    project: str
    shown: DisclosedStatus
    condition: str | None
    reliability: str | None
    mode: str | None
    adaptivity: str | None
    next: str
    rests_on: tuple[str, ...]
    owner: OwnerStatus | None


def status(project: Project, *, owner: bool = False) -> Status:
    """How things stand; the owner's view is recorded as a look."""
    if owner:
        _record_look(project, "status")
    return read_status(project, owner=owner)


def _record_look(project: Project, view: str) -> None:
    with project.exclusive():
        project.append(Looked(view))


def _waiting(state: State, testset: Testset) -> int:
    """How many commits wait for labels or for their turn; on a testset that has ended, none."""
    if testset.retired is not None:
        return 0
    return len(state.queue(testset)) + (testset.open_step is not None)


def read_status(
    project: Project, *, owner: bool = False, labels_wanted: int | None = None
) -> Status:
    """As :func:`status`, for who records looks.

    To count the labels that are wanted means to decide the open step, which reads the testset:
    whoever knows their number gives it.
    """
    state = project.state
    testset, shown = state.latest_testset, disclosed_status(state)
    script = None if testset is None else testset.script
    return Status(
        project=project.name,
        shown=shown,
        condition=None if script is None else str(script.condition),
        reliability=None if script is None else f"{float(script.reliability):.10g}",
        mode=None if script is None else str(script.mode),
        adaptivity=None if script is None else str(script.adaptivity),
        next=_next(shown),
        rests_on=rests_on(state, testset),
        owner=owner_status(project, testset, labels_wanted)
        if owner and testset is not None
        else None,
    )


def _next(shown: DisclosedStatus) -> str:
    if shown.testset is None:
        return "The owner adds a testset: `easeci testset add EXAMPLES`."
    if shown.retired is not None:
        return "A new testset is needed; until then no commit is tested (exit code 4)."
    left = f"steps left: {shown.steps - shown.steps_used:,}"
    if shown.pending:
        return f"Commits that wait for labels: {shown.pending:,} (`easeci label`); {left}."
    return f"`easeci run` tests the next commit; {left}."


def rests_on(state: State, testset: Testset | None) -> tuple[str, ...]:
    """What the guarantee takes for granted, and what has been done that it must now stand.

    Of nothing here may a developer learn a verdict or a count of labels.
    """
    if testset is None:
        return ()
    lines = [
        "The examples are independent draws from where the model will work, unseen by developers, "
        "labelled blind, and predicted one by one."
    ]
    if len(state.testsets) > 1:
        lines.append(
            f"Each of {len(state.testsets)} testsets had its own share of error: in all "
            f"{len(state.testsets)} times 1 - reliability."
        )
    if testset.needed is not None and testset.examples < testset.needed:
        lines.append(
            f"The testset is smaller than planned ({testset.examples:,} of {testset.needed:,} "
            "examples): answers are as safe, but clearly good commits may be missed more often."
        )
    shared = sum(testset.shared.values())
    if shared:
        lines.append(f"Already in earlier testsets: {shared:,} of its examples.")
    if testset.corrected:
        lines.append("Labels were corrected after they were given; signals given before stand.")
    if any(at >= testset.at and view != LABELLING for at, view in state.looks):
        # How often, and when labels were asked for, would tell what waits.
        lines.append(
            "Somebody has looked at more than the signals: no decision about a model may rest on "
            "that."
        )
    if testset.script.adaptivity is not Adaptivity.NONE:
        lines.append("Developers see the signals, and nothing else.")
    return tuple(lines)


def owner_status(
    project: Project, testset: Testset, labels_wanted: int | None = None
) -> OwnerStatus:
    """What the owner sees of a testset; no look is recorded."""
    state = project.state
    if labels_wanted is None:
        labels_wanted = len(wanted_labels(project, testset))
    return OwnerStatus(
        examples=testset.examples,
        needed=testset.needed,
        labels=testset.labels,
        labels_wanted=labels_wanted,
        waiting=_waiting(state, testset),
        passed=sum(step.passed is True for step in testset.steps),
        undecided=sum(step.undecided for step in testset.steps),
        build_errors=state.build_failures(testset),
        baseline=state.baseline,
        baseline_how=state.baseline_how,
        letters_to_send=sum(not message.sent for message in state.messages),
        head=f"{project.head.number}:{project.head.code}",
    )
