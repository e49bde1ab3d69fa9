"""From a queued message to its letter: facts are gathered from the state and put into words.

A letter is written when it is sent, from what was recorded up to when it was queued. So it reads
the same at every attempt, and its text is not stored.
"""

from __future__ import annotations

from easeci.ledger.reasons import (
    AlarmLetter,
    Retirement,
    StepsLeftWarning,
    UndecidedWarning,
    VerdictLetter,
)
from easeci.ledger.state import Message, Testset
from easeci.ledger.wording import step_reason
from easeci.notify import (
    AlarmFacts,
    ClauseFacts,
    Letter,
    Needs,
    VerdictFacts,
    WarningFacts,
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
    match message.topic:
        case VerdictLetter():
            return verdict_letter(_verdict(project, testset, message))
        case AlarmLetter(reason):
            return alarm_letter(_alarm(project, testset, message, reason))
        case StepsLeftWarning() | UndecidedWarning() as topic:
            return warning_letter(_warning(project, testset, message, topic))


def _verdict(project: Project, testset: Testset, message: Message) -> VerdictFacts:
    assert message.step is not None
    step = testset.steps[message.step - 1]
    submission = project.state.submission(step.submission)
    verdict = step.verdict
    found = () if verdict is None else verdict.clauses
    clauses = tuple(
        ClauseFacts(clause.text, clause.estimate_words, clause.interval_words, clause.result)
        for clause in found
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
        why=step_reason(step) or "",
        result=None if verdict is None else verdict.result,
        clauses=clauses,
        labels=0 if verdict is None else verdict.labels,
        examples=testset.examples if verdict is None else verdict.examples,
        secret=testset.script.adaptivity is Adaptivity.NONE,
        head=_head(message),
        note=None if verdict is None else verdict.interval_note,
    )


def _alarm(project: Project, testset: Testset, message: Message, reason: Retirement) -> AlarmFacts:
    return AlarmFacts(
        project=project.name,
        testset=testset.number,
        reason=reason,
        steps_used=testset.steps_used,
        steps=testset.script.steps,
        examples=testset.examples,
        labels=testset.labels,
        needs=_needs(testset),
        head=_head(message),
    )


def _warning(
    project: Project,
    testset: Testset,
    message: Message,
    topic: StepsLeftWarning | UndecidedWarning,
) -> WarningFacts:
    decided = [step for step in testset.steps[: message.step] if step.passed is not None]
    return WarningFacts(
        project=project.name,
        testset=testset.number,
        topic=topic,
        steps_used=message.step or 0,
        steps=testset.script.steps,
        decided=len(decided),
        undecided=sum(step.undecided for step in decided),
        needs=_needs(testset),
        head=_head(message),
    )


def _needs(testset: Testset) -> Needs | None:
    from easeci.plan import plan  # not above: most commands write no letter

    made = plan(testset.script)
    if made.bring is None or made.useless:
        return None
    return Needs(made.bring.examples, made.labels_in_all)


def _head(message: Message) -> str:
    return f"{message.head.number}:{message.head.code}"
