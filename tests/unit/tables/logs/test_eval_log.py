"""Two logs are compared only if they are of the same task."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.errors import DataError
from easeci.tables.logs import EvalLog, LogChoice, load_log, require_same_task
from tests.unit.tables.logs.making import (
    CHOICE,
    FIXTURES,
    SUMS,
    document,
    inspect_json,
    lm_eval_lines,
    promptfoo_json,
    result,
    sample,
)


def test_two_logs_of_the_same_task(tmp_path: Path) -> None:
    """Models, scores, epochs, orders and the number of examples may differ."""
    new = load_log(FIXTURES / "inspect.json")
    old = load_log(FIXTURES / "inspect-chunked.eval", scored=False)
    require_same_task(new, old)
    require_same_task(old, new)


def test_different_tasks_are_refused_by_name() -> None:
    """Even if their ids and documents are the same."""
    sums = load_log(SUMS, LogChoice(filter="strict"), scored=False)
    with pytest.raises(DataError, match=r"different tasks: .*'sums', .*'choice'"):
        require_same_task(sums, load_log(CHOICE))


def test_different_inputs_of_the_same_ids_are_refused(tmp_path: Path) -> None:
    """Different tasks share ids 1 to N. The error names some of them."""
    new = inspect_json(tmp_path / "new.json", *(sample(i) for i in range(9)))
    changed = [sample(i, input="other" if i > 3 else f"question {i}") for i in range(9)]
    old = inspect_json(tmp_path / "old.json", *changed)
    with pytest.raises(
        DataError, match="different inputs for the same ids: 5, at id 4, 5, 6 and 2"
    ):
        require_same_task(load_log(new), load_log(old))


def test_inputs_that_a_log_lacks_are_not_compared(tmp_path: Path) -> None:
    new = load_log(inspect_json(tmp_path / "new.json", sample(1, input=None)))
    assert new.rows["input"].to_list() == [None]
    require_same_task(new, load_log(inspect_json(tmp_path / "old.json", sample(1))))


def test_documents_are_compared_by_their_hash(tmp_path: Path) -> None:
    """Not by the prompt, which templates of models change."""
    new = lm_eval_lines(tmp_path / "new.jsonl", document(0, prompt_hash="a"))
    old = lm_eval_lines(tmp_path / "old.jsonl", document(0, prompt_hash="b"))
    require_same_task(load_log(new), load_log(old))
    lm_eval_lines(old, document(0, doc_hash="other"))
    with pytest.raises(DataError, match="different inputs"):
        require_same_task(load_log(new), load_log(old))


def test_tests_of_promptfoo_are_compared_by_vars(tmp_path: Path) -> None:
    """Neither the provider nor the prompt counts: both are what is compared."""
    new = load_log(promptfoo_json(tmp_path / "new.json", result("red")))
    same = result("red", provider={"id": "other"})
    require_same_task(new, load_log(promptfoo_json(tmp_path / "same.json", same)))
    other = result("red", prompt={"raw": "Spell red", "label": ""})
    require_same_task(new, load_log(promptfoo_json(tmp_path / "old.json", other)))
    more = result("red", vars={"word": "red", "style": "loud"})
    chosen = LogChoice(id_vars=("word",))
    with pytest.raises(DataError, match="different inputs for the same ids: 1, at id red"):
        require_same_task(new, load_log(promptfoo_json(tmp_path / "old.json", more), chosen))


def test_logs_of_different_tools_are_refused() -> None:
    with pytest.raises(DataError, match=r"log of lm-evaluation-harness, and .* log of Inspect"):
        require_same_task(load_log(CHOICE), load_log(FIXTURES / "inspect.json"))


def test_the_summary_counts_examples_and_trials(tmp_path: Path) -> None:
    log: EvalLog = load_log(inspect_json(tmp_path / "log.json", sample(1)), scored=False)
    assert log.summary == "Inspect log: task arithmetic, model stand-in, 1 example, 1 trial"
