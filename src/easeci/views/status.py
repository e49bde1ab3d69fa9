"""The status of a project: for developers, and for the owner.

A developer's view is made of what :mod:`easeci.ledger.disclosure` gives and of nothing else. The
owner's view shows more. Nothing here records that: :func:`easeci.service.looks.record_look` does.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from easeci.ledger.disclosure import (
    DisclosedStatus,
    disclosed_status,
)
from easeci.ledger.events import LABELLING
from easeci.ledger.state import SentFile, State, Testset
from easeci.script import Adaptivity, Mode, Script
from easeci.service.project import Project
from easeci.views.alarms import Alarm, UntestedPushes, alarms


@dataclass(frozen=True)
class OwnerStatus:
    """What the owner sees beyond the developers' status."""

    examples: int
    needed: int | None
    labels: int
    labels_wanted: int
    scores: int
    scores_wanted: int
    failed_scores: int
    waiting: int
    passed: int
    undecided: int
    build_errors: int
    baseline: str | None
    baseline_how: str | None
    letters_to_send: int
    head: str
    baseline_sent: SentFile | None = None
    """The file that the baseline's predictions were sent as; None if they were made here."""


@dataclass(frozen=True)
class Status:
    """How a project is doing. In a developer's view ``owner`` is None and ``alarms`` is empty."""

    project: str
    shown: DisclosedStatus
    condition: str | None
    reliability: str | None
    mode: str | None
    adaptivity: str | None
    next: str
    rests_on: tuple[str, ...]
    owner: OwnerStatus | None
    alarms: tuple[Alarm, ...]


def status(
    project: Project,
    *,
    owner: bool = False,
    labels_wanted: int | None = None,
    scores_wanted: int | None = None,
) -> Status:
    """The status for developers, or for the owner.

    Counting the labels and scores that are wanted reads the testset; a caller that knows their
    numbers gives them.
    """
    state = project.state
    testset, shown = state.latest_testset, disclosed_status(state)
    terms = None if testset is None else testset.terms
    for_owner = testset if owner else None
    found = None
    if for_owner is not None:
        found = owner_status(project, for_owner, labels_wanted, scores_wanted)
    return Status(
        project=project.name,
        shown=shown,
        condition=None if terms is None else terms.condition,
        reliability=None if terms is None else f"{float(terms.reliability):.10g}",
        mode=None if terms is None else str(terms.mode),
        adaptivity=None if terms is None else str(terms.adaptivity),
        next=next_act(shown),
        rests_on=rests_on(state, testset),
        owner=found,
        alarms=()
        if for_owner is None or found is None
        else alarms(state, for_owner, _untested(project), scores_wanted=found.scores_wanted),
    )


def _untested(project: Project) -> UntestedPushes:
    """The pushed commits that no watcher could test; none where this account has no drop box."""
    with suppress(OSError):
        from easeci.service.pushes.dropbox import DropBox  # not above: developers need none

        attempts = DropBox.of(project.repository.git_dir).attempts
        return UntestedPushes(attempts.set_aside(), attempts.postponed())
    return UntestedPushes()


def next_act(shown: DisclosedStatus) -> str:
    """What happens next, and who does it. Commands are between backticks."""
    if shown.testset is None:
        return "There is no testset yet: the owner adds one with `easeci testset add EXAMPLES`."
    acts = []
    if shown.pending:
        # The same words whatever they wait for: that would tell of labels and examples.
        acts.append(
            f"Commits that wait for labels or scores, or for a tick: {shown.pending:,}. The owner "
            "labels with `easeci label`, or scores with `easeci scores export FILE`; `easeci run "
            "COMMIT` asks again."
        )
    if shown.retired is not None:
        acts.append("A new testset is needed; until then no commit is tested (exit code 4).")
    else:
        acts.append(
            f"`easeci run` tests the next commit; steps left: {shown.steps - shown.steps_used:,}."
        )
    return " ".join(acts)


def promise(script: Script) -> tuple[str, ...]:
    """What a script promises, in three sentences."""
    reliability, sensitivity = (
        f"{float(share):.10g}" for share in (script.reliability, script.sensitivity)
    )
    if script.mode is Mode.FP_FREE:
        safe = "no commit passes whose condition is false"
        sensitive = "no commit fails that is on the good side of every threshold"
    else:
        safe = "no commit fails whose condition is true"
        sensitive = "no commit passes that is on the bad side of some threshold"
    ends = "pass" if script.mode is Mode.FP_FREE else "fail"
    shown = {
        Adaptivity.NONE: "Developers see that a commit was accepted, and never its verdict.",
        Adaptivity.FULL: "Developers see pass or fail of every commit, and may adapt to it.",
        Adaptivity.FIRST_CHANGE: "Developers see pass or fail of every commit, and the testset "
        f"ends with its first {ends}.",
    }
    return (
        f"With probability at least {reliability}, {safe}, over the testset's whole life of "
        f"{script.steps:,} steps ({script.mode}).",
        f"On a testset as large as planned, with probability at least {sensitivity}, {sensitive} "
        "by twice its tolerance or more.",
        shown[script.adaptivity],
    )


