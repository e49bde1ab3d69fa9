"""From a queued message to the letter itself: facts gathered from the state, put into words.

A letter is written when it is sent, from what was recorded when it was queued; so it reads the same
whenever that is, and nothing of it needs to be stored.
"""

from __future__ import annotations

from easeci.ledger.disclosure import BUDGET_USED
from easeci.ledger.mail_rules import FIRST_CHANGE, UNDECIDED
from easeci.ledger.state import Message, Testset
from easeci.notify import (
    AlarmFacts,
    AlarmReason,
    ClauseFacts,
    Letter,
    Needs,
    VerdictFacts,
    WarningFacts,
    WarningReason,
    Words,
    alarm_letter,
    verdict_letter,
    warning_letter,
)
from easeci.script import Adaptivity
from easeci.service.project import Project


def letter_of(project: Project, message: Message) -> Letter:
    """The letter of a message. Its id is the record that queued it, the same at every attempt."""
    words = _words(project, message)
    return Letter(
        message_id=f"{project.name}.{message.head.number}.{message.head.code[:32]}",
        recipient=message.recipient,
        subject=words.subject,
        text=words.text,
        html=words.html,
    )


def _words(project: Project, message: Message) -> Words:
    testset = project.state.testsets[message.testset]
    match message.about:
        case "verdict":
            return verdict_letter(_verdict(project, testset, message))
        case "alarm":
            return alarm_letter(_alarm(project, testset, message))
        case _:
            return warning_letter(_warning(project, testset, message))


def _verdict(project: Project, testset: Testset, message: Message) -> VerdictFacts:
    assert message.step is not None
    step = testset.steps[message.step - 1]
    submission = project.state.submission(step.submission)
    verdict = step.verdict
    assert verdict is not None
    clauses = tuple(
        ClauseFacts(clause.text, clause.estimate, clause.low, clause.high, clause.result)
        for clause in verdict.clauses
    )
    return VerdictFacts(
        project=project.name,
        commit=submission.commit,
        subject=submission.subject,
        branch=submission.branch,
        testset=testset.number,
        step=step.number,
        steps=testset.script.steps,
        passed=bool(step.passed),
        outcome=verdict.result,
        clauses=clauses,
        labels=verdict.labels,
        examples=verdict.examples,
        secret=testset.script.adaptivity is Adaptivity.NONE,
        head=_head(message),
    )


def _alarm(project: Project, testset: Testset, message: Message) -> AlarmFacts:
    reason = AlarmReason.BY_HAND
    if message.reason == BUDGET_USED:
        reason = AlarmReason.BUDGET_USED
    elif message.reason in FIRST_CHANGE.values():
        reason = AlarmReason.FIRST_CHANGE
    return AlarmFacts(
        project=project.name,
        testset=testset.number,
        reason=reason,
        detail=message.reason,
        steps_used=testset.steps_used,
        steps=testset.script.steps,
        examples=testset.examples,
        labels=testset.labels,
        needs=_needs(testset),
        head=_head(message),
    )


def _warning(project: Project, testset: Testset, message: Message) -> WarningFacts:
    undecided = UNDECIDED in message.reason
    decided = [step for step in testset.steps[: message.step] if step.passed is not None]
    return WarningFacts(
        project=project.name,
        testset=testset.number,
        reason=WarningReason.UNDECIDED if undecided else WarningReason.STEPS_LEFT,
        steps_used=message.step or 0,
        steps=testset.script.steps,
        decided=len(decided),
        undecided=sum(step.undecided for step in decided),
        needs=_needs(testset),
        head=_head(message),
    )


def _needs(testset: Testset) -> Needs | None:
    from easeci.plan import plan  # not above: most commands write no letter

    chosen = plan(testset.script).chosen
    if chosen.testset_size is None:
        return None
    return Needs(chosen.testset_size, chosen.labels_in_all(testset.script.steps))


def _head(message: Message) -> str:
    return f"{message.head.number}:{message.head.code}"
