"""Reads the English sentences that events of version 1 recorded as reasons.

The sentences are those that version 1 wrote. They stay as they are, whatever :mod:`wording` says.
"""

from __future__ import annotations

import re

from easeci.ledger.reasons import (
    AlarmLetter,
    BudgetUsed,
    ByHand,
    FirstChange,
    Retirement,
    StepsLeftWarning,
    Topic,
    UndecidedWarning,
    VerdictLetter,
)

_SENTENCES: dict[str, Retirement] = {
    "all its steps are used": BudgetUsed(),
    "its first pass, and firstChange ends there": FirstChange(passed=True),
    "its first fail, and firstChange ends there": FirstChange(passed=False),
}
_UNDECIDED = re.compile(r"(\d+) of (\d+) commits were undecided")
_STEPS_LEFT = re.compile(r"(\d+) steps are left")


def parse_retirement_sentence(sentence: str) -> Retirement:
    """Why a testset was retired. Any text that easeci did not write is the owner's."""
    return _SENTENCES.get(sentence) or ByHand(sentence)


def parse_topic_sentence(about: str, sentence: str) -> Topic:
    """What a letter is about; a ValueError if version 1 wrote no such sentence."""
    if about == "verdict":
        return VerdictLetter()
    if about == "alarm":
        return AlarmLetter(parse_retirement_sentence(sentence))
    if found := _UNDECIDED.fullmatch(sentence):
        return UndecidedWarning(int(found[1]), int(found[2]))
    if found := _STEPS_LEFT.fullmatch(sentence):
        return StepsLeftWarning(int(found[1]))
    raise ValueError(f"unknown reason of a {about}")
