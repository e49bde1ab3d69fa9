"""What became of a push, as the file in the drop box tells it."""

from __future__ import annotations

import json

import pytest

from easeci.service.commits.answer import answer_document, answer_of
from easeci.service.pushes.results import (
    NotTested,
    PushResult,
    in_short,
    parse_result,
    result_document,
)
from tests.histories import History

STATE = History.begun().commit("1", True).state
ANSWER = answer_of(STATE, STATE.submissions[0])


@pytest.mark.parametrize("result", [ANSWER, NotTested("no testset yet"), NotTested("a", "b")])
def test_a_document_gives_back_the_result(result: PushResult) -> None:
    assert parse_result(json.loads(json.dumps(result_document(result)))) == result


def test_an_answer_has_the_keys_of_run() -> None:
    """Scripts read ``run --json`` and results of pushes in the same way."""
    assert result_document(ANSWER) == answer_document(ANSWER)


def test_a_push_that_was_not_tested_has_no_signal() -> None:
    """So nobody takes it for a pass or a fail."""
    document = result_document(NotTested("the branch is not listed"))
    assert document["signal"] is None
    assert in_short(NotTested("the branch is not listed")) == "not tested: the branch is not listed"
    assert in_short(ANSWER) == "pass"
