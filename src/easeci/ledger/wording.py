"""Reasons in words, for mail and for views. Nothing reads these sentences back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from easeci.ledger.reasons import BudgetUsed, ByHand, FirstChange, Retirement, UndecidedWarning
from easeci.times import readable_time

if TYPE_CHECKING:
    from easeci.ledger.testset import SentFile, Step

PROGRAM_FAILED = "its program failed on the examples of the testset"
ADOPTED = "it is the first model that runs, adopted as the baseline without a test"
AT_TICK = "its test had not ended when its signal was due, so the answer is that of Unknown"


def step_reason(step: Step) -> str | None:
    """Why a step passed or failed, in one sentence; None if it is not decided. For the owner."""
    if step.passed is None:
        return None
    if step.adopted:
        return ADOPTED
    if step.at_tick:
        return AT_TICK
    return PROGRAM_FAILED if step.verdict is None else step.verdict.why


def step_in_short(step: Step) -> str:
    """The answer and its reason in a few words, for tables; empty if it is not decided."""
    if step.passed is None:
        return ""
    answer = "pass" if step.passed else "fail"
    if step.adopted:
        return "adopted as the baseline"
    if step.at_tick:
        return f"{answer}: not decided in time"
    return f"{answer}: {'program failed' if step.verdict is None else step.verdict.briefly}"


def sent_words(sent: SentFile) -> str:
    """Who sent a file of predictions, and when."""
    by = f" by {sent.by}" if sent.by else ""
    return f"sent as a file{by}, {readable_time(sent.at)} UTC"


BASELINE_WORDS = {
    "adopted": "adopted as the first",
    "set": "chosen by the owner",
    "same": "the same model as before",
}
"""How a commit became the baseline, where that is not by a pass."""


def baseline_words(how: str) -> str:
    """How a commit became the baseline: "passed", or another way in a few words."""
    return BASELINE_WORDS.get(how, how)


def retirement_words(reason: Retirement) -> str:
    """Why a testset was retired, such as "all its steps are used"; by hand, the owner's text."""
    match reason:
        case BudgetUsed():
            return "all its steps are used"
        case FirstChange(passed):
            return f"its first {'pass' if passed else 'fail'}, and firstChange ends there"
        case ByHand(text):
            return text


def undecided_words(warning: UndecidedWarning) -> str:
    """How many commits were undecided, such as "8 of 9 commits were undecided"."""
    return f"{warning.undecided} of {warning.decided} commits were undecided"
