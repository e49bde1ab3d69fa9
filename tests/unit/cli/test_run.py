"""What developers read of their commit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from easeci.cli.hook import _show_result
from easeci.cli.run import show_answer
from easeci.ledger.events import TestsetRetired
from easeci.ledger.reasons import BudgetUsed, ByHand, FirstChange, Retirement
from easeci.ledger.signals import Signal
from easeci.service.commits.answer import answer_of
from easeci.service.pushes.hooks import Push
from tests.histories import History


def said(
    history: History, capsys: pytest.CaptureFixture[str], again: str | None = None
) -> list[str]:
    state = history.state
    show_answer(answer_of(state, state.submissions[-1]), again)
    return [line.strip() for line in capsys.readouterr().out.splitlines()]


def test_a_commit_that_waits_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    """Who labels and with what, and how to hear the signal."""
    history = History.begun().commit("1", None)
    commit = history.state.submissions[0].commit[:10]
    first, *words = said(history, capsys)
    assert first.startswith(f"PENDING  commit {commit}")
    assert words == [
        "It waits for labels, or for the next tick if the script has disclose:.",
        "The owner labels with `easeci label` or `easeci labels export FILE`",
        "(with scorer: external, `easeci scores export FILE`);",
        f"`easeci run {commit}` asks again.",
        "testset 1: 1 of 4 steps used, 3 left",
    ]
    _, *words = said(history, capsys, "its signal will be in /somewhere")
    assert "its signal will be in /somewhere." in " ".join(words)


def test_the_words_of_waiting_are_the_same_whatever_it_waits_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A step without labels, and one that is decided and waits for its tick."""
    no_labels = History.begun(disclose="24h").commit("1", None)
    decided = History.begun(disclose="24h").commit("1", True)
    decided.events.pop()  # its signal
    assert said(no_labels, capsys) == said(decided, capsys)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (FirstChange(True), "its first pass, and firstChange ends there"),
        (FirstChange(False), "its first fail, and firstChange ends there"),
        (BudgetUsed(), "all its steps are used"),
        (ByHand("[red]old[/]"), "[red]old[/]"),
    ],
)
def test_a_testset_that_has_ended_is_named_and_no_steps_are_left(
    capsys: pytest.CaptureFixture[str], reason: Retirement, words: str
) -> None:
    """Also by the commit that ended it: its pass is the first change."""
    history = History.begun().commit("1", True).add(TestsetRetired(1, reason))
    assert said(history, capsys)[1:] == [
        "Step 1.",
        "testset 1: 1 of 4 steps used",
        f"Testset 1 has ended: {words}.",
        "A new one is needed before another commit is tested.",
    ]


def test_a_failure_on_the_sample_is_shown_with_its_log(capsys: pytest.CaptureFixture[str]) -> None:
    """Long lines of the log are not broken, so that a traceback can be copied."""
    history = History.begun().commit("1", None)
    state = history.state
    answer = answer_of(state, state.submissions[-1])
    failed = replace(
        answer,
        row=replace(answer.row, signal=Signal.BUILD_ERROR, step=None),
        failure="44 of 80 predictions are none of the declared classes: 'Low', '[red]', 'LOW'",
        log="[red]" + 100 * "x" + "\n\neaseci: 44 of 80\nclasses: declares 'low'\n",
    )
    show_answer(failed)
    shown = capsys.readouterr().out
    assert "  44 of 80 predictions are none of the declared classes: 'Low', '[red]'," in shown
    assert "no step was spent." in " ".join(shown.split())
    assert f"  | [red]{100 * 'x'}\n  | \n  | easeci: 44 of 80\n  | classes: declares" in shown


def test_a_push_that_was_handed_over_is_told_the_pace_of_its_program(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Once, with the answer that was charged."""
    history = History.begun().commit("1", None)
    answer = answer_of(history.state, history.state.submissions[-1])
    push = Push("main", answer.row.commit)
    _show_result(push, replace(answer, warning="at this pace it takes long"), "later")
    assert "at this pace it takes long" in capsys.readouterr().err
    again = replace(answer, warning="at this pace it takes long", charged=False)
    _show_result(push, again, "later")
    assert "at this pace" not in capsys.readouterr().err
