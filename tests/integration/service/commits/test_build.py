"""A build that fails spends no step, and what it printed is the owner's."""

from __future__ import annotations

import pytest

from easeci.ledger.signals import Signal
from tests.projects import opened, run_on
from tests.repositories import Workplace


def test_a_program_that_fails_spends_no_step(sealed: Workplace) -> None:
    run_on(sealed)
    sealed.write("model.py", "raise SystemExit(3)\n")
    sealed.commit("broken")
    answer = run_on(sealed)
    assert answer.row.signal is Signal.BUILD_ERROR
    assert answer.failure is not None
    assert "exit code 3" in answer.failure
    assert answer.steps_used == 0
    project = opened(sealed)
    assert project.state.build_failures(project.require_active()) == 1


@pytest.mark.parametrize(
    "program",
    {
        "missing ids": "print(*['id,prediction', 'e1,low'], sep='\\n', file=file)",
        "unknown classes": "print('id,prediction', *[f\"{r['id']},3\" for r in rows], sep='\\n', file=file)",
        "no columns": "print('hello', file=file)",
        "nothing": "pass",
    }.values(),
)
def test_malformed_predictions_spend_no_step_and_are_not_quoted(
    sealed: Workplace, program: str
) -> None:
    run_on(sealed)
    sealed.write(
        "test_model.py",
        "import json, os\n"
        "rows = [json.loads(line) for line in open(os.environ['EASECI_EXAMPLES'] + '/examples.jsonl')]\n"
        "with open(os.environ['EASECI_PREDICTIONS'], 'w') as file:\n"
        f"    {program}\n",
    )
    sealed.commit("malformed")
    answer = run_on(sealed)
    assert answer.row.signal is Signal.BUILD_ERROR
    assert answer.steps_used == 0
    assert "e1" not in (answer.failure or "")
