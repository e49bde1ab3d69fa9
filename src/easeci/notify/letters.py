"""What easeci writes to people: verdicts, alarms, warnings. Pure: facts in, words out.

Each letter says what happened, what to do next, and the head of the ledger. If somebody replaces
the store with an older copy of itself, the letters in a mailbox show it.
"""

from __future__ import annotations

from typing import NamedTuple

from easeci.ledger.reasons import BudgetUsed, ByHand, FirstChange, Retirement, StepsLeftWarning
from easeci.ledger.wording import retirement_words
from easeci.notify.facts import (
    AlarmFacts,
    ClauseFacts,
    Needs,
    VerdictFacts,
    WarningFacts,
)
from easeci.notify.letter import one_line
from easeci.notify.page import Block, FactRows, Heading, Literal, Paragraph, as_html, as_text
from easeci.verdict.logic import Result

ADD = "easeci testset add EXAMPLES"
RELEASE = "easeci testset release --to FOLDER"
_LONGEST_NAME, _LONGEST_QUOTE = 60, 300


class Words(NamedTuple):
    """A letter without an address."""

    subject: str
    text: str
    html: str


def verdict_letter(facts: VerdictFacts) -> Words:
    """The letter that tells a verdict."""
    answer = "PASS" if facts.passed else "FAIL"
    rows = (
        ("Project", _quote(facts.project)),
        ("Commit", f"{facts.commit[:10]} {_quote(facts.subject)}"),
        ("Branch", _quote(facts.branch or "none")),
        ("Testset", str(facts.testset)),
        ("Step", f"{facts.step:,} of {facts.steps:,}"),
        ("Condition", facts.result or "not measured"),
        ("Labels", f"{facts.labels:,} consulted, of {facts.examples:,} examples"),
    )
    clauses = [block for clause in facts.clauses for block in _clause(clause)]
    return _words(
        f"{answer}: step {facts.step:,} of {facts.steps:,}, {_quote(facts.subject)}",
        facts.project,
        (
            Paragraph(f"{answer}: {_quote(facts.why)}.{_meaning(facts)}"),
            FactRows(rows),
            *clauses,
            *(() if facts.note is None else (Paragraph(facts.note),)),
            Heading("What to do next"),
            *(Paragraph(text) for text in _after_verdict(facts)),
        ),
        facts.head,
    )


def _clause(clause: ClauseFacts) -> tuple[Block, ...]:
    return (
        Heading(_quote(clause.text)),
        FactRows(
            (
                ("Outcome", clause.result),
                ("Estimate", clause.estimate),
                ("Interval", clause.interval),
            )
        ),
    )


def _meaning(facts: VerdictFacts) -> str:
    """What the mode makes of a condition that is neither shown to hold nor to fail."""
    if facts.result is not Result.UNKNOWN:
        return ""
    mode = "a pass in fn-free mode" if facts.passed else "a fail in fp-free mode"
    return f" That is {mode}."


def _after_verdict(facts: VerdictFacts) -> list[str]:
    if facts.passed and facts.result is None:
        texts = ["Nothing is shown of this model. Later ones are compared with it."]
    elif facts.passed:
        texts = ["This model may be used, as far as the condition goes."]
    else:
        texts = ["Don't use this model in place of the one before it."]
    if facts.secret:
        texts.append(
            "This verdict is for you alone. Don't tell the developers before the testset is "
            "retired: the guarantee rests on it."
        )
    left = facts.steps - facts.step
    steps = "No step is" if left == 0 else "1 step is" if left == 1 else f"{left:,} steps are"
    texts.append(f"{steps} left on this testset.")
    return texts


