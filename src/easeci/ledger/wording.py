"""Reasons in words, for mail and for views. Nothing reads these sentences back."""

from __future__ import annotations

from easeci.ledger.reasons import BudgetUsed, ByHand, FirstChange, Retirement, UndecidedWarning


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
