"""Logs of lm-evaluation-harness: one filter, the metrics that are scores, and the likeliest answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from easeci.errors import DataError
from easeci.tables.logs import LogChoice, load_log
from tests.cases import each_case
from tests.unit.tables.logs.making import (
    CHOICE,
    FIXTURES,
    SUMS,
    document,
    lm_eval_lines,
    scores,
)

OLD = FIXTURES / "hand-written-lm-eval-old.jsonl"


def test_a_log_that_the_harness_wrote() -> None:
    """The task is in the file's name, and the model in the results beside it."""
    log = load_log(CHOICE)
    assert (log.format, log.task, log.model) == ("lm-evaluation-harness", "choice", "stand-in")
    assert (log.metric, log.notes) == ("acc", ())
    assert log.rows["id"].to_list() == ["0", "1", "2"]
    assert log.rows["trial"].to_list() == [1, 1, 1]
    assert log.rows["output"].to_list() == ["2", "5", "6"]
    assert scores(log, "acc") == [1, 0, 1]


def test_one_filter_is_taken() -> None:
    """Several repeat each document."""
    with pytest.raises(
        DataError, match=r"several filters.*: strict, last-number\n.*--filter strict"
    ):
        load_log(SUMS)
    with pytest.raises(DataError, match=r"no filter 'other'\nIt has strict, last-number"):
        load_log(SUMS, LogChoice(filter="other"))
    chosen = LogChoice(filter="last-number", metric="exact_match")
    log = load_log(SUMS, chosen)
    assert log.rows["output"].to_list() == ["2", "4", "6"]
    assert scores(log, "exact_match") == [1, 1, 1]
    assert "Only the filter 'last-number' was taken; left out: strict." in log.notes
    strict = load_log(SUMS, LogChoice(filter="strict", metric="exact_match"))
    assert strict.rows["output"][0] == "the sum is 2"
    assert scores(strict, "exact_match") == [0, 0, 0]


def test_bare_nan_scores_0_and_bare_infinity_is_not_a_score() -> None:
    log = load_log(SUMS, LogChoice(filter="strict", metric="odd"))
    assert log.metrics == ("exact_match", "odd")
    assert scores(log, "odd") == [0, 1, 1]
    assert any("1 sample without a value of 'odd'" in note for note in log.notes)


@each_case(
    "metric, why",
    [
        ("words", "has 3 values outside 0 to 1"),
        ("parts", "has lists as values"),
        ("wrong", "is better if it is lower"),
    ],
)
def test_metrics_that_are_not_scores_are_refused_by_name(metric: str, why: str) -> None:
    with pytest.raises(DataError, match=f"'{metric}' is not a score: it {why}"):
        load_log(SUMS, LogChoice(filter="strict", metric=metric))


def test_several_metrics_are_listed() -> None:
    with pytest.raises(
        DataError, match=r"several metrics: exact_match, odd\n.*--metric exact_match"
    ):
        load_log(SUMS, LogChoice(filter="strict"))
    with pytest.raises(DataError, match=r"no metric 'f1'\nIts scores are exact_match, odd"):
        load_log(SUMS, LogChoice(filter="strict", metric="f1"))


def test_old_files_name_neither_metrics_nor_filters() -> None:
    """Nor hashes: that of the document is computed as the harness does."""
    log = load_log(OLD)
    assert (log.task, log.model, log.metric) == (None, None, "acc")
    new = load_log(CHOICE)
    for column in ("output", "input"):
        assert log.rows[column].to_list() == new.rows[column].to_list()[:2]


def test_the_first_versions_wrote_a_list(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(json.dumps([json.loads(x) for x in OLD.read_text().splitlines()], indent=2))
    assert load_log(path).rows.equals(load_log(OLD).rows)


def test_old_files_with_several_filters_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(OLD.read_text() * 2)
    with pytest.raises(DataError, match="repeats documents and does not name their filters"):
        load_log(path)


@each_case(
    "responses, arguments, output",
    [
        (["text"], {}, "text"),
        ([["a", "b"]], {}, '["a", "b"]'),
        (["a", "b"], {}, '["a", "b"]'),
        ([["-2.0", "False"], ["-1.0", "True"]], {"gen_args_1": {"arg_1": " yes"}}, "yes"),
        ([[-1.0, False], [-2.0, False]], [["q", " no"], ["q", " yes"]], "no"),
        ([[-2.0, False], [-1.0, False]], None, "1"),
        ([[-2.0, False]], None, "[-2.0, false]"),
        ([], None, "[]"),
    ],
)
def test_outputs(tmp_path: Path, responses: Any, arguments: Any, output: str) -> None:
    """Of a choice the answer that the model finds most likely; of a text the text."""
    made = document(0, filtered_resps=responses, arguments=arguments)
    log = load_log(lm_eval_lines(tmp_path / "samples_a.jsonl", made))
    assert log.rows["output"].to_list() == [output]


def test_the_task_of_a_file_with_another_name_is_not_known(tmp_path: Path) -> None:
    log = load_log(lm_eval_lines(tmp_path / "mine.jsonl", document(0)))
    assert (log.task, log.model) == (None, None)
    dated = tmp_path / "samples_my_task_2026-01-02T03-04-05.678.jsonl"
    assert load_log(lm_eval_lines(dated, document(0))).task == "my_task"
    (tmp_path / "results_2026-01-02T03-04-05.678.json").write_text("damaged")
    assert load_log(dated).model is None


def test_a_metric_that_should_be_low_is_not_a_score(tmp_path: Path) -> None:
    """A greater score must be a better one. The results of the run tell which is not."""
    path = lm_eval_lines(tmp_path / "samples_a_2026-01-02T03-04-05.678.jsonl", document(0))
    results = {"model_name": "m", "higher_is_better": {"a": {"acc": False}, "b": {"acc": True}}}
    (tmp_path / "results_2026-01-02T03-04-05.678.json").write_text(json.dumps(results))
    with pytest.raises(DataError, match="'acc' is better if it is lower"):
        load_log(path)


@each_case(
    "documents, message",
    [
        ([document(0), document(0)], "occur more than once in the same trial: 0"),
        ([document(0, doc_id=None)], "line 1: there is no doc_id"),
        ([document(0), document(1, metrics=[])], "'acc' has no value for 1 of 2 samples"),
        ([document(0, metrics=[])], "has no scores"),
    ],
)
def test_documents_that_cannot_be_used(tmp_path: Path, documents: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_log(lm_eval_lines(tmp_path / "samples_a.jsonl", *documents))


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = lm_eval_lines(tmp_path / "samples_a.jsonl", document(0))
    path.write_text(path.read_text() + '\n{"doc_id": 1, "secret')
    with pytest.raises(DataError, match="line 3 is not valid JSON") as caught:
        load_log(path)
    assert "secret" not in str(caught.value)