def alarm_letter(facts: AlarmFacts) -> Words:
    """The letter that asks for a new testset."""
    rows = (
        ("Project", _quote(facts.project)),
        ("Testset", f"{facts.testset} (retired)"),
        ("Reason", _quote(retirement_words(facts.reason))),
        ("Steps", f"{facts.steps_used:,} used of {facts.steps:,}"),
        ("Examples", f"{facts.examples:,}"),
        ("Labels", f"{facts.labels:,}"),
    )
    return _words(
        f"A new testset is needed (testset {facts.testset} is retired)",
        facts.project,
        (
            Paragraph(
                f"A new testset is needed: {_why(facts.reason)}. Until there is one, no commit is "
                "tested, and none can pass or fail."
            ),
            FactRows(rows),
            Heading("What to do next"),
            Paragraph(_needs(facts.needs)),
            Paragraph("Add the new testset:"),
            Literal((ADD,)),
            Paragraph("Give the retired one to the developers, who may now see all of it:"),
            Literal((RELEASE,)),
        ),
        facts.head,
    )


def _why(reason: Retirement) -> str:
    match reason:
        case BudgetUsed():
            return "all steps of this one are used"
        case FirstChange():
            return "under firstChange, the first change ends the life of a testset"
        case ByHand():
            return "the owner retired this one by hand"


def warning_letter(facts: WarningFacts) -> Words:
    """The letter that warns while a testset is still in use."""
    rows = (
        ("Project", _quote(facts.project)),
        ("Testset", str(facts.testset)),
        ("Steps", f"{facts.steps_used:,} used of {facts.steps:,}"),
        ("Undecided", f"{facts.undecided:,} of {facts.decided:,} commits"),
    )
    few = isinstance(facts.topic, StepsLeftWarning)
    title, what, advice = _few_steps(facts) if few else _many_undecided(facts)
    return _words(
        title,
        facts.project,
        (
            Paragraph(what),
            FactRows(rows),
            Heading("What to do next"),
            *(Paragraph(text) for text in advice),
            Paragraph(_needs(facts.needs)),
        ),
        facts.head,
    )


def _few_steps(facts: WarningFacts) -> tuple[str, str, tuple[str, ...]]:
    left = facts.steps - facts.steps_used
    steps = "1 step is" if left == 1 else f"{left:,} steps are"
    return (
        f"{steps} left on testset {facts.testset}",
        f"Only {steps} left. After that, no commit is tested before there is a new testset.",
        (
            "Collect new examples now, so that nobody has to wait. Once this testset is used up, "
            f"`{ADD}` adds the next one.",
        ),
    )


def _many_undecided(facts: WarningFacts) -> tuple[str, str, tuple[str, ...]]:
    return (
        f"Too many commits are undecided on testset {facts.testset}",
        f"{facts.undecided:,} of {facts.decided:,} commits could be shown neither to meet the "
        "condition nor to miss it. That is more than the plan allows for. Answers are as safe as "
        "promised, but good commits may go unnoticed.",
        (
            "Commits may lie close to the threshold, or differ from the old model more than the "
            "script's `difference:` says. `easeci log --owner` shows their intervals.",
            "For the next testset, allow a wider tolerance or a larger difference; `easeci plan` "
            "says what that needs.",
        ),
    )


def _needs(needs: Needs | None) -> str:
    if needs is None:
        return "`easeci plan` says how many examples and labels the next testset needs."
    labels = "" if needs.labels is None else f" and about {needs.labels:,} labels in its life"
    return (
        f"With the same script, the next testset needs {needs.examples:,} examples{labels}; "
        "`easeci plan` says why."
    )


def _words(title: str, project: str, blocks: tuple[Block, ...], head: str) -> Words:
    blocks = (
        *blocks,
        Heading("Head of the ledger"),
        Literal((head,)),
        Paragraph(
            "Keep this letter: it proves what was recorded up to here. `easeci log --verify` "
            "checks that nothing was changed since."
        ),
    )
    subject = f"[{one_line(project, _LONGEST_NAME)}] {title}"
    return Words(subject, as_text(blocks), as_html(subject, blocks))


def _quote(text: str) -> str:
    return one_line(text, _LONGEST_QUOTE)
