"""Reasons in words."""

from __future__ import annotations

from easeci.ledger.reasons import (
    BudgetUsed,
    ByHand,
    FirstChange,
    Retirement,
    UndecidedWarning,
)
from easeci.ledger.version_1 import parse_retirement_sentence
from easeci.ledger.wording import retirement_words, undecided_words

RETIREMENTS: tuple[Retirement, ...] = (
    BudgetUsed(),
    FirstChange(passed=True),
    FirstChange(passed=False),
    ByHand("all its steps are used"),
    ByHand(""),
)


def test_words() -> None:
    """People read what they read when sentences were recorded."""
    for reason in RETIREMENTS[:3]:
        assert parse_retirement_sentence(retirement_words(reason)) == reason
    assert retirement_words(ByHand("new data")) == "new data"
    assert undecided_words(UndecidedWarning(8, 9)) == "8 of 9 commits were undecided"
