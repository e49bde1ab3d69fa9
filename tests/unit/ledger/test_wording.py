"""Reasons in words."""

from __future__ import annotations

from easeci.ledger.reasons import (
    BudgetUsed,
    ByHand,
    FirstChange,
    Retirement,
    UndecidedWarning,
)
from easeci.ledger.testset import Step
from easeci.ledger.version_1 import parse_retirement_sentence
from easeci.ledger.wording import (
    ADOPTED,
    AT_TICK,
    retirement_words,
    step_in_short,
    step_reason,
    undecided_words,
)
from tests.histories import History

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


def test_every_decided_step_has_a_reason() -> None:
    steps = History.begun().commit("1", True).commit("2", False).commit("3", None)
    passed, failed, waiting = steps.state.testsets[1].steps
    assert passed.verdict is not None
    assert step_reason(passed) == passed.verdict.why
    assert (step_reason(waiting), step_in_short(waiting)) == (None, "")
    failed.at_tick = True
    assert step_reason(failed) == AT_TICK
    assert step_in_short(failed) == "fail: not decided in time"


def test_a_step_without_a_verdict_failed_or_was_adopted() -> None:
    step = Step(1, 1, 1, "", passed=False)
    assert step_reason(step) == "its program failed on the examples of the testset"
    assert step_in_short(step) == "fail: program failed"
    step.passed, step.adopted = True, True
    assert step_reason(step) == ADOPTED
    assert step_in_short(step) == "adopted as the baseline"