def rests_on(state: State, testset: Testset | None) -> tuple[str, ...]:
    """What the guarantee assumes, and what was done that weakens it.

    Developers read this too, so no verdict and no count of labels can follow from it.
    """
    if testset is None:
        return ()
    lines = [
        "The examples are independent draws from where the model will work. Developers have not "
        "seen them, labellers do not see predictions, and a model predicts each example by itself."
    ]
    if testset.terms.is_scored:
        lines.append(
            "Quality is what the scorer says: it gives the same output the same score, whichever "
            "model wrote it, and stays the same for the testset's whole life."
        )
    if len(state.testsets) > 1:
        lines.append(
            f"Each of {len(state.testsets)} testsets may err with probability 1 - reliability: "
            f"together at most {len(state.testsets)} times that."
        )
    if testset.needed is not None and testset.examples < testset.needed:
        lines.append(
            f"The testset is smaller than planned ({testset.examples:,} of {testset.needed:,} "
            "examples): answers are as safe, but clearly good commits may be missed more often."
        )
    shared = sum(testset.shared.values())
    if shared and testset.left_out:
        lines.append(
            f"{shared:,} examples that earlier testsets had were left out: it speaks of inputs "
            "unlike those."
        )
    elif shared:
        lines.append(f"{shared:,} of its examples were already in earlier testsets.")
    lines += _sent(testset)
    if testset.corrected:
        lines.append("Labels were corrected later; earlier signals stay as they are.")
    if any(at >= testset.at for at, _ in state.older_accepted):
        lines.append(
            "The store was put back to an older copy: answers that developers have heard since "
            "then are not counted."
        )
    if any(at >= testset.at and view != LABELLING for at, view in state.looks):
        # A count of looks, or looks of labellers, would tell developers what waits.
        lines.append(
            "Somebody has looked at more than the signals: no decision about a model may rest on "
            "that."
        )
    if testset.terms.adaptivity is not Adaptivity.NONE:
        lines.append("Developers see the signals, and nothing else.")
        if not testset.terms.fixed_times:
            lines.append(
                "It holds for developers who do not use waiting times: those depend on sealed "
                "examples and labels. `disclose: 24h` in the script hides them."
            )
        else:
            lines.append(
                "Signals come at fixed times. It holds for developers who do not measure how long "
                "this machine is busy with other commits."
            )
    return tuple(lines)


def _sent(testset: Testset) -> list[str]:
    """What is not shown of predictions that were sent as a file."""
    found = []
    if testset.sent_steps:
        found.append(f"{testset.sent_steps:,} of its {testset.steps_used:,} steps")
    if testset.sent_baseline:
        found.append("a baseline")
    if not found:
        return []
    what = " and ".join(found)
    return [
        f"Predictions were sent as a file for {what}: the answers hold for these predictions, and "
        "nothing shows that the commit's program made them. Their maker had the sealed examples: "
        "no developer may get them that way."
    ]


def owner_status(
    project: Project,
    testset: Testset,
    labels_wanted: int | None = None,
    scores_wanted: int | None = None,
) -> OwnerStatus:
    """What the owner sees of a testset."""
    state = project.state
    if labels_wanted is None:
        labels_wanted = _count_wanted(project, testset)
    if scores_wanted is None:
        scores_wanted = count_scores_wanted(project, testset)
    return OwnerStatus(
        examples=testset.examples,
        needed=testset.needed,
        labels=testset.labels,
        labels_wanted=labels_wanted,
        scores=testset.scored,
        scores_wanted=scores_wanted,
        failed_scores=testset.failed_scores,
        waiting=_waiting(state, testset),
        passed=sum(step.passed is True and not step.adopted for step in testset.steps),
        undecided=sum(step.undecided for step in testset.steps),
        build_errors=state.build_failures(testset),
        baseline=state.baseline,
        baseline_how=state.baseline_how,
        letters_to_send=sum(not message.sent for message in state.messages),
        head=f"{project.head.number}:{project.head.code}",
        baseline_sent=testset.sent_file(testset.real_model),
    )


def _waiting(state: State, testset: Testset) -> int:
    """How many commits wait for labels or for their turn; none if the testset has ended."""
    if testset.retired is not None:
        return 0
    return len(state.queue(testset)) + sum(not step.answered for step in testset.steps)


def _count_wanted(project: Project, testset: Testset) -> int:
    """How many labels the open step waits for."""
    if testset.undecided_step is None:
        return 0  # without loading the tables
    from easeci.service.labelling.files import wanted_labels

    return len(wanted_labels(project, testset))


def count_scores_wanted(project: Project, testset: Testset) -> int:
    """How many outputs the open step waits for to be scored outside."""
    if testset.undecided_step is None or not testset.terms.is_scored:
        return 0  # without loading the tables
    from easeci.service.scores.files import wanted_scores

    return wanted_scores(project, testset)
