"""What ``run`` tells a developer: the same as a value, as a document, and read back from one."""

from __future__ import annotations

import json

import pytest

from easeci.ledger.signals import Signal
from easeci.service.commits.answer import answer_document, answer_of, parse_answer
from tests.histories import History


@pytest.mark.parametrize("passed", [True, False, None])
@pytest.mark.parametrize("adaptivity", ["full", "none -> a@example.org"])
def test_a_document_gives_back_the_answer(passed: bool | None, adaptivity: str) -> None:
    """It goes through JSON, as it does in a push's result file."""
    state = History.begun(adaptivity=adaptivity).commit("1", passed).state
    answer = answer_of(state, state.submissions[0])
    assert parse_answer(json.loads(json.dumps(answer_document(answer)))) == answer


def test_a_commit_that_is_run_again_spends_no_step() -> None:
    """A step counts as charged only by the command that spent it."""
    state = History.begun().commit("1", True).state
    first = answer_of(state, state.submissions[0])
    again = answer_of(state, state.submissions[0], charged=False)
    assert (first.charged, again.charged) == (True, False)
    assert first.row == again.row
    assert (again.steps, again.steps_used) == (4, 1)


def test_under_none_an_answer_does_not_tell_what_was_found() -> None:
    """Passing, failing and waiting give the same document, byte for byte."""
    documents = set()
    for passed in (True, False, None):
        history = History.begun(adaptivity="none -> a@example.org")
        state = history.commit("1", passed, signal="accepted").state
        answer = answer_of(state, state.submissions[0])
        assert answer.row.signal is Signal.ACCEPTED
        documents.add(json.dumps(answer_document(answer)))
    assert len(documents) == 1
